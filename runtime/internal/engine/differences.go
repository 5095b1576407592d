package engine

import (
	"fmt"
	"reflect"
	"strings"
)

// mostDifferences is the largest number of differences to look for.
const mostDifferences = 10

// differences returns the paths of the fields in which two objects of one type differ, at most
// mostDifferences. It leaves out the values, which may be those of a Secret.
func differences(a, b any) []string {
	var d differ
	d.compare("", reflect.ValueOf(a), reflect.ValueOf(b))
	return d.paths
}

type differ struct{ paths []string }

// compare compares values, or what they point to, as [reflect.DeepEqual] does.
func (d *differ) compare(path string, a, b reflect.Value) {
	if len(d.paths) == mostDifferences {
		return
	}
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		if a.IsValid() || b.IsValid() {
			d.differs(path)
		}
		return
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		d.compare(path, a.Elem(), b.Elem())
	case reflect.Struct:
		for field, value := range a.Fields() {
			step := path
			if !field.Anonymous {
				step += "." + field.Name
			}
			d.compare(step, value, b.FieldByIndex(field.Index))
		}
	case reflect.Map:
		d.compareMaps(path, a, b)
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() || a.Kind() == reflect.Slice && a.IsNil() != b.IsNil() {
			d.differs(path)
			return
		}
		for i := range a.Len() {
			d.compare(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i))
		}
	case reflect.Func:
		if !a.IsNil() || !b.IsNil() {
			d.differs(path)
		}
	default:
		if !a.Equal(b) {
			d.differs(path)
		}
	}
}

func (d *differ) compareMaps(path string, a, b reflect.Value) {
	if a.IsNil() != b.IsNil() {
		d.differs(path)
		return
	}
	for entry := a.MapRange(); entry.Next(); {
		d.compare(fmt.Sprintf("%s[%q]", path, fmt.Sprint(entry.Key())), entry.Value(), b.MapIndex(entry.Key()))
	}
	for entry := b.MapRange(); entry.Next(); {
		if !a.MapIndex(entry.Key()).IsValid() {
			d.compare(fmt.Sprintf("%s[%q]", path, fmt.Sprint(entry.Key())), reflect.Value{}, entry.Value())
		}
	}
}

func (d *differ) differs(path string) {
	if len(d.paths) < mostDifferences {
		d.paths = append(d.paths, strings.TrimPrefix(path, "."))
	}
}
