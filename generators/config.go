package generators

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/model"
)

// Config says what to read and what to make of it. A generator runs if its
// options are not nil.
type Config struct {
	// Inputs name the API packages.
	Inputs []Input
	// PluralExceptions are Type:Plural pairs for what the rules of English, as
	// gengo knows them, get wrong.
	PluralExceptions []string
	// IncludedTypes limits the types of a group version, by "group/version";
	// it stands in for +genclient there.
	IncludedTypes map[string][]string
	// LintRules are names of upstream's rules for tags.
	LintRules []string
	// Strict makes an error of what upstream's generators accept although it
	// can't mean anything.
	Strict bool
	// HeaderFile holds text for the top of each file, "" for none. The word
	// YEAR in it becomes the current year.
	HeaderFile string
	// Progress, if not nil, is called as each stage begins.
	Progress func(stage string)

	// others are folders of this layout that the run leaves alone; a warning
	// tells what stands in one.
	others []otherTree

	Client   *ClientOptions
	Lister   *ListerOptions
	Informer *InformerOptions
	Apply    *ApplyOptions
}

// Input is a package pattern; see [model.Input].
type Input = model.Input

// ClientOptions are what client-gen can be told.
type ClientOptions struct {
	// Dir and Package are the folder and the import path of the clientset.
	Dir, Package string
	// APIPath is the root path of requests, but for the core group's.
	APIPath string
	// ClientsetOnly leaves out the typed clients.
	ClientsetOnly bool
	// Fake makes fakes, too.
	Fake bool
	// ApplyConfigurationPackage is the import path of apply configurations.
	// Without it there are no Apply methods.
	ApplyConfigurationPackage string
	// PrefersProtobuf makes requests in protobuf the default.
	PrefersProtobuf bool
	// Lean leaves out Discovery and the Apply methods, for programs that are to
	// be small: those two alone link all of Kubernetes' own API types and the
	// machinery of managed fields. Interface is not upstream's then.
	Lean bool
}

// ListerOptions are what lister-gen can be told.
type ListerOptions struct {
	// Dir and Package are the folder and the import path of the listers.
	Dir, Package string
	// ReadOnlyViews makes, beside the others, listers of read-only views.
	ReadOnlyViews bool
}

// InformerOptions are what informer-gen can be told.
type InformerOptions struct {
	// Dir and Package are the folder and the import path of the informers.
	Dir, Package string
	// SingleDirectory leaves out the folders externalversions and
	// internalversion.
	SingleDirectory bool
	// VersionedClientset and InternalClientset are the import paths of the
	// clientsets, for types with json tags and without; Listers is that of
	// the listers.
	VersionedClientset, InternalClientset, Listers string
	// Metadata makes, beside the others, informers and listers of metadata only.
	Metadata bool
}

// ApplyOptions are what applyconfiguration-gen can be told.
type ApplyOptions struct {
	// Dir and Package are the folder and the import path of the apply
	// configurations.
	Dir, Package string
	// Externals are the packages with the apply configurations of types that
	// are not in the input, beside those of meta/v1 in client-go.
	Externals map[model.TypeName]string
	// OpenAPISchema is a file with an OpenAPI v2 document. Without one the
	// schema of the types is derived from Go.
	OpenAPISchema string
}

// externals are all of them, those of meta/v1 included.
func (o *ApplyOptions) externals() map[model.TypeName]string {
	externals := defaultExternals()
	maps.Copy(externals, o.Externals)
	return externals
}

// model is the part of the configuration that loading needs.
func (c Config) model() (model.Config, error) {
	plurals := make(map[string]string, len(c.PluralExceptions))
	for _, exception := range c.PluralExceptions {
		name, plural, ok := strings.Cut(exception, ":")
		if !ok || strings.Contains(plural, ":") {
			return model.Config{}, fmt.Errorf("--plural-exceptions: %q is not of the form Type:PluralizedType", exception)
		}
		plurals[name] = plural
	}
	m := model.Config{
		Inputs:           c.Inputs,
		PluralExceptions: plurals,
		IncludedTypes:    c.IncludedTypes,
		LintRules:        c.LintRules,
		Strict:           c.Strict,
	}
	if c.Client != nil {
		m.Generators |= model.Clients
	}
	if c.Lister != nil {
		m.Generators |= model.Listers
		if c.Lister.ReadOnlyViews {
			m.Generators |= model.Views
		}
	}
	if c.Informer != nil {
		m.Generators |= model.Informers
	}
	if c.Apply != nil {
		m.Generators |= model.ApplyConfigurations
		m.AppliedElsewhere = slices.Collect(maps.Keys(c.Apply.externals()))
	}
	return m, nil
}
