package cache_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const (
	theirs = "k8s.io/client-go/tools/cache"
	ours   = "github.com/kubewright/kubewright/runtime/cache"
)

// missing are the names of client-go's packages that ours don't have yet. It
// must shrink to nothing.
var missing = map[string][]string{
	"":           {},
	"/synctrack": {},
}

// Every exported name of client-go's packages is one of ours, of the same kind,
// with the same signature or type and the same methods and fields.
func TestExports(t *testing.T) {
	packages := load(t)
	for suffix, missing := range missing {
		left := map[string]bool{}
		for _, name := range missing {
			left[name] = true
		}
		their, our := packages[theirs+suffix].Scope(), packages[ours+suffix].Scope()
		for _, name := range their.Names() {
			object := their.Lookup(name)
			if !object.Exported() {
				continue
			}
			counterpart := our.Lookup(name)
			switch {
			case counterpart == nil && !left[name]:
				t.Errorf("%s%s.%s is missing", ours, suffix, name)
			case counterpart != nil && left[name]:
				t.Errorf("%s%s.%s isn't missing any more", ours, suffix, name)
			case counterpart != nil:
				for _, difference := range compare(object, counterpart) {
					t.Errorf("%s%s.%s: %s", ours, suffix, name, difference)
				}
			}
		}
	}
}

// compare says in what our counterpart of a name of client-go's differs.
func compare(their, our types.Object) (differences []string) {
	differ := func(format string, args ...any) { differences = append(differences, fmt.Sprintf(format, args...)) }
	if fmt.Sprintf("%T", their) != fmt.Sprintf("%T", our) {
		differ("is a %T, theirs a %T", our, their)
		return
	}
	typeName, isType := their.(*types.TypeName)
	if !isType {
		if a, b := describe(their.Type()), describe(our.Type()); a != b {
			differ("is %s, theirs %s", b, a)
		}
		return
	}
	a, b := types.Unalias(their.Type()), types.Unalias(our.Type())
	if types.Identical(a, b) || describe(a) == theirs+"."+typeName.Name() && describe(b) == describe(a) && sameOrigin(a, b) {
		return
	}
	members := func(t types.Type) map[string]string {
		set := map[string]string{}
		methods := types.NewMethodSet(types.NewPointer(t))
		for i := range methods.Len() {
			if m := methods.At(i).Obj(); m.Exported() {
				set["method "+m.Name()] = describe(m.Type())
			}
		}
		if s, ok := t.Underlying().(*types.Struct); ok {
			for i := range s.NumFields() {
				if f := s.Field(i); f.Exported() && !f.Embedded() {
					set["field "+f.Name()] = describe(f.Type())
				}
			}
		}
		return set
	}
	our_ := members(b)
	for member, signature := range members(a) {
		if our_[member] != signature {
			differ("%s is %q, theirs %q", member, our_[member], signature)
		}
	}
	return
}

// sameOrigin says that both are the same declared type: ours is an alias.
func sameOrigin(a, b types.Type) bool {
	na, ok := a.(*types.Named)
	nb, okb := b.(*types.Named)
	return ok && okb && na.Obj().Pkg().Path() == nb.Obj().Pkg().Path() && na.Obj().Name() == nb.Obj().Name()
}

// describe writes a type with our packages called as theirs, without aliases and
// the names of parameters.
func describe(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Signature:
		var b strings.Builder
		b.WriteString("func(")
		for i := range t.Params().Len() {
			b.WriteString(describe(t.Params().At(i).Type()) + ",")
		}
		fmt.Fprintf(&b, "%t)(", t.Variadic())
		for i := range t.Results().Len() {
			b.WriteString(describe(t.Results().At(i).Type()) + ",")
		}
		b.WriteString(")")
		return b.String()
	case *types.Pointer:
		return "*" + describe(t.Elem())
	case *types.Slice:
		return "[]" + describe(t.Elem())
	case *types.Named:
		name := types.TypeString(t, nil)
		// Options are functions on something of the package's own.
		for _, own := range []string{"cache", "threadSafeMap", "storeConfig", "threadSafeConfig"} {
			if t.Obj().Name() == own {
				return "own"
			}
		}
		return strings.ReplaceAll(name, ours, theirs)
	}
	return strings.NewReplacer(ours, theirs, "interface{}", "any").Replace(types.TypeString(t, nil))
}

// load type-checks both sides' packages from the export data of the build cache.
func load(t *testing.T) map[string]*types.Package {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Export"}
	for suffix := range missing {
		args = append(args, theirs+suffix, ours+suffix)
	}
	var stderr bytes.Buffer
	list := exec.Command("go", args...)
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	exports := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
	}
	gc := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	packages := map[string]*types.Package{}
	for suffix := range missing {
		for _, path := range []string{theirs + suffix, ours + suffix} {
			if packages[path], err = gc.Import(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	return packages
}
