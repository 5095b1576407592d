package model

import (
	"go/ast"
	"go/token"
	"slices"
)

// runtimeMethods are the methods of runtime.Object, metaMethods those of metav1.Object. Generated clients
// and informers of a type don't compile without them.
var (
	runtimeMethods = []string{"GetObjectKind", "DeepCopyObject"}
	metaMethods    = func() []string {
		var methods []string
		for _, name := range []string{"Name", "Namespace", "GenerateName", "UID", "ResourceVersion", "Generation",
			"SelfLink", "CreationTimestamp", "DeletionTimestamp", "DeletionGracePeriodSeconds", "Labels",
			"Annotations", "Finalizers", "OwnerReferences", "ManagedFields"} {
			methods = append(methods, "Get"+name, "Set"+name)
		}
		return methods
	}()
)

// promotedMethods are the methods that objects get from the types of meta/v1, by the name of the type.
var promotedMethods = map[string][]string{
	"TypeMeta":   {"GetObjectKind"},
	"ObjectMeta": metaMethods,
	"ListMeta": {"GetListMeta", "GetResourceVersion", "SetResourceVersion", "GetSelfLink", "SetSelfLink",
		"GetContinue", "SetContinue", "GetRemainingItemCount", "SetRemainingItemCount"},
}

// copyObjectTag is the tag for a DeepCopyObject.
const copyObjectTag = "// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object"

// selected is what a selector of a type's value denotes: x.GetName.
type selected int

const (
	selectsMethod  selected = iota // or it isn't known, because a package can't be found
	selectsNothing                 // there is no such field or method
	selectsField                   // a field, which hides methods further in
	selectsTwo                     // several fields or methods at one depth, none of which counts
)

// holder is a type at some depth of a struct: the struct itself, or one that it embeds.
type holder struct {
	src  *source
	name string // "" for a struct without a name
	st   *structType
}

// selects finds out what a selector of a struct denotes, by Go's rule: the field or method at the shallowest
// depth, if it is the only one there. For a field of the main module it also returns the position.
func (s *session) selects(root holder, name string) (selected, token.Pos) {
	level := []holder{root}
	for range maxHops {
		var next []holder
		methods, fields := 0, 0
		var pos token.Pos
		field := func(h holder, at token.Pos) {
			if fields++; h.src == root.src || h.st.pkg.main {
				pos = at
			}
		}
		for _, h := range level {
			if s.hasMethod(h, name) {
				methods++
				continue
			}
			for _, f := range h.st.fields {
				if i := slices.IndexFunc(f.Names, func(n *ast.Ident) bool { return n.Name == name }); i >= 0 {
					field(h, f.Names[i].Pos())
				}
				if len(f.Names) > 0 {
					continue
				}
				if typeName(f.Type) == name {
					field(h, f.Pos())
				}
				inner, known := s.embeddedIn(h, f)
				if !known {
					return selectsMethod, 0
				}
				next = append(next, inner)
			}
		}
		switch {
		case methods+fields > 1:
			return selectsTwo, 0
		case fields == 1:
			return selectsField, pos
		case methods == 1:
			return selectsMethod, 0
		case len(next) == 0:
			return selectsNothing, 0
		}
		level = next
	}
	return selectsMethod, 0
}

// hasMethod reports whether a type has a method of its own: a declared one, or one that this run generates.
func (s *session) hasMethod(h holder, name string) bool {
	if h.src.path == objectMeta.Path && promotedMethods[h.name] != nil {
		return slices.Contains(promotedMethods[h.name], name)
	}
	return h.name != "" && (s.copied[h.src.path+"."+h.name+"."+name] ||
		h.src.hasMethod(h.name, name, s.replaced[h.src]))
}

// embeddedIn returns the type that a struct embeds. known is false if it can't be found, or if it may have
// methods that don't follow from its declaration.
func (s *session) embeddedIn(h holder, f *ast.Field) (inner holder, known bool) {
	ref, ok := s.refer(h.st.pkg, h.st.file, f.Type)
	if !ok {
		return holder{}, false
	}
	src := s.declaring(ref)
	if src == nil {
		return holder{}, false
	}
	decl := src.typ(ref.Name)
	if decl == nil || decl.spec.Assign.IsValid() {
		return holder{}, false
	}
	if _, isInterface := decl.spec.Type.(*ast.InterfaceType); isInterface {
		return holder{}, false
	}
	st, known := s.structOfDecl(decl)
	if st == nil { // of a type that is no struct only its own methods count
		st = &structType{pkg: src, file: decl.file}
	}
	return holder{src, ref.Name, st}, known
}

// checkObject reports a kind, or the list of one, that isn't an object to Go: its clients, listers and
// informers don't compile.
func (s *session) checkObject(decl *typeDecl, st *structType, broken Generators, methods ...string) {
	if decl.spec.Assign.IsValid() {
		return // its methods are declared elsewhere
	}
	root, what := holder{decl.pkg, decl.name, st}, "type "+decl.name
	for _, method := range methods {
		origin := map[bool]string{true: "ObjectMeta", false: "TypeMeta"}[slices.Contains(metaMethods, method)]
		switch found, pos := s.selects(root, method); {
		case found == selectsField:
			where := s.at(decl.spec)
			if pos.IsValid() {
				where = s.fset.Position(pos)
			}
			s.brokenf(broken, where, "the field %s hides the method %[1]s of %s, without which it is no object; "+
				"give the field another Go name, it may keep its JSON key", method, what)
		case found == selectsTwo:
			s.brokenf(broken, s.at(decl.spec), "%s gets %s from two embedded types, so that it has none, and is "+
				"no object; remove one of the two", what, method)
		case found == selectsMethod, s.nested[decl.pkg]: // what generates it in its module is reported
		case method == "DeepCopyObject" && s.uncopied[decl.pkg.path+"."+decl.name]:
			s.brokenf(broken, s.at(decl.spec), "%s has no DeepCopyObject, without which it is no object: "+
				"+k8s:deepcopy-gen:interfaces has no effect without // +"+copiesOfPackage+" in doc.go", what)
		case method == "DeepCopyObject":
			s.brokenf(broken, s.at(decl.spec), "%s has no DeepCopyObject, without which it is no object, and "+
				"nothing generates one here; write "+copyObjectTag+" above it, or run what generates it first", what)
		default:
			s.brokenf(broken, s.at(decl.spec), "%s has no %s, without which it is no object; embed metav1.%s",
				what, method, origin)
			return // the other methods are missing, too
		}
	}
}

// brokenf is GeneratorErrorf for input that compatible binaries mention only if it breaks their output.
func (s *session) brokenf(g Generators, pos token.Position, format string, args ...any) {
	if s.cfg.Strict || s.cfg.has(g) {
		s.Errorf(pos, format, args...)
	}
}
