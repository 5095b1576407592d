package builtins

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Definitions adds the OpenAPI definitions of the kinds to base, which has those of their metadata. They are
// derived from the Go types, with their documentation and everything that server-side apply needs, except for
// [atomic].
func Definitions(base common.GetOpenAPIDefinitions) common.GetOpenAPIDefinitions {
	return func(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
		d := definer{ref: ref, definitions: base(ref)}
		for _, k := range kinds {
			for _, object := range k.objects {
				d.define(reflect.TypeOf(object).Elem())
			}
		}
		return d.definitions
	}
}

type definer struct {
	ref         common.ReferenceCallback
	definitions map[string]common.OpenAPIDefinition
}

// define adds the definition of a struct, with all that it refers to, unless it is already there. It returns
// the definition's name.
func (d *definer) define(t reflect.Type) string {
	name := util.GetCanonicalTypeName(reflect.Zero(t).Interface())
	if _, ok := d.definitions[name]; ok {
		return name
	}
	definition := common.OpenAPIDefinition{Schema: spec.Schema{SchemaProps: spec.SchemaProps{
		Description: documentation(t)[""],
		Type:        []string{"object"},
		Properties:  map[string]spec.Schema{},
	}}}
	if slices.Contains(atomic, t) {
		definition.Schema.AddExtension("x-kubernetes-map-type", "atomic")
	}
	d.addFields(&definition, t)
	d.definitions[name] = definition
	return name
}

func (d *definer) addFields(to *common.OpenAPIDefinition, t reflect.Type) {
	documented := documentation(t)
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Anonymous {
			d.addFields(to, f.Type)
			continue
		}
		property := d.schema(to, f.Type)
		property.Description = documented[name]
		if key := f.Tag.Get("patchMergeKey"); key != "" {
			property.AddExtension("x-kubernetes-patch-merge-key", key)
			property.AddExtension("x-kubernetes-patch-strategy", f.Tag.Get("patchStrategy"))
			property.AddExtension("x-kubernetes-list-type", "map")
			property.AddExtension("x-kubernetes-list-map-keys", []any{key})
		}
		to.Schema.Properties[name] = property
		if !strings.Contains(options, "omit") {
			to.Schema.Required = append(to.Schema.Required, name)
		}
	}
}

// schema returns the schema of a field. A struct becomes a reference, which is added to the dependencies of
// the definition that the field is in.
func (d *definer) schema(in *common.OpenAPIDefinition, t reflect.Type) spec.Schema {
	switch t.Kind() {
	case reflect.Pointer:
		return d.schema(in, t.Elem())
	case reflect.Struct:
		name := d.define(t)
		if !slices.Contains(in.Dependencies, name) {
			in.Dependencies = append(in.Dependencies, name)
		}
		return spec.Schema{SchemaProps: spec.SchemaProps{Ref: d.ref(name)}}
	case reflect.Map:
		value := d.schema(in, t.Elem())
		return *spec.MapProperty(&value)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return *spec.StrFmtProperty("byte")
		}
		item := d.schema(in, t.Elem())
		return *spec.ArrayProperty(&item)
	case reflect.String:
		return *spec.StringProperty()
	case reflect.Bool:
		return *spec.BoolProperty()
	case reflect.Int32:
		return *spec.Int32Property()
	case reflect.Int64:
		return *spec.Int64Property()
	default:
		panic(fmt.Sprintf("no OpenAPI type stands for %v", t))
	}
}

// documentation returns the documentation of a type, under "", and of its fields, by their names in JSON.
func documentation(t reflect.Type) map[string]string {
	if documented, ok := reflect.Zero(t).Interface().(interface{ SwaggerDoc() map[string]string }); ok {
		return documented.SwaggerDoc()
	}
	return nil
}
