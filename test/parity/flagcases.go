package main

import (
	"iter"
	"maps"
	"strings"
)

func keys(flags flagSet) iter.Seq[string] { return maps.Keys(flags) }

// apis is the path of the packages in testdata/flags.txtar.
const apis = "example.com/flags/apis"

// baseArgs returns the flags that a tool needs beside those for the output, and its positional arguments.
func baseArgs(tool string) (flags, inputs []string) {
	switch tool {
	case "client-gen":
		return []string{"--clientset-name", "versioned", "--input-base", apis, "--input", "bakery/v1"}, nil
	case "informer-gen":
		flags = []string{"--versioned-clientset-package", "example.com/out/versioned", "--listers-package",
			"example.com/out/listers"}
	}
	return flags, []string{apis + "/bakery/v1"}
}

// flagCases covers all flags except those of the logging library.
var flagCases = []flagCase{
	{tool: "client-gen", flag: "output-dir", args: words("--output-dir OUT/elsewhere"),
		want: []string{"elsewhere/versioned/clientset.go", "no versioned/clientset.go"}},
	{tool: "client-gen", flag: "output-dir", args: words("--output-dir=")},
	{tool: "client-gen", flag: "output-pkg", args: words("--output-pkg example.com/moved"),
		want: []string{`versioned/clientset.go: "example.com/moved/versioned/typed/bakery/v1"`}},
	{tool: "client-gen", flag: "output-pkg", args: words("--clientset-path example.com/moved"),
		want: []string{`versioned/clientset.go: "example.com/moved/versioned/typed/bakery/v1"`}},
	{tool: "client-gen", flag: "output-pkg", args: words("--output-pkg=")},
	{tool: "client-gen", flag: "go-header-file", args: words("--go-header-file header.txt"),
		want: []string{header("versioned/clientset.go"),
			header("versioned/typed/bakery/v1/fake/fake_cake.go")}},
	{tool: "client-gen", flag: "go-header-file", args: words("--go-header-file none.txt")},
	{tool: "client-gen", flag: "input", args: words("--input pantry/v1"),
		want: []string{"versioned/typed/pantry/v1/jar.go", "versioned/typed/bakery/v1/cake.go"}},
	{tool: "client-gen", flag: "input", args: words("--input pantry/v1,deep/cellar/v1"),
		want: []string{"versioned/typed/pantry/v1/jar.go", "versioned/typed/cellar/v1/barrel.go"}},
	{tool: "client-gen", flag: "input", args: words("--input hub/"),
		want: []string{"versioned/typed/hub/internalversion/oven.go"}},
	{tool: "client-gen", flag: "input", args: words("--input deep/cellar/v1"),
		want: []string{"versioned/typed/cellar/v1/barrel.go"}},
	{tool: "client-gen", flag: "input", args: words("--input nothing/v1")},
	{tool: "client-gen", flag: "input-base", args: words("--input-base example.com/flags/none")},
	{tool: "client-gen", flag: "input-base", args: words("--input-base example.com/flags/others"),
		want: []string{"versioned/typed/bakery/v1/roll.go", "no versioned/typed/bakery/v1/cake.go"}},
	{tool: "client-gen", flag: "included-types-overrides",
		args: words("--included-types-overrides bakery.example.com/v1/Cake"),
		want: []string{"versioned/typed/bakery/v1/cake.go", "no versioned/typed/bakery/v1/bread.go"}},
	{tool: "client-gen", flag: "included-types-overrides", args: words("--included-types-overrides a/b/c/d")},
	{tool: "client-gen", flag: "clientset-name", args: words("--clientset-name other"),
		want: []string{"other/clientset.go: ^package other$", "no versioned/clientset.go"}},
	{tool: "client-gen", flag: "clientset-name", args: words("-n other"),
		want: []string{"other/clientset.go: ^package other$"}},
	{tool: "client-gen", flag: "clientset-name", args: words("--clientset-name=")},
	{tool: "client-gen", flag: "clientset-api-path", args: words("--clientset-api-path /custom"),
		want: []string{`versioned/typed/bakery/v1/bakery_client.go: "/custom"`}},
	{tool: "client-gen", flag: "clientset-api-path", args: words("--clientset-api-path=")},
	{tool: "client-gen", flag: "clientset-only", args: words("--clientset-only"),
		want: []string{"versioned/clientset.go", "no versioned/typed/bakery/v1/cake.go"}},
	{tool: "client-gen", flag: "fake-clientset", args: words("--fake-clientset=false"),
		want: []string{"versioned/clientset.go", "no versioned/fake/clientset_generated.go",
			"no versioned/typed/bakery/v1/fake/fake_cake.go"}},
	{tool: "client-gen", flag: "plural-exceptions", args: words("--plural-exceptions Bread:Bread"),
		want: []string{`versioned/typed/bakery/v1/bread.go: "bread"`,
			"versioned/typed/bakery/v1/bread.go: type BreadGetter interface"}},
	{tool: "client-gen", flag: "plural-exceptions", args: words("--plural-exceptions Bread")},
	{tool: "client-gen", flag: "apply-configuration-package",
		args: words("--apply-configuration-package example.com/apply"),
		want: []string{`versioned/typed/bakery/v1/cake.go: "example.com/apply/bakery/v1"`,
			`versioned/typed/bakery/v1/cake.go: Apply\(\s*ctx `,
			`versioned/typed/bakery/v1/fake/fake_cake.go: "example.com/apply/bakery/v1"`}},
	{tool: "client-gen", flag: "prefers-protobuf", args: words("--prefers-protobuf"),
		want: []string{`versioned/typed/bakery/v1/cake.go: PrefersProtobuf`}},
	{tool: "client-gen", flag: "lint-rules", with: words("--input pantry/v1"),
		args: words("--lint-rules known-tags-only")},
	{tool: "client-gen", flag: "lint-rules", with: words("--input pantry/v1"),
		args: words("--lint-rules require-explicit-disablement")},
	{tool: "client-gen", flag: "lint-rules", args: words("--lint-rules none")},

	{tool: "lister-gen", flag: "output-dir", args: words("--output-dir OUT/elsewhere"),
		want: []string{"elsewhere/bakery/v1/cake.go", "no bakery/v1/cake.go"}},
	{tool: "lister-gen", flag: "output-dir", args: words("--output-dir=")},
	// Listers don't import other packages of their module, so the path doesn't appear.
	{tool: "lister-gen", flag: "output-pkg", args: words("--output-pkg=")},
	{tool: "lister-gen", flag: "go-header-file", args: words("--go-header-file header.txt"),
		want: []string{header("bakery/v1/cake.go")}},
	{tool: "lister-gen", flag: "go-header-file", args: words("--go-header-file none.txt")},
	{tool: "lister-gen", flag: "plural-exceptions", args: words("--plural-exceptions Bread:Loaves"),
		want: []string{`bakery/v1/bread.go: Loaves\(namespace string\) BreadNamespaceLister`}},
	{tool: "lister-gen", flag: "plural-exceptions", args: words("--plural-exceptions Bread")},
	{tool: "lister-gen", flag: "lint-rules", with: words(apis + "/pantry/v1"),
		args: words("--lint-rules known-tags-only")},
	{tool: "lister-gen", flag: "lint-rules", with: words(apis + "/pantry/v1"),
		args: words("--lint-rules require-explicit-disablement")},
	{tool: "lister-gen", flag: "lint-rules", args: words("--lint-rules none")},

	{tool: "informer-gen", flag: "output-dir", args: words("--output-dir OUT/elsewhere"),
		want: []string{"elsewhere/externalversions/factory.go", "no externalversions/factory.go"}},
	{tool: "informer-gen", flag: "output-dir", args: words("--output-dir=")},
	{tool: "informer-gen", flag: "output-pkg", args: words("--output-pkg example.com/moved"),
		want: []string{
			`externalversions/factory.go: "example.com/moved/externalversions/internalinterfaces"`}},
	{tool: "informer-gen", flag: "output-pkg", args: words("--output-pkg=")},
	{tool: "informer-gen", flag: "go-header-file", args: words("--go-header-file header.txt"),
		want: []string{header("externalversions/factory.go"), header("externalversions/bakery/v1/cake.go")}},
	{tool: "informer-gen", flag: "go-header-file", args: words("--go-header-file none.txt")},
	{tool: "informer-gen", flag: "versioned-clientset-package",
		args: words("--versioned-clientset-package example.com/clients"),
		want: []string{`externalversions/factory.go: "example.com/clients"`,
			`externalversions/bakery/v1/cake.go: "example.com/clients"`}},
	{tool: "informer-gen", flag: "versioned-clientset-package",
		args: words("--versioned-clientset-package=")},
	{tool: "informer-gen", flag: "internal-clientset-package",
		with: words(apis + "/hub --internal-clientset-package example.com/others"),
		args: words("--internal-clientset-package example.com/internals"),
		want: []string{`internalversion/factory.go: "example.com/internals"`}},
	{tool: "informer-gen", flag: "listers-package", args: words("--listers-package example.com/lists"),
		want: []string{`externalversions/bakery/v1/cake.go: "example.com/lists/bakery/v1"`}},
	{tool: "informer-gen", flag: "listers-package", args: words("--listers-package=")},
	{tool: "informer-gen", flag: "single-directory", args: words("--single-directory"),
		want: []string{"factory.go", "bakery/v1/cake.go", "no externalversions/factory.go"}},
	{tool: "informer-gen", flag: "plural-exceptions", args: words("--plural-exceptions Bread:Loaves"),
		want: []string{`externalversions/generic.go: WithResource\("loaves"\)`,
			`externalversions/bakery/v1/interface.go: Loaves\(\) TypedBreadInformer`}},
	{tool: "informer-gen", flag: "plural-exceptions", args: words("--plural-exceptions Bread")},
	{tool: "informer-gen", flag: "lint-rules", with: words(apis + "/pantry/v1"),
		args: words("--lint-rules known-tags-only")},
	{tool: "informer-gen", flag: "lint-rules", with: words(apis + "/pantry/v1"),
		args: words("--lint-rules require-explicit-disablement")},
	{tool: "informer-gen", flag: "lint-rules", args: words("--lint-rules none")},

	{tool: "applyconfiguration-gen", flag: "output-dir", args: words("--output-dir OUT/elsewhere"),
		want: []string{"elsewhere/bakery/v1/cake.go", "no bakery/v1/cake.go"}},
	{tool: "applyconfiguration-gen", flag: "output-dir", args: words("--output-dir=")},
	{tool: "applyconfiguration-gen", flag: "output-pkg", args: words("--output-pkg example.com/moved"),
		want: []string{`utils.go: "example.com/moved/bakery/v1"`}},
	{tool: "applyconfiguration-gen", flag: "output-pkg", args: words("--output-pkg=")},
	{tool: "applyconfiguration-gen", flag: "go-header-file", args: words("--go-header-file header.txt"),
		want: []string{header("utils.go"), header("bakery/v1/cake.go")}},
	{tool: "applyconfiguration-gen", flag: "go-header-file", args: words("--go-header-file none.txt")},
	{tool: "applyconfiguration-gen", flag: "external-applyconfigurations",
		args: words("--external-applyconfigurations " + apis + "/shared.Spec:example.com/applied"),
		want: []string{`bakery/v1/cake.go: "example.com/applied"`,
			`bakery/v1/cake.go: WithSpec\(\s*value \*\w+\.SpecApplyConfiguration,?\s*\)`}},
	{tool: "applyconfiguration-gen", flag: "external-applyconfigurations",
		args: words("--external-applyconfigurations nonsense")},
	{tool: "applyconfiguration-gen", flag: "openapi-schema", args: words("--openapi-schema openapi.json"),
		want: []string{`internal/internal.go: name: fromDocument\b`,
			`bakery/v1/cake.go: ^func ExtractCake\(`}},
	{tool: "applyconfiguration-gen", flag: "openapi-schema", args: words("--openapi-schema none.json")},
	{tool: "applyconfiguration-gen", flag: "lint-rules", with: words(apis + "/pantry/v1"),
		args: words("--lint-rules known-tags-only")},
	{tool: "applyconfiguration-gen", flag: "lint-rules", with: words(apis + "/pantry/v1"),
		args: words("--lint-rules require-explicit-disablement")},
	{tool: "applyconfiguration-gen", flag: "lint-rules", args: words("--lint-rules none")},
}

// words splits arguments at spaces.
func words(s string) []string { return strings.Fields(s) }

// header returns the condition that a file begins with the text of header.txt.
func header(file string) string { return file + `: \A// The header of 20\d\d\.$` }

// isLogging reports whether a flag is one of klog's: they have underscores, or are single words that no
// generator's flag has.
func isLogging(flag string) bool {
	switch flag {
	case "alsologtostderr", "alsologtostderrthreshold", "logtostderr", "stderrthreshold", "v", "vmodule":
		return true
	}
	return strings.Contains(flag, "_")
}

// loggingValues are values for flags of the logging library whose help shows no default.
var loggingValues = map[string]string{
	"add_dir_header": "true", "alsologtostderr": "true", "alsologtostderrthreshold": "ERROR",
	"legacy_stderr_threshold_behavior": "true", "log_backtrace_at": "client.go:10", "log_dir": "OUT",
	"log_file": "OUT/log", "one_output": "true", "skip_headers": "true", "skip_log_headers": "true",
	"stderrthreshold": "ERROR", "v": "4", "vmodule": "client=4",
}
