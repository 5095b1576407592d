package generators_test

import (
	"flag"
	"fmt"
	"go/token"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

var (
	names    = flag.Int("names", 24, "how many random APIs TestNames generates for")
	compiled = flag.Int("names-compiled", 1, "how many of them are compiled, not only type-checked")
	seed     = flag.Uint64("names-seed", 1, "the first API of TestNames; 0 for a random one")
)

// TestNames generates everything for random APIs whose groups, versions, kinds, tags and flags collide with
// each other, with Go's keywords and with names in generated code. Whatever kubewright accepts must compile.
// To try more of them:
//
//	go test ./generators -run TestNames -names 2000 -names-compiled 20 -timeout 60m
func TestNames(t *testing.T) {
	t.Parallel()
	bin := buildCommands(t)
	first := *seed
	if first == 0 {
		first = rand.Uint64N(1 << 40)
	}
	t.Logf("-names-seed %d", first)
	accepted, refusals := 0, map[string]int{}
	var mu sync.Mutex
	var workers sync.WaitGroup
	next := make(chan uint64)
	for range 2 {
		checker := newTypeChecker(t)
		workers.Go(func() {
			for seed := range next {
				api := randomAPI(seed)
				dir := t.TempDir()
				api.write(t, dir)
				out, err := api.generate(bin, dir)
				if err == nil {
					err = checker.check(dir)
					out = ""
				} else if strings.Contains(out, ": ") && !strings.Contains(out, "panic") {
					mu.Lock()
					refusals[firstMessage(out)]++
					mu.Unlock()
					continue // kubewright refused the API, and the error says why
				}
				if err == nil && seed-first < uint64(*compiled) {
					_, err = goInModule(dir, "build", "./...")
				}
				if err != nil {
					t.Errorf("-names-seed %d -names 1: %v\n%s%s", seed, err, out, api)
				}
				mu.Lock()
				accepted++
				mu.Unlock()
				if err := os.RemoveAll(dir); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range uint64(*names) {
		next <- first + i
	}
	close(next)
	workers.Wait()
	t.Logf("%d of %d accepted", accepted, *names)
	for _, message := range slices.Sorted(maps.Keys(refusals)) {
		t.Logf("refused %4d times: %s", refusals[message], message)
	}
	if accepted < *names/3 {
		t.Errorf("only %d of %d APIs were accepted", accepted, *names)
	}
}

var varying = regexp.MustCompile(
	`"[^"]*"|\(?example\.com/\S+|(Go name|type|types|and|method|of|package) [A-Z]\w+`)

// firstMessage returns the first problem without the parts that differ between APIs.
func firstMessage(out string) string {
	line, _, _ := strings.Cut(out, "\n")
	if _, message, ok := strings.Cut(line, ": "); ok {
		line = message
	}
	return varying.ReplaceAllString(line, "$1 ...")
}

// module is the path of the module that APIs are written to.
const module = "example.com/x"

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
}

type apiKind struct {
	name string
	tags []string
	// spec is the source of the type of the field Spec, "" if it is a map.
	spec string
	// fields are further fields, each with the name of a method or of a type that isn't exported.
	fields string
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
	for range 1 + r.IntN(3) {
		p := apiPackage{folder: fmt.Sprintf(pick(r, groupForms), pick(r, words)), version: pick(r, versions)}
		if seen[strings.ToLower(p.folder+"/"+p.version)] {
			continue
		}
		seen[strings.ToLower(p.folder+"/"+p.version)] = true
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
		kinds := map[string]bool{}
		for range 1 + r.IntN(3) {
			k := apiKind{name: fmt.Sprintf(pick(r, kindForms), title(pick(r, append(words, awkward...))))}
			if kinds[k.name] || kinds[k.name+"List"] || kinds[strings.TrimSuffix(k.name, "List")] ||
				declaredByAPI[k.name] || !token.IsExported(k.name) {
				continue
			}
			kinds[k.name] = true
			// It has at most one tag of each line, since most pairs would be refused.
			for _, tags := range [][]string{
				{"nonNamespaced", "", ""},
				{"noStatus", "", "", ""},
				{"noVerbs", "onlyVerbs=get,list,watch", "onlyVerbs=create,delete", "skipVerbs=watch",
					"readonly", "", "", "", "", "", "", ""},
				{"method=Extend,verb=update,subresource=scale",
					"method=GetIt,verb=get,subresource=" + pick(r, awkward),
					"method=New,verb=create,input=" + k.name, "", "", "", ""},
			} {
				if tag := pick(r, tags); tag != "" && !slices.Contains(k.tags, "+genclient:noVerbs") {
					k.tags = append(k.tags, "+genclient:"+tag)
				}
			}
			if r.IntN(8) == 0 {
				k.tags = append(k.tags, "+resourceName="+pick(r, awkward))
			}
			p.kinds = append(p.kinds, k)
		}
		p.kinds = awkwardKinds(seed, len(a.packages), p.kinds)
		if len(p.kinds) > 0 {
			a.packages = append(a.packages, p)
		}
	}
	if len(a.packages) == 0 {
		return randomAPI(seed + 1<<50)
	}
	for i := range a.packages {
		a.packages[i].helpers = r.IntN(2) == 0
	}
	for _, f := range []string{
		"--with-applyconfig", "--single-directory", "--prefers-protobuf", "--fake-clientset=false", "--lean",
		"--metadata-informers", "--read-only-views",
		"--clientset-name=" +
			pick(r, []string{"internal", "fake", "scheme", "clientset", "version", "client", "rest"}),
	} {
		if r.IntN(3) == 0 {
			a.flags = append(a.flags, f)
		}
	}
	if r.IntN(3) == 0 {
		k := pick(r, pick(r, a.packages).kinds).name
		a.flags = append(a.flags,
			"--plural-exceptions="+k+":"+pick(r, []string{k, k, "Many" + k, title(pick(r, awkward))}))
	}
	for i := range a.packages {
		p := &a.packages[i]
		if p.defaults = p.helpers && r.IntN(2) == 0; p.defaults {
			for i := range p.kinds {
				p.kinds[i].spec = randomSpec(r, p.kinds[i].name)
			}
		}
	}
	return a
}

// awkwardFields are fields that collide with methods that a type gets, or that an apply configuration can't
// have, some of them only together.
var awkwardFields = []string{
	"GetName string", "SetLabels bool", "GetObjectKind string", "DeepCopyObject bool", "DeepCopy string",
	"DeepCopyInto []string", "GetKind string", "GetAPIVersion *int32", "WithName string",
	"WithSpec string", "WithStatus bool", "WithX string", "X *int32", "IsApplyConfiguration bool",
	"TypeMetaApplyConfiguration string", "ObjectMetaApplyConfiguration bool", "Name string", "Name int32",
	"Namespace *int32", "Kind string", "Kind bool", "Hidden hidden", "Hiddens []*hidden", "Nested nested",
	"ByNested map[hidden]nested", "Untagged untagged", "ExtractStatus string", "GetX string",
}

// awkwardTypes are declared in each package with such fields.
const awkwardTypes = `
type hidden string

type nested struct {
	DeepCopyObject []hidden ` + "`json:\"-\"`" + `
	WithHidden     string   ` + "`json:\"withHidden\"`" + `
}

type untagged struct {
	metav1.TypeMeta

	A string ` + "`json:\"a\"`" + `
}
`

// awkwardKinds adds fields to some kinds, and gives some the name of something that the registration of a
// package declares, or the name of another kind in capitals.
func awkwardKinds(seed uint64, pkg int, kinds []apiKind) []apiKind {
	r := rand.New(rand.NewPCG(seed, uint64(2+pkg)))
	for i := range kinds {
		for r.IntN(12) == 0 {
			field := pick(r, awkwardFields)
			if name, _, _ := strings.Cut(field, " "); !strings.Contains(kinds[i].fields, "\t"+name+" ") {
				kinds[i].fields += "\t" + field + " `json:\"" + strings.ToLower(name) + ",omitempty\"`\n"
			}
		}
	}
	named := func(name string) bool {
		return slices.ContainsFunc(kinds, func(k apiKind) bool { return k.name == name || k.name+"List" == name })
	}
	switch r.IntN(24) {
	case 0:
		name := pick(r, []string{"Kind", "Kind", "Install", "SchemeBuilder", "GroupVersion"})
		if !named(name) {
			kinds = append(kinds, apiKind{name: name})
		}
	case 1:
		if len(kinds) > 0 && !named(strings.ToUpper(kinds[0].name)) {
			kinds = append(kinds, apiKind{name: strings.ToUpper(kinds[0].name)})
		}
	}
	return kinds
}

// declaredByAPI are the names that the packages of all APIs declare.
var declaredByAPI = map[string]bool{"SchemeGroupVersion": true, "AddToScheme": true, "Resource": true,
	"GroupName": true}

func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

func (a api) String() string {
	var b strings.Builder
	fmt.Fprintln(&b, a.flags)
	for _, p := range a.packages {
		fmt.Fprintf(&b, "%s/%s group %q go name %q helpers %t defaults %t: %v\n", p.folder, p.version, p.group,
			p.goName, p.helpers, p.defaults, p.kinds)
	}
	return b.String()
}

// write writes the packages as a user would, deep copies included.
func (a api) write(t *testing.T, dir string) {
	files := map[string]string{"go.mod": "module " + module + "\n\ngo 1.26\n"}
	for _, p := range a.packages {
		var doc, types strings.Builder
		doc.WriteString("// Package p is an API.\n")
		if p.hasGroup {
			fmt.Fprintf(&doc, "// +groupName=%s\n", p.group)
		}
		if p.goName != "" {
			fmt.Fprintf(&doc, "// +groupGoName=%s\n", p.goName)
		}
		methods := apiMethods
		if p.helpers {
			doc.WriteString("// +k8s:deepcopy-gen=package\n// +k8s:register-gen=true\n")
			if p.defaults {
				doc.WriteString("// +k8s:defaulter-gen=TypeMeta\n")
			}
			types.WriteString("package p\n\nimport metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n")
			if p.defaults {
				types.WriteString(defaultedTypes)
			}
			methods = ""
		} else {
			fmt.Fprintf(&types, apiHeader, p.group, p.version)
		}
		doc.WriteString("package p\n")
		for _, k := range p.kinds {
			tags, copies := "", ""
			if p.helpers {
				copies = "// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object\n"
			}
			for _, tag := range k.tags {
				tags += "// " + tag + "\n"
			}
			spec := "map[string]string"
			if k.spec != "" {
				spec = k.name + "Spec"
			}
			fields := k.fields
			if strings.Contains(methods, "DeepCopyObject") { // Go allows no field beside a method of that name
				fields = strings.ReplaceAll(fields, "\tDeepCopyObject ", "\tObjectCopy ")
			}
			fmt.Fprint(&types, strings.NewReplacer("FIELDS\n", fields, "KIND", k.name, "// TAGS\n", tags,
				"// COPIES\n", copies, "SPEC", spec).Replace(apiType+methods), k.spec)
		}
		if slices.ContainsFunc(p.kinds, func(k apiKind) bool { return k.fields != "" }) {
			types.WriteString(awkwardTypes)
		}
		folder := filepath.Join("apis", p.folder, p.version)
		files[filepath.Join(folder, "doc.go")], files[filepath.Join(folder, "types.go")] = doc.String(),
			types.String()
	}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (a api) generate(bin, dir string) (string, error) {
	cmd := exec.Command(filepath.Join(bin, "kubewright"),
		slices.Concat([]string{"generate"}, a.flags, []string{"./apis/..."})...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PWD="+dir, "GOWORK=off", "GOFLAGS=", "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

const apiHeader = `package p

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var SchemeGroupVersion = schema.GroupVersion{Group: %q, Version: %q}

func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

func AddToScheme(*runtime.Scheme) error { return nil }
`

const apiType = `
// +genclient
// COPIES
// TAGS
type KIND struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	Spec   SPEC              ` + "`json:\"spec,omitempty\"`" + `
	Status *metav1.Condition ` + "`json:\"status,omitempty\"`" + `
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
func (in *KIND) DeepCopyObject() runtime.Object { return in }

func (in *KINDList) DeepCopyObject() runtime.Object { return in }
`
