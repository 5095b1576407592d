package generators

import (
	"fmt"
	"maps"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/model"
)

// Config is the configuration of a run: its input and its output. A generator runs if its
// options are not nil.
type Config struct {
	// Inputs are the API packages.
	Inputs []Input
	// PluralExceptions are Type:Plural pairs for names whose plural gengo's rules of
	// English get wrong.
	PluralExceptions []string
	// IncludedTypes replaces +genclient in a group version: it maps "group/version"
	// to the names of the types that get a client.
	IncludedTypes map[string][]string
	// LintRules are the rules of --lint-rules.
	LintRules []string
	// Strict makes input that code-generator accepts, but that has no meaning, an
	// error rather than a warning, refuses to overwrite hand-written files, and
	// records in each file what it was made from.
	Strict bool
	// HeaderFile is a file with the text for the top of each generated file, "" for
	// none. The word YEAR in it becomes the current year.
	HeaderFile string
	// Prune removes stale files even if the API packages that they were made from exist and
	// are not among Inputs, or if they don't say what they were made from. Without it the
	// former are an error if Strict is true, and the latter stay, with a warning.
	Prune bool
	// Progress, if not nil, is called when a stage starts.
	Progress func(stage string)

	// orphans are folders that a run with other flags writes to. If they have output,
	// a warning says so.
	orphans []orphan
	// goGenerate is true in a run by go generate.
	goGenerate bool

	Client    *ClientOptions
	Lister    *ListerOptions
	Informer  *InformerOptions
	Apply     *ApplyOptions
	DeepCopy  *DeepCopyOptions
	Register  *RegisterOptions
	Defaulter *DefaulterOptions
	// Definitions are the options of CustomResourceDefinitions.
	Definitions *DefinitionOptions
}

// Input is a package pattern; see [model.Input].
type Input = model.Input

// ClientOptions are the options of client-gen.
type ClientOptions struct {
	// Dir and Package are the folder and the import path of the clientset.
	Dir, Package string
	// APIPath is the root path of requests, except those of the core group.
	APIPath string
	// ClientsetOnly leaves out the typed clients.
	ClientsetOnly bool
	// Fake adds a fake clientset.
	Fake bool
	// ApplyConfigurationPackage is the import path of the apply configurations.
	// Without it there are no Apply methods.
	ApplyConfigurationPackage string
	// PrefersProtobuf makes protobuf the default encoding of requests.
	PrefersProtobuf bool
	// Lean leaves out Discovery and the Apply methods, for small programs: those two
	// alone link all API types of Kubernetes and the code for managed fields. The
	// clientset's Interface then lacks methods that upstream's has.
	Lean bool
}

// ListerOptions are the options of lister-gen.
type ListerOptions struct {
	// Dir and Package are the folder and the import path of the listers.
	Dir, Package string
	// ReadOnlyViews adds listers of read-only views.
	ReadOnlyViews bool
}

// InformerOptions are the options of informer-gen.
type InformerOptions struct {
	// Dir and Package are the folder and the import path of the informers.
	Dir, Package string
	// SingleDirectory leaves out the folders externalversions and internalversion.
	SingleDirectory bool
	// VersionedClientset and InternalClientset are the import paths of the clientsets
	// for types with and without json tags. Listers is that of the listers.
	VersionedClientset, InternalClientset, Listers string
	// Metadata adds informers and listers that keep only metadata.
	Metadata bool
}

// ApplyOptions are the options of applyconfiguration-gen.
type ApplyOptions struct {
	// Dir and Package are the folder and the import path of the apply configurations.
	Dir, Package string
	// Externals maps types to the packages with their existing apply configurations.
	// Those of meta/v1 in client-go are always among them.
	Externals map[model.TypeName]string
	// OpenAPISchema is a file with an OpenAPI v2 document. Without one the schema is
	// derived from the Go types.
	OpenAPISchema string
}

// DeepCopyOptions are the options of deepcopy-gen.
type DeepCopyOptions struct {
	// File is the name of the file in each package. With Config.Strict, a file that the
	// package has already keeps its name.
	File string
	// ReplaceControllerGen also generates the functions where controller-gen has generated
	// them, and replaces its file.
	ReplaceControllerGen bool
}

// RegisterOptions are the options of register-gen.
type RegisterOptions struct {
	// File is that of DeepCopyOptions.
	File string
}

// DefaulterOptions are the options of defaulter-gen.
type DefaulterOptions struct {
	// File is that of DeepCopyOptions.
	File string
	// Peers are patterns of further packages with functions that set defaults.
	Peers []string
	// BuildTag is the tag in the build constraint that hides generated files from the
	// generators, nil for ignore_autogenerated.
	BuildTag *string
}

// DefinitionOptions are the options of CustomResourceDefinitions, which are made of all types that embed
// TypeMeta and ObjectMeta.
type DefinitionOptions struct {
	// Dir is the folder of their files, HeaderFile a file with comments of YAML for their top, "" for none. The
	// word YEAR in it becomes the current year.
	Dir, HeaderFile string
	// MaxDescription is the length of the longest description in bytes, less than zero for no limit.
	MaxDescription int
	// EmbeddedMetadata gives the metadata of embedded objects a schema.
	EmbeddedMetadata bool
	// AllowFloats allows fields of the types float32 and float64.
	AllowFloats bool
}

// buildTag is the tag in the constraint of files in API packages.
func (c *Config) buildTag() string {
	if c.Defaulter != nil && c.Defaulter.BuildTag != nil {
		return *c.Defaulter.BuildTag
	}
	return defaultBuildTag
}

// allExternals are Externals and those of meta/v1.
func (o *ApplyOptions) allExternals() map[model.TypeName]string {
	externals := defaultExternals()
	maps.Copy(externals, o.Externals)
	return externals
}

// model is the configuration for loading.
func (c *Config) model() (model.Config, error) {
	// The last pair for a type wins, as in PluralExceptionListToMapOrDie of
	// code-generator's pkg/util.
	plurals := make(map[string]string, len(c.PluralExceptions))
	for _, exception := range c.PluralExceptions {
		name, plural, ok := strings.Cut(exception, ":")
		if !ok || strings.Contains(plural, ":") {
			return model.Config{}, fmt.Errorf(
				"--plural-exceptions: %q is not of the form Type:PluralizedType", exception)
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
	if c.DeepCopy != nil {
		m.Generators |= model.DeepCopies
		m.CopiesFile, m.ReplaceControllerGen = c.DeepCopy.File, c.DeepCopy.ReplaceControllerGen
	}
	if c.Register != nil {
		m.Generators |= model.Registrations
		m.RegistersFile = c.Register.File
	}
	if c.Defaulter != nil {
		m.Generators |= model.Defaults
		m.DefaultsFile, m.Peers = c.Defaulter.File, c.Defaulter.Peers
		m.BuildTag = c.Defaulter.BuildTag
	}
	if c.Definitions != nil {
		m.Generators |= model.Definitions
	}
	if c.Apply != nil {
		m.Generators |= model.ApplyConfigurations
		m.AppliedElsewhere = c.Apply.allExternals()
	}
	return m, nil
}
