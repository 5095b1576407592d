package generators

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// HelpError returns an error if -h is followed by a file, otherwise nil. In code-generator up to
// v0.29, -h was short for --go-header-file. Now it prints help, and a script wouldn't notice that
// nothing is generated.
func HelpError(args []string) error {
	for i, arg := range args {
		if arg != "-h" || i+1 == len(args) {
			continue
		}
		file := args[i+1]
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() || strings.HasSuffix(file, ".txt") {
			return fmt.Errorf("-h is --help; for the text above each file write --go-header-file %s", file)
		}
	}
	return nil
}

// FlagError adds a suggestion to an error about an unknown flag, if it is another tool's flag
// for something that these flags can do, too, or if there is a flag of a similar name.
func FlagError(flags *pflag.FlagSet, err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) {
		return err
	}
	if long, _, _ := strings.Cut(missing.GetSpecifiedShortnames(), "="); flags.Lookup(long) != nil {
		return fmt.Errorf("%w; write --%s", err, long)
	}
	for _, f := range foreignFlags {
		if f.name == missing.GetSpecifiedName() && hasFlags(flags, f.advice) {
			return fmt.Errorf("%w; %s", err, f.advice)
		}
	}
	name := "--" + missing.GetSpecifiedName()
	var known, longer []string
	flags.VisitAll(func(f *pflag.Flag) {
		known = append(known, "--"+f.Name)
		if strings.HasPrefix("--"+f.Name, name+"-") {
			longer = append(longer, "--"+f.Name)
		}
	})
	if hint := marker.Suggest(name, known); hint != "" {
		return fmt.Errorf("%w%s", err, hint)
	}
	// The name may be an abbreviation, which pflag doesn't accept. More than three suggestions
	// wouldn't help.
	if len(longer) > 0 && len(longer) <= 3 {
		return fmt.Errorf("%w; did you mean %s?", err, strings.Join(longer, " or "))
	}
	return err
}

// hasFlags reports whether all flags that a text names exist.
func hasFlags(flags *pflag.FlagSet, text string) bool {
	return !slices.ContainsFunc(flagInText.FindAllStringSubmatch(text, -1),
		func(match []string) bool { return flags.Lookup(match[1]) == nil })
}

var flagInText = regexp.MustCompile(`--([a-z-]+)`)

const packagesAreArguments = "packages are arguments, without a flag: ./apis/..., or import paths"

// foreignFlags are flags of kube_codegen.sh, of controller-gen, of one of the compatible commands,
// and of code-generator up to v0.29, with advice for users who try them elsewhere. The first advice
// whose flags all exist applies.
var foreignFlags = []struct{ name, advice string }{
	// kube_codegen.sh
	{"boilerplate", "it is --go-header-file here"},
	{"versioned-name", "it is --clientset-name here"},
	{"listers-name", "it is --listers-dir here, with the whole path of the folder"},
	{"informers-name", "it is --informers-dir here, with the whole path of the folder"},
	{"applyconfig-name", "it is --applyconfig-dir here, with the whole path of the folder"},
	{"one-input-api", "name the packages of that API only: ./apis/NAME/..."},
	{"with-watch", "leave it out: types with the verb watch always get listers and informers"},
	{"extra-peer-dir", "leave it out: it is for conversions, which stay conversion-gen's"},
	// controller-gen, whose options have no dashes; people write them in several forms
	{"headerFile", "it is --go-header-file here"},
	{"header-file", "it is --go-header-file here"},
	{"paths", packagesAreArguments},
	// the compatible commands
	{"bounding-dirs", "leave it out: types of packages that aren't named are copied by their own functions"},
	{"output-file", "leave it out: the file that the package has is written, or zz_generated.deepcopy.go"},
	{"input", packagesAreArguments},
	{"input-base", packagesAreArguments},
	{"clientset-path", "it is --output-pkg here"},
	{"clientset-only", "only client-gen has it; kubewright generates typed clients, too"},
	{"versioned-clientset-package", "leave it out: it follows from the output folder"},
	{"listers-package", "leave it out: it follows from the output folder"},
	{"external-applyconfigurations", "it is --applyconfig-externals here"},
	{"openapi-schema", "it is --applyconfig-openapi-schema here"},
	// code-generator up to v0.29
	{"input-dirs", "group versions are in --input now, below --input-base"},
	{"input-dirs", packagesAreArguments},
	{"i", "group versions are in --input now, below --input-base"},
	{"i", packagesAreArguments},
	{"output-package", "it is --output-pkg now"},
	{"p", "it is --output-pkg now"},
	{"output-base", "it is --output-dir now, with the whole path of the folder"},
	{"o", "it is --output-dir now, with the whole path of the folder"},
	{"trim-path-prefix", "leave it out: --output-dir is the whole path"},
	{"output-file-base", "leave it out: the names of files follow from those of types"},
	{"O", "leave it out: the names of files follow from those of types"},
	{"build-tag", "leave it out: generated files have no build tag, or a fixed one"},
	{"verify-only", "kubewright check compares and writes nothing"},
}
