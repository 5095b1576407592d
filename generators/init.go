package generators

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/kubewright/kubewright/generators/internal/crd"
	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/output"
)

// Init is the configuration of kubewright init, which begins an API of one kind, or adds a kind or a version
// to one. The zero value is ready for AddFlags.
type Init struct {
	group, version, kind, resource string
	namespaced                     bool
	apis, crds                     string
	flags                          *pflag.FlagSet
}

// AddFlags adds the flags of kubewright init.
func (i *Init) AddFlags(fs *pflag.FlagSet) {
	i.flags = fs
	fs.StringVar(&i.kind, "kind", "",
		"the kind (default of the first API: the end of the module's path, as a Go name)")
	fs.StringVar(&i.group, "group", "",
		"the API group (default: that of the APIs that exist, if it is one or one has the kind; else the module's"+
			" path from its end to its domain, such as shop.example.com)")
	fs.StringVar(&i.version, "version", "v1", "the version of the group")
	fs.StringVar(&i.resource, "resource", "", "the kind in paths of requests (default: its plural)")
	fs.BoolVar(&i.namespaced, "namespaced", true, "whether objects are in namespaces")
	fs.StringVar(&i.apis, "apis-dir", "apis", "the folder for types, which has a folder for each group")
	fs.StringVar(&i.crds, "crds-dir", "crds",
		"the folder for CustomResourceDefinitions, which go generate writes")
}

// Begun is the output of kubewright init.
type Begun struct {
	*Changes
	// Kind is the kind, Types the file with its types. Definition is the file to which go generate writes the
	// CustomResourceDefinition, "" if it writes none.
	Kind, Types, Definition string
	// CopiedFrom is the version that the kind's types were copied from, "" for types of a new kind. HasMethods
	// is true if what was copied has a +genclient:method.
	CopiedFrom string
	HasMethods bool
	// Advice is what to do by hand, a line each. Registers is true if the package registers its types itself.
	Advice    []string
	Registers bool
	// DefaultGroup is the group if no flag names it, else "". DefaultFrom says where it is from.
	DefaultGroup, DefaultFrom string
	// Generate is the argument of go generate: the packages of the folder that has its line, or the root alone
	// if that has it, so that the go command doesn't list the generated packages.
	Generate string
	// HasTool is true if go.mod has the tool kubewright, which go generate runs.
	HasTool bool
}

// Plan makes the files in memory. It writes nothing; Changes.Apply does. No file is replaced.
func (i *Init) Plan(ctx context.Context) (*Begun, error) {
	if i.apis == "" || i.crds == "" {
		return nil, errors.New("--apis-dir or --crds-dir is empty; leave the flag out for the default")
	}
	module, err := model.FindModule(ctx, i.apis)
	if errors.Is(err, model.ErrNoModule) {
		return nil, fmt.Errorf("%w; run go mod init before kubewright init", model.ErrNoModule)
	} else if err != nil {
		return nil, err
	}
	if err := i.refuseNested(module.Dir); err != nil {
		return nil, err
	}
	resource, begun := i.resource, &Begun{}
	if err := i.setDefaults(module.Path, begun); err != nil {
		return nil, err
	}
	defs, problems := i.definition()
	if problems.Fatal() {
		return nil, flagProblems(problems)
	}
	folders, problems, err := newGroupFolders(i.apis, defs)
	if err != nil || problems.Fatal() {
		return nil, errors.Join(err, flagProblems(problems))
	}
	dir := folders.folder(i.group, i.version)
	source, err := findKind(dir, i.group, i.kind)
	if err != nil {
		return nil, err
	}
	begun.Kind = i.kind
	if source != nil {
		begun.CopiedFrom = source.version
		if err := i.follow(source, resource); err != nil {
			return nil, err
		}
	}
	contents, err := i.goFiles(begun, folders, defs, source)
	if err != nil {
		return nil, err
	}
	line, err := i.findGenerate(contents, module.Dir)
	if err != nil {
		return nil, err
	}
	if err := refuseExisting(contents); err != nil {
		return nil, err
	}
	if begun.Generate = line.argument; line.crds != "" {
		begun.Definition = filepath.Join(line.crds, i.group+"_"+i.resource+".yaml")
	} else if err := i.adviseDefinition(begun, line.dir); err != nil {
		return nil, err
	}
	goMod, err := output.Read(filepath.Join(module.Dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	begun.HasTool = strings.Contains(goMod, "github.com/kubewright/kubewright/cmd/kubewright")
	begun.Changes, err = output.Set{Files: contents}.Compare()
	return begun, err
}

// refuseNested returns an error if the folder for types would be inside that of an API.
func (i *Init) refuseNested(root string) error {
	apis, err := filepath.Abs(i.apis)
	if err != nil {
		return err
	}
	below := func(dir string) bool { return len(dir) > len(root) && strings.HasPrefix(dir, root) }
	for dir := filepath.Dir(apis); below(dir); dir = filepath.Dir(dir) {
		group, err := groupIn(dir)
		if err == nil && group == "" {
			group, err = groupOf(dir)
		}
		if err != nil {
			return err
		}
		if group != "" || filepath.Base(dir) == filepath.Base(apis) {
			return fmt.Errorf("%s has APIs, and %s in it would be a second folder for them; run init in %s",
				dir, i.apis, root)
		}
	}
	return nil
}

// setDefaults derives the values that no flag sets from the APIs that exist, and from the path of the module.
func (i *Init) setDefaults(module string, begun *Begun) error {
	elements := strings.Split(module, "/")
	if n := len(elements) - 1; n > 0 && majorVersion.MatchString(elements[n]) {
		elements = elements[:n]
	}
	domain, names := elements[0], elements[1:]
	if i.kind == "" {
		for _, name := range output.Folders(i.apis) {
			if group, err := groupOf(filepath.Join(i.apis, name)); err != nil {
				return err
			} else if group != "" {
				return errors.New("--kind is missing; its default, from the module's path, is for the first API " +
					"only; give it, such as --kind Bakery")
			}
		}
	}
	if i.kind == "" && len(names) > 0 {
		i.kind = kindOf(names[len(names)-1])
	}
	if i.kind == "" {
		return fmt.Errorf("--kind is missing, and the module path %q has no end that names one; give it, such as"+
			" --kind Bakery", module)
	}
	if crd.Registers(i.kind) {
		return fmt.Errorf("--kind: a type %s collides with what registers the types of a package", i.kind)
	}
	if i.group == "" {
		if err := i.joinGroup(begun); err != nil {
			return err
		}
	}
	if i.group == "" && !strings.Contains(domain, ".") {
		return fmt.Errorf("--group is missing, and the module path %q has no domain for its default; give it, such"+
			" as --group shop.example.com", module)
	}
	if i.group == "" {
		labels := []string{strings.ToLower(domain)}
		for _, name := range names {
			label := strings.Trim(notInLabels.ReplaceAllString(strings.ToLower(name), "-"), "-")
			labels = slices.Insert(labels, 0, label)
		}
		i.group = strings.Join(labels, ".")
		begun.DefaultGroup, begun.DefaultFrom = i.group, "after the module's path"
	}
	if i.resource == "" {
		i.resource = model.Resource(i.kind)
	}
	return nil
}

var (
	majorVersion = regexp.MustCompile(`^v[0-9]+$`)
	notInLabels  = regexp.MustCompile(`[^a-z0-9]+`)
)

// kindOf returns the name of a kind for an element of an import path.
func kindOf(element string) string {
	var kind strings.Builder
	for word := range strings.FieldsFuncSeq(element,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		kind.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return kind.String()
}

// flagOf has the flags for the parts of a definition.
var flagOf = map[string]string{"spec.group": "--group", "spec.names.kind": "--kind",
	"spec.names.plural": "--resource", "spec.versions[0].name": "--version"}

// flagProblems returns problems of the definition as errors about the flags that it was made from.
func flagProblems(problems Problems) error {
	var errs []error
	for _, p := range problems {
		path, message, _ := strings.Cut(p.Message, ": ")
		if flag, ok := flagOf[path]; ok {
			message, _ = strings.CutSuffix(flag+": "+message, "; write its types by hand")
		} else {
			message = p.Message
		}
		if !p.Warning {
			errs = append(errs, errors.New(message))
		}
	}
	return errors.Join(errs...)
}

// begunTypes returns the types of a new kind: those of its definition with a spec and a status that the user
// fills in.
func begunTypes(defs []*crd.Definition) *crd.Types {
	all, _ := crd.Options{}.Types(defs) // without a problem, as the definition has none
	t := all[0]
	t.Doc = append([]string{t.Kind + " is a kind of " + t.Group + "/" + t.Name + ".", ""}, t.Doc...)
	t.ListDoc = []string{t.Kind + "List is a list of " + t.Plural + ".", ""}
	spec, status := t.Kind+"Spec", t.Kind+"Status"
	t.Fields = []crd.Field{
		{Name: "Spec", Type: spec, Tag: "`json:\"spec\"`"},
		{Name: "Status", Type: status, Tag: "`json:\"status,omitempty\"`"},
	}
	t.Decls = []crd.Decl{
		{Name: spec, Doc: []string{spec + " is the desired state."}, Fields: []crd.Field{{
			Doc: []string{"Replicas is an example of a field with a limit; replace it.", "", "+optional",
				"+kubebuilder:validation:Minimum=0"},
			Name: "Replicas", Type: "*int32", Tag: "`json:\"replicas,omitempty\"`"}}},
		{Name: status, Doc: []string{status + " is the observed state."}},
	}
	return t
}

// packageName returns the name of a package for a folder.
func packageName(dir string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, filepath.Base(dir))
	if name == "" || unicode.IsDigit(rune(name[0])) {
		return "apis"
	}
	return name
}

// refuseExisting returns an error that names the files that exist.
func refuseExisting(contents map[string][]byte) error {
	var existing []string
	for path := range contents {
		if output.Exists(path) {
			existing = append(existing, path)
		}
	}
	if len(existing) == 0 {
		return nil
	}
	slices.Sort(existing)
	verb := " exists"
	if len(existing) > 1 {
		verb = " exist"
	}
	return errors.New(strings.Join(existing, ", ") + verb + ", and init replaces no file; give another" +
		" --kind, --version, --group, --apis-dir or --crds-dir")
}
