package generators

import (
	"go/token"
	"slices"

	"github.com/kubewright/kubewright/generators/internal/marker"
	"github.com/kubewright/kubewright/generators/internal/model"
)

// applyChecker reports fields with which an apply configuration wouldn't compile. Upstream's doesn't either.
type applyChecker struct {
	marker.Reporter
	g *applyGen
	// t is the current type, view the view of its configuration.
	t    *model.ApplyType
	view applyTypeView
}

// check checks the apply configurations of all types. strict is Config.Strict.
func (g *applyGen) check(strict bool) Problems {
	c := applyChecker{Reporter: marker.Reporter{Strict: strict}, g: g}
	for _, p := range g.api.Packages {
		for _, t := range p.Types {
			c.t, c.view = t, g.view(p, t)
			c.fields()
			c.constructor()
		}
	}
	return c.Problems
}

// fields reports fields that have the name of a method, or of another field, and fields of types that the
// configuration's package can't refer to.
func (c *applyChecker) fields() {
	methods := c.methods()
	fields := map[string]bool{}
	for _, m := range c.g.members(c.t.Type) {
		name := m.Name
		if m.embedding == embedConfig {
			name = configName(m.Type.Deref().Name.Name)
		}
		switch hidden := c.unexported(m.Type); {
		case methods[name]:
			c.Errorf(c.pos(m.Field), "the field %s of %s has the name of a method of its apply configuration; give "+
				"the field another Go name, it may keep its JSON key", name, c.view.Name)
		case fields[name]:
			c.Errorf(c.pos(m.Field), "the apply configuration of %s would have two fields %s; give this one "+
				"another Go name, it may keep its JSON key", c.view.Name, name)
		case hidden != "":
			c.Errorf(c.pos(m.Field), "the field %s of %s is of type %s, which isn't exported, so that apply "+
				"configurations can't refer to it; export it", m.Name, c.view.Name, hidden)
		}
		fields[name] = true
	}
}

// methods are the methods of the configuration.
func (c *applyChecker) methods() map[string]bool {
	methods := map[string]bool{}
	for _, setter := range c.view.Setters {
		methods["With"+setter.Name] = true
	}
	for _, getter := range c.view.Getters {
		methods["Get"+getter.Name] = true
	}
	if c.view.Marked {
		methods["IsApplyConfiguration"] = true
	}
	return methods
}

// constructor reports fields without which, or with which, the constructor can't set the name, the kind and
// the version.
func (c *applyChecker) constructor() {
	needs := func(embedded string, names ...string) {
		for _, name := range names {
			i := slices.IndexFunc(c.view.Setters, func(s applySetterView) bool { return s.Name == name })
			own := i >= 0 && c.view.Setters[i].Holder == "b"
			fits := i >= 0 && c.view.Setters[i].One && c.view.Setters[i].Type == "string"
			switch f := c.t.Field(name); {
			case own && f != nil:
				report := c.Errorf
				if fits { // the code compiles, and sets the wrong field
					report = c.StrictErrorf
				}
				report(f.Pos, "the field %s of %s comes before %s, so that the apply configuration can't have the "+
					"%[1]s of %[3]s; move it below, or give it another Go name, it may keep its JSON key", name,
					c.view.Name, embedded)
				continue
			case fits:
				continue
			}
			pos := c.t.Pos
			if f := c.t.Field(embedded); f != nil {
				pos = f.Pos
			}
			c.Errorf(pos, "the %s of %s has no json tag, so that its apply configuration would lack %s; write "+
				"`%s`, or remove the field", embedded, c.view.Name, name, metaTags[embedded])
			return
		}
	}
	if c.view.Kind != "" {
		needs("TypeMeta", "Kind", "APIVersion")
	}
	if c.view.Client {
		needs("ObjectMeta", "Name")
		if c.view.Namespaced {
			needs("ObjectMeta", "Namespace")
		}
	}
}

// metaTags are the usual tags of embedded fields.
var metaTags = map[string]string{"TypeMeta": `json:",inline"`, "ObjectMeta": `json:"metadata,omitempty"`}

// pos returns the position of a field, or for a field of an embedded struct that of the embedding one: the
// struct may be in another module.
func (c *applyChecker) pos(f *model.Field) token.Position {
	if slices.Contains(c.t.Fields, f) {
		return f.Pos
	}
	for _, outer := range c.t.Fields {
		if outer.Embedded && slices.ContainsFunc(c.g.members(c.g.embedded(outer)),
			func(m member) bool { return m.Field == f }) {
			return outer.Pos
		}
	}
	return c.t.Pos
}

// unexported returns the unexported type that the configuration would name for a field, "" if there is none.
// The configuration of an unexported struct is exported.
func (c *applyChecker) unexported(e *model.Expr) string {
	e = e.Deref()
	switch {
	case c.g.hasConfig(e), e.Form == model.Slice && c.g.hasConfig(e.Elem):
		return ""
	case e.Form == model.Map && c.g.hasConfig(e.Elem):
		e = e.Key
	}
	return unexportedIn(e)
}

// unexportedIn returns an unexported type that a type expression names, "" if there is none.
func unexportedIn(e *model.Expr) string {
	if e == nil {
		return ""
	}
	if e.Form == model.Named && e.Name.Path != "" && !token.IsExported(e.Name.Name) {
		return e.Name.Name
	}
	for _, part := range append(slices.Clone(e.Args), e.Key, e.Elem) {
		if name := unexportedIn(part); name != "" {
			return name
		}
	}
	return ""
}
