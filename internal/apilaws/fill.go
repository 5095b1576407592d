package apilaws

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// filler sets values to random ones. All strings differ, so that keys and items of sets are unique.
type filler struct {
	*rand.Rand
	strings int
}

func newFiller(seed uint64) *filler { return &filler{Rand: rand.New(rand.NewPCG(seed, 1))} }

// known returns a random value of a type whose fields depend on each other.
func (f *filler) known(v any) any {
	switch v.(type) {
	case metav1.Time:
		return metav1.NewTime(time.Unix(f.Int64N(1<<30), 0))
	case metav1.MicroTime:
		return metav1.NewMicroTime(time.Unix(f.Int64N(1<<30), 1000*f.Int64N(1e6)))
	case metav1.Duration:
		return metav1.Duration{Duration: time.Duration(f.IntN(1e6)) * time.Millisecond}
	case resource.Quantity:
		return resource.MustParse(fmt.Sprintf("%d.%dMi", f.IntN(1000), f.IntN(10)))
	case intstr.IntOrString:
		if f.IntN(2) == 0 {
			return intstr.FromString(fmt.Sprintf("%d%%", f.IntN(100)))
		}
		return intstr.FromInt32(f.Int32N(100))
	case metav1.FieldsV1:
		return *metav1.NewFieldsV1(`{"f:a":{}}`)
	case runtime.RawExtension:
		return runtime.RawExtension{Raw: fmt.Appendf(nil, `{"n":%d}`, f.IntN(100))}
	}
	return nil
}

// fill sets a value to a random one. Slices and maps are nil or have items, since an empty one may become nil
// on its way through JSON.
func (f *filler) fill(v reflect.Value, depth int) {
	if !v.CanSet() {
		return
	}
	if known := f.known(v.Interface()); known != nil {
		v.Set(reflect.ValueOf(known))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if depth > 0 && f.IntN(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth-1)
		}
	case reflect.Slice:
		if depth > 0 && f.IntN(5) > 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1+f.IntN(3), 4))
			for i := range v.Len() {
				f.item(v.Index(i), depth-1)
			}
		}
	case reflect.Map:
		if depth > 0 && f.IntN(5) > 0 {
			f.fillMap(v, depth-1)
		}
	case reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i), depth-1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			// structured-merge-diff takes the fields of an embedded nil for zero values, not for missing ones.
			if field := v.Field(i); v.Type().Field(i).Anonymous && field.Kind() == reflect.Pointer {
				f.item(field, depth-1)
			} else {
				f.fill(field, depth-1)
			}
		}
	default:
		f.scalar(v)
	}
}

// item fills an item of a slice or a map, which is no nil pointer: null isn't an item of a list.
func (f *filler) item(v reflect.Value, depth int) {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if kind := v.Kind(); kind != reflect.Slice && kind != reflect.Map {
		f.fill(v, depth)
		return
	}
	for v.Len() == 0 {
		f.fill(v, max(depth, 1))
	}
}

func (f *filler) fillMap(v reflect.Value, depth int) {
	v.Set(reflect.MakeMap(v.Type()))
	for range 1 + f.IntN(3) {
		key, item := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.fill(key, depth)
		f.item(item, depth)
		v.SetMapIndex(key, item)
	}
}

func (f *filler) scalar(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		f.strings++
		v.SetString(fmt.Sprintf("%c%d", []rune("aö世<")[f.IntN(4)], f.strings))
	case reflect.Bool:
		v.SetBool(f.IntN(2) == 0)
	case reflect.Float64, reflect.Float32:
		v.SetFloat(float64(f.IntN(1000)) / 8)
	default:
		if v.CanInt() {
			v.SetInt(f.Int64N(100))
		} else if v.CanUint() {
			v.SetUint(f.Uint64N(200))
		}
	}
}
