package model

import (
	"go/ast"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/gengo/v2/codetags"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// The rules of --lint-rules. They are those of pkg/apidefinitions/lint.go in
// code-generator, which apply to doc.go only.
const (
	lintKnownTagsOnly       = "known-tags-only"
	lintExplicitDisablement = "require-explicit-disablement"
)

// LintRules returns the names that --lint-rules accepts.
func LintRules() []string { return []string{lintKnownTagsOnly, lintExplicitDisablement} }

// generatorTags are the tags of packages that Kubernetes' generators know, all of them,
// not just those of this module.
var generatorTags = [...]string{
	"k8s:applyconfiguration-gen", "k8s:client-gen", "k8s:conversion-gen", "k8s:conversion-gen-external-types",
	"k8s:deepcopy-gen", "k8s:defaulter-gen", "k8s:defaulter-gen-input", "k8s:informer-gen", "k8s:lister-gen",
	"k8s:openapi-gen", "k8s:openapi-model-package", "k8s:prerelease-lifecycle-gen", "k8s:protobuf-gen",
	"k8s:register-gen", "k8s:validation-gen", "k8s:validation-gen-input", "k8s:validation-gen-nolint",
	"k8s:validation-gen-scheme-registry", "k8s:validation-gen-test-fixture",
	"k8s:validation-gen-test-targets",
}

// knownTags returns all tags that Kubernetes' generators know in doc.go.
func knownTags() []string {
	return slices.Concat(generatorTags[:], marker.ClientTags(), []string{"groupGoName"})
}

// linter checks the tags of doc.go by the rules of [Config.LintRules].
type linter struct{ *session }

// lint checks the tags of a package's doc.go. Problems are errors for the compatible
// binaries, too: people ask for the rules by a flag.
func (l *linter) lint(p *candidate) {
	if len(l.cfg.LintRules) == 0 {
		return
	}
	tags := l.docTags(p.src)
	for _, rule := range l.cfg.LintRules {
		switch rule {
		case lintKnownTagsOnly:
			l.knownTagsOnly(tags)
		case lintExplicitDisablement:
			l.explicitDisablement(p, tags)
		default:
			l.Errorf(p.pkg.Pos, "unknown lint rule %q%s", rule, marker.Suggest(rule, LintRules()))
		}
	}
}

// knownTagsOnly reports +k8s:...-gen tags that no generator knows.
func (l *linter) knownTagsOnly(tags []marker.Tag) {
	for _, tag := range tags {
		for name := range codetags.Extract("", []string{tag.Text}) {
			rest, ok := strings.CutPrefix(name, "k8s:")
			if !ok || !strings.Contains(rest, "-gen") {
				continue
			}
			base, _, _ := strings.Cut(rest, ":")
			if known := knownTags(); !slices.Contains(known, "k8s:"+base) {
				l.Errorf(tag.Pos, marker.UnknownTag, name, marker.Suggest(name, known))
			}
		}
	}
}

// versionFolder is upstream's pattern of the folder of a version. Unlike the one that
// package render shortens imports by, it allows any word before the last number.
var versionFolder = regexp.MustCompile(`^v\d+([a-z]+\d+)?$`)

// explicitDisablement requires that the package of a version enables or disables the
// generators that such packages usually need.
func (l *linter) explicitDisablement(p *candidate, tags []marker.Tag) {
	known := knownTags()
	has := map[string]bool{}
	api := false
	for _, tag := range tags {
		for name := range codetags.Extract("", []string{tag.Text}) {
			has[name] = true
			api = api || name == "groupName" || slices.Contains(known, name)
		}
	}
	// classifyPackage and expectedGenerators in pkg/apidefinitions/lint.go.
	if !api || !versionFolder.MatchString(path.Base(p.src.path)) {
		return
	}
	var expected []string
	switch {
	case hasVersionedTypes(p.src):
		expected = []string{"k8s:deepcopy-gen"}
	case has["k8s:defaulter-gen"] || has["k8s:defaulter-gen-input"] || has["k8s:validation-gen"] ||
		has["k8s:validation-gen-input"]:
		expected = []string{"k8s:conversion-gen", "k8s:defaulter-gen", "k8s:validation-gen"}
	}
	for _, name := range expected {
		if !has[name] {
			l.Errorf(p.pkg.Pos,
				"package %s neither enables nor disables a generator; write // +%s=false, or a value that "+
					"enables it, in doc.go",
				p.src.path, name)
		}
	}
}

// hasVersionedTypes reports whether a type of the package embeds TypeMeta with an inline
// json tag.
func hasVersionedTypes(s *source) bool {
	for _, decl := range s.types {
		st, ok := decl.spec.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, field := range st.Fields.List {
			if len(field.Names) > 0 || typeName(field.Type) != "TypeMeta" {
				continue
			}
			text, _ := strconv.Unquote(tagText(field))
			name, ok := reflect.StructTag(text).Lookup("json")
			if name, _, _ = strings.Cut(name, ","); ok && name == "" {
				return true
			}
		}
	}
	return false
}
