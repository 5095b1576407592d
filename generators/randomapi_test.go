package generators_test

import (
	"errors"
	"fmt"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// module is the path of the module that APIs are written to. checkedModule is that of programs that check the
// laws of package apilaws; below the repository's path they may import internal packages.
const (
	module        = "example.com/x"
	checkedModule = "github.com/kubewright/kubewright/random"
)

// api is an input for kubewright: packages, and flags.
type api struct {
	packages []apiPackage
	flags    []string
}

type apiPackage struct {
	folder, version, group string
	hasGroup               bool
	goName                 string
	kinds                  []apiKind
	// helpers is true if deep copies and registration are to be generated, too, and defaults if
	// functions that set defaults are.
	helpers, defaults bool
	parts             *parts
}

type apiKind struct {
	name string
	tags []string
	// spec is the source of the type of the field Spec, "" if it is a map; status that of the field Status,
	// "" if it is a condition.
	spec, status string
	// fields are further fields, each with the name of a method or of a type that isn't exported.
	fields string
	// noObject is true if no file declares the methods that make the kind an object.
	noObject bool
}

// awkward are names that have a meaning in Go or in generated code.
var awkward = []string{
	"type", "func", "map", "interface", "chan", "select", "range", "package", "import", "default", "go",
	"defer", "var", "const", "struct", "return", "string", "error", "int", "len", "nil", "true", "any",
	"append", "new", "make", "copy", "iota", "byte", "init", "main", "min", "client", "clientset", "fake",
	"scheme", "context", "cache", "version", "versioned", "informer", "informers", "factory", "lister",
	"listers", "discovery", "rest", "http", "metav1", "runtime", "schema", "watch", "types", "time", "fmt",
	"internal", "typed", "apply", "labels", "testing", "externalversions", "internalinterfaces",
	"internalversion", "reflect", "sync", "core", "group", "options", "opts", "ctx", "name", "namespace",
	"obj", "result", "status", "list", "event", "endpoints", "doc", "utils", "generated_expansion",
	"register", "shared", "generic", "v1", "v2", "b", "c", "f", "s",
}

var groupForms = []string{"%s", "%s.example.com", "%s.other.org", "my-%s", "%s-x.io", "%s.v1", "x_%s",
	"%s.k8s.io", "%s1", "%s.%[1]s"}

var kindForms = []string{"%s", "%s", "%s", "%ss", "Typed%s", "%sList", "%sInformer", "%sLister",
	"%sInterface", "%sClient", "Fake%s", "%s_x", "%s_test", "%s_linux", "%sV1", "New%s", "Deleted%s",
	"%sApplyConfiguration", "%sNamespace"}

// irregular are kinds whose plurals aren't formed by adding an s, or only seem to be irregular.
var irregular = []string{"Gateway", "Match", "MongoRS", "Params", "Index", "Policy", "Person", "Sheep",
	"Status", "BackupRepo", "Gas", "Key", "HTTPProxy", "Endpoints"}

var versions = []string{"v1", "v1", "v1beta1", "v1alpha1", "v2", "v2alpha1x", "version1", "next", "v1", "v2",
	"internalversion", "V3"}

func pick[T any](r *rand.Rand, values []T) T { return values[r.IntN(len(values))] }

func randomAPI(seed uint64) api {
	r := rand.New(rand.NewPCG(seed, 1))
	var a api
	words := make([]string, 1+r.IntN(2)) // few words, so that groups and kinds share them
	for i := range words {
		words[i] = pick(r, awkward)
	}
	seen := map[string]bool{}
	for i := range 1 + r.IntN(3) {
		p := randomPackage(r, words)
		p.kinds = awkwardKinds(seed, i, p.kinds)
		if i > 0 && r.IntN(3) == 0 && len(a.packages) > 0 { // another version
			version := p.version
			p = a.packages[0]
			p.version, p.kinds = version, slices.Clone(p.kinds)
		}
		key := strings.ToLower(p.folder + "/" + p.version)
		if !seen[key] && len(p.kinds) > 0 {
			a.packages = append(a.packages, p)
		}
		seen[key] = true
	}
	if len(a.packages) == 0 {
		return randomAPI(seed + 1<<50)
	}
	a.flags = randomFlags(r)
	if r.IntN(3) == 0 {
		k := pick(r, pick(r, a.packages).kinds).name
		a.flags = append(a.flags,
			"--plural-exceptions="+k+":"+pick(r, []string{k, k, "Many" + k, title(pick(r, awkward))}))
	}
	for i := range a.packages {
		a.packages[i].addTypes(r)
	}
	return a
}

// randomPackage returns a package whose kinds have no fields yet.
func randomPackage(r *rand.Rand, words []string) apiPackage {
	p := apiPackage{folder: fmt.Sprintf(pick(r, groupForms), pick(r, words)), version: pick(r, versions)}
	if r.IntN(20) == 0 {
		p.folder = "3" + p.folder // needs a Go name
	}
	p.group = p.folder
	if r.IntN(3) > 0 {
		p.hasGroup, p.group = true, fmt.Sprintf(pick(r, groupForms), pick(r, words))
	}
	if r.IntN(6) == 0 {
		p.goName = pick(r, []string{"Other", "discovery", "Start", "type", title(pick(r, words))})
	}
	p.helpers = r.IntN(3) > 0
	kinds := map[string]bool{}
	for range 1 + r.IntN(3) {
		name := fmt.Sprintf(pick(r, kindForms), title(pick(r, append(words, awkward...))))
		if r.IntN(3) == 0 {
			name = pick(r, irregular)
		}
		if !kinds[name] && !kinds[name+"List"] && !kinds[strings.TrimSuffix(name, "List")] &&
			!declaredByAPI[name] && token.IsExported(name) {
			kinds[name] = true
			p.kinds = append(p.kinds, apiKind{name: name, tags: randomTags(r, name)})
		}
	}
	return p
}

// randomTags returns tags of a kind. It has at most one tag of each line, since most pairs would be refused.
func randomTags(r *rand.Rand, kind string) (all []string) {
	for _, tags := range [][]string{
		{"nonNamespaced", "", ""},
		{"noStatus", "", "", ""},
		{"noVerbs", "onlyVerbs=get,list,watch", "onlyVerbs=create,delete", "skipVerbs=watch", "readonly",
			"", "", "", "", "", "", ""},
		{"method=Extend,verb=update,subresource=scale",
			"method=GetIt,verb=get,subresource=" + pick(r, awkward),
			"method=New,verb=create,input=" + kind,
			"method=UpdateScale,verb=update,subresource=scale,input=" + scale + ",result=" + scale,
			"method=ApplyScale,verb=apply,subresource=scale,input=" + scale + ",result=" + scale,
			"", "", "", ""},
	} {
		if tag := pick(r, tags); tag != "" && !slices.Contains(all, "+genclient:noVerbs") {
			all = append(all, "+genclient:"+tag)
		}
	}
	if r.IntN(8) == 0 {
		all = append(all, "+resourceName="+pick(r, awkward))
	}
	return all
}

func randomFlags(r *rand.Rand) (flags []string) {
	for _, f := range []struct {
		flag string
		in   int
	}{
		{"--single-directory", 3}, {"--prefers-protobuf", 3}, {"--fake-clientset=false", 9},
		{"--metadata-informers", 3}, {"--read-only-views", 3},
		{"--clientset-name=" + pick(r, []string{"internal", "fake", "scheme", "clientset", "version",
			"client", "rest"}), 3},
	} {
		if r.IntN(f.in) == 0 {
			flags = append(flags, f.flag)
		}
	}
	if r.IntN(4) > 0 { // --lean leaves out what apply configurations are for
		return append(flags, "--with-applyconfig")
	}
	if r.IntN(2) == 0 {
		flags = append(flags, "--lean")
	}
	return flags
}

// scale is a type that methods of other packages' kinds send.
const scale = "k8s.io/api/autoscaling/v1.Scale"

// addTypes gives the kinds specs and statuses.
func (p *apiPackage) addTypes(r *rand.Rand) {
	p.parts = newParts(r)
	p.defaults = p.helpers && r.IntN(4) == 0
	for i := range p.kinds {
		k := &p.kinds[i]
		if p.defaults {
			k.spec = randomSpec(r, k.name)
		} else if r.IntN(5) > 0 {
			k.spec = p.parts.structOf(k.name+"Spec", 1+r.IntN(6))
		}
		k.noObject = r.IntN(40) == 0
		if r.IntN(2) == 0 {
			k.status = p.parts.structOf(k.name+"Status", 1+r.IntN(3))
		}
	}
}

// declaredByAPI are the names that the packages of all APIs declare.
var declaredByAPI = map[string]bool{"SchemeGroupVersion": true, "AddToScheme": true, "Resource": true,
	"GroupName": true}

func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

func (a api) String() string {
	var b strings.Builder
	fmt.Fprintln(&b, a.flags)
	for _, p := range a.packages {
		fmt.Fprintf(&b, "%s/%s:\n%s%s", p.folder, p.version, p.doc(), p.types())
	}
	return b.String()
}

// write writes the packages as a user would, deep copies included.
func (a api) write(t *testing.T, dir string) {
	for _, p := range a.packages {
		folder := filepath.Join(dir, "apis", p.folder, p.version)
		writeFile(t, filepath.Join(folder, "doc.go"), p.doc())
		writeFile(t, filepath.Join(folder, "types.go"), p.types())
	}
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755),
		os.WriteFile(file, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// doc returns the file doc.go.
func (p apiPackage) doc() string {
	doc := "// Package p is an API.\n"
	if p.hasGroup {
		doc += "// +groupName=" + p.group + "\n"
	}
	if p.goName != "" {
		doc += "// +groupGoName=" + p.goName + "\n"
	}
	if p.helpers {
		doc += "// +k8s:deepcopy-gen=package\n// +k8s:register-gen=true\n"
	}
	if p.defaults {
		doc += "// +k8s:defaulter-gen=TypeMeta\n"
	}
	return doc + "package p\n"
}

// types returns the file types.go.
func (p apiPackage) types() string {
	body, objects := "", ""
	if p.parts != nil {
		body = p.parts.source.String()
	}
	if p.defaults {
		body += defaultedTypes
	}
	for _, k := range p.kinds {
		tags, spec, status := "", "map[string]string", "*metav1.Condition"
		methods, copied := apiMethods, ""
		if k.noObject || p.helpers {
			methods = ""
		}
		if p.helpers && !k.noObject {
			copied = "// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object\n"
		}
		for _, tag := range k.tags {
			tags += "// " + tag + "\n"
		}
		if k.spec != "" {
			spec = k.name + "Spec"
		}
		if k.status != "" {
			status = k.name + "Status"
		}
		fields := k.fields
		if methods != "" { // Go allows no field beside a method of that name
			fields = strings.ReplaceAll(fields, "\tDeepCopyObject ", "\tObjectCopy ")
		}
		body += strings.NewReplacer("FIELDS\n", fields, "KIND", k.name, "// TAGS\n", tags,
			"// COPIES\n", copied, "SPEC", spec, "STATUS", status).Replace(apiType+methods) + k.spec + k.status
		if !k.noObject {
			objects += fmt.Sprintf("&%s{}, &%[1]sList{}, ", k.name)
		}
	}
	if slices.ContainsFunc(p.kinds, func(k apiKind) bool { return k.fields != "" }) {
		body += awkwardTypes
	}
	if !p.helpers {
		body = fmt.Sprintf(apiHeader, p.group, p.version, objects) + body
	}
	imports := "import (\n"
	for _, i := range importsOfAPIs {
		if regexp.MustCompile(`[^/\w.]` + i.name + `\.[A-Z]`).MatchString(body) {
			imports += fmt.Sprintf("\t%s %q\n", i.name, i.path)
		}
	}
	return "package p\n\n" + imports + ")\n" + body
}

// importsOfAPIs are the packages that API types may import.
var importsOfAPIs = []struct{ name, path string }{
	{"json", "encoding/json"}, {"strconv", "strconv"}, {"strings", "strings"},
	{"corev1", "k8s.io/api/core/v1"}, {"resource", "k8s.io/apimachinery/pkg/api/resource"},
	{"metav1", "k8s.io/apimachinery/pkg/apis/meta/v1"}, {"runtime", "k8s.io/apimachinery/pkg/runtime"},
	{"schema", "k8s.io/apimachinery/pkg/runtime/schema"}, {"types", "k8s.io/apimachinery/pkg/types"},
	{"intstr", "k8s.io/apimachinery/pkg/util/intstr"},
}

func (a api) generate(bin, dir string) (string, error) {
	cmd := exec.Command(filepath.Join(bin, "kubewright"),
		slices.Concat([]string{"generate", "--output-dir=pkg/client"}, a.flags, []string{"./apis/..."})...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PWD="+dir, "GOWORK=off", "GOFLAGS=", "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

const apiHeader = `
var SchemeGroupVersion = schema.GroupVersion{Group: %q, Version: %q}

func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(SchemeGroupVersion, %s)
	metav1.AddToGroupVersion(s, SchemeGroupVersion)
	return nil
}

// copied returns a deep copy that nobody generates.
func copied[T any](in *T) *T {
	text, err := json.Marshal(in)
	out := new(T)
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		panic(err)
	}
	return out
}
`

const apiType = `
// +genclient
// COPIES
// TAGS
type KIND struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	Spec   SPEC   ` + "`json:\"spec,omitempty\"`" + `
	Status STATUS ` + "`json:\"status,omitempty\"`" + `
FIELDS
}

// COPIES
type KINDList struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `
	metav1.ListMeta ` + "`json:\"metadata,omitempty\"`" + `

	Items []KIND ` + "`json:\"items\"`" + `
}
`

const apiMethods = `
func (in *KIND) DeepCopyObject() runtime.Object { return copied(in) }

func (in *KINDList) DeepCopyObject() runtime.Object { return copied(in) }
`
