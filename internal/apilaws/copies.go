package apilaws

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

// Copies checks the deep copies of what a pointer refers to: they are equal to the original and share no
// memory with it, what is done to one doesn't change the other, and the copy of nil is nil. It returns how
// many references it compared.
func Copies(pointer any) (compared int, err error) {
	defer recovered(&err)
	typ := reflect.TypeOf(pointer).Elem()
	for seed := range uint64(20) {
		original, again := reflect.New(typ), reflect.New(typ)
		newFiller(seed).fill(original.Elem(), 6)
		newFiller(seed).fill(again.Elem(), 6)
		duplicate := copyOf(original)
		if !reflect.DeepEqual(original.Elem().Interface(), duplicate.Interface()) {
			return compared, fmt.Errorf("%v: %+v was copied to %+v", typ, original.Elem(), duplicate)
		}
		n, err := separate(typ.String(), original.Elem(), duplicate)
		if compared += n; err != nil {
			return compared, err
		}
		if object, ok := original.Interface().(runtime.Object); ok &&
			!reflect.DeepEqual(object.DeepCopyObject(), original.Interface()) {
			return compared, fmt.Errorf("%v: DeepCopyObject is not a copy", typ)
		}
		overwrite(duplicate)
		if !reflect.DeepEqual(original.Elem().Interface(), again.Elem().Interface()) {
			return compared, fmt.Errorf("%v: the original has changed", typ)
		}
	}
	if null := reflect.Zero(reflect.PointerTo(typ)); typ.Kind() == reflect.Struct &&
		!null.MethodByName("DeepCopy").Call(nil)[0].IsNil() {
		return compared, fmt.Errorf("%v: the copy of nil is not nil", typ)
	}
	return compared, nil
}

// copyOf returns a deep copy of what a pointer refers to.
func copyOf(pointer reflect.Value) reflect.Value {
	if kind := pointer.Elem().Kind(); kind == reflect.Map || kind == reflect.Slice {
		return pointer.Elem().MethodByName("DeepCopy").Call(nil)[0]
	}
	return pointer.MethodByName("DeepCopy").Call(nil)[0].Elem()
}

// separate checks that two equal values share no memory, and returns how many references it compared.
func separate(path string, a, b reflect.Value) (compared int, err error) {
	if a.Type() == reflect.TypeFor[time.Time]() {
		return 0, nil // which refers to a location that nobody changes
	}
	var errs []error
	inner := func(path string, a, b reflect.Value) {
		n, err := separate(path, a, b)
		compared, errs = compared+n, append(errs, err)
	}
	same := func(size uintptr) {
		if compared++; size > 0 && a.Pointer() == b.Pointer() {
			errs = append(errs, fmt.Errorf("%s is shared", path))
		}
	}
	switch a.Kind() {
	case reflect.Pointer:
		if !a.IsNil() {
			same(a.Type().Elem().Size())
			inner(path, a.Elem(), b.Elem())
		}
	case reflect.Map:
		if !a.IsNil() {
			same(1)
		}
		for _, key := range a.MapKeys() {
			inner(path+"[]", a.MapIndex(key), b.MapIndex(key))
		}
	case reflect.Slice:
		if a.Len() > 0 {
			same(a.Type().Elem().Size())
		}
		for i := range a.Len() {
			inner(path+"[]", a.Index(i), b.Index(i))
		}
	case reflect.Array:
		for i := range a.Len() {
			inner(path+"[]", a.Index(i), b.Index(i))
		}
	case reflect.Struct:
		for i := range a.NumField() {
			inner(path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
		}
	}
	return compared, errors.Join(errs...)
}

// overwrite sets all that a value refers to to zero.
func overwrite(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			overwrite(v.Elem())
			zero(v.Elem())
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			overwrite(v.MapIndex(key))
		}
		if v.CanInterface() {
			v.Clear()
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			overwrite(v.Index(i))
			zero(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			overwrite(v.Field(i))
		}
	}
}

// zero clears a value, unless it belongs to an unexported field.
func zero(v reflect.Value) {
	if v.CanSet() {
		v.SetZero()
	}
}
