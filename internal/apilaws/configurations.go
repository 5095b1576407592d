package apilaws

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// configuration is the apply configuration of a kind.
type configuration struct {
	object, config reflect.Type // structs
	// extract is the function ExtractKIND.
	extract reflect.Value
}

// configured returns the apply configurations of kinds, by the kind's type. A function that extracts one
// names both; that which extracts the whole object has the shortest name, and comes first.
func configured(functions []any) map[reflect.Type]configuration {
	kinds := map[reflect.Type]configuration{}
	for _, function := range functions {
		f := reflect.ValueOf(function)
		t := f.Type()
		if t.NumIn() != 2 || t.NumOut() != 2 || t.IsVariadic() || t.In(0).Kind() != reflect.Pointer ||
			t.In(1).Kind() != reflect.String || t.Out(0).Kind() != reflect.Pointer {
			continue
		}
		object := t.In(0).Elem()
		if _, ok := kinds[object]; !ok {
			kinds[object] = configuration{object, t.Out(0).Elem(), f}
		}
	}
	return kinds
}

// unchanged checks that the JSON of objects doesn't change on its way through the apply configuration.
func (c configuration) unchanged() (err error) {
	defer recovered(&err)
	for seed := range uint64(10) {
		object := randomObject(c.object, seed)
		config, err := c.fromObject(object)
		if err != nil {
			return err
		}
		if err := equalJSON(object, config, "the apply configuration"); err != nil {
			return fmt.Errorf("%v: %w", c.object, err)
		}
	}
	return nil
}

// fromObject returns the configuration with the JSON of an object.
func (c configuration) fromObject(object any) (any, error) {
	config := reflect.New(c.config).Interface()
	return config, convert(object, config)
}

// convert decodes the JSON of a value into another one.
func convert(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("%T: %w\n%s", to, err, text)
	}
	return nil
}

// equalJSON returns an error if the JSON of two values differs. Null, and no key, mean the same.
func equalJSON(want, got any, what string) error {
	var texts [2]string
	for i, v := range []any{want, got} {
		var tree any
		if err := convert(v, &tree); err != nil {
			return err
		}
		text, err := json.MarshalIndent(withoutNulls(tree), "", " ")
		if err != nil {
			return err
		}
		texts[i] = string(text)
	}
	if texts[0] == texts[1] {
		return nil
	}
	return fmt.Errorf("%s differs: %s", what, difference(texts[0], texts[1]))
}

func withoutNulls(tree any) any {
	switch tree := tree.(type) {
	case map[string]any:
		for key, v := range tree {
			if tree[key] = withoutNulls(v); tree[key] == nil {
				delete(tree, key)
			}
		}
	case []any:
		for i := range tree {
			tree[i] = withoutNulls(tree[i])
		}
	}
	return tree
}

// withoutEmpty returns the JSON of a value without empty objects and lists, which structured-merge-diff
// doesn't extract.
func withoutEmpty(v any) any {
	var tree any
	if err := convert(v, &tree); err != nil {
		panic(err)
	}
	return pruned(tree)
}

// pruned returns nil for a tree that has no values.
func pruned(tree any) any {
	switch t := tree.(type) {
	case map[string]any:
		maps.DeleteFunc(t, func(key string, v any) bool {
			t[key] = pruned(v)
			return t[key] == nil
		})
		if len(t) == 0 {
			return nil
		}
	case []any:
		for i := range t {
			t[i] = pruned(t[i])
		}
		if t = slices.DeleteFunc(t, func(v any) bool { return v == nil }); len(t) == 0 {
			return nil
		}
		return t
	}
	return tree
}

// difference returns the lines around the first that differs.
func difference(want, got string) string {
	wanted, gotten := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < len(wanted) && i < len(gotten) && wanted[i] == gotten[i] {
		i++
	}
	part := func(lines []string) string {
		return strings.Join(lines[max(0, i-6):min(len(lines), i+3)], "\n")
	}
	return fmt.Sprintf("it is\n%s\nnot\n%s", part(gotten), part(wanted))
}
