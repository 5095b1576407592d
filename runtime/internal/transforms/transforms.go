package transforms

import (
	"fmt"
	"reflect"
)

// Func is a transform of objects that have keys of type K.
type Func[K comparable] struct {
	// Key returns the key of an object.
	Key func(any) (K, error)
	// Transform returns what is stored in place of an object. nil, or a typed nil, means that the object isn't
	// cached.
	Transform func(any) (any, error)
}

// Result is what a transform made of an object.
type Result[K comparable] struct {
	// From is the key of the object that the server sent.
	From K
	// Object is what is stored, Key its key. If the object isn't cached, Object is nil and Key is From.
	Key    K
	Object any
}

// Apply transforms an object whose key is from. The transform may change obj, so that the caller has to
// compute from before. An error names the object. The result is then that of an object that isn't cached.
func (f Func[K]) Apply(from K, obj any) (Result[K], error) {
	none := Result[K]{From: from, Key: from}
	transformed, err := f.Transform(obj)
	if err != nil {
		return none, fmt.Errorf("transform %v: %w", from, err)
	}
	if IsNil(transformed) {
		return none, nil
	}
	key, err := f.Key(transformed)
	if err != nil {
		return none, fmt.Errorf("transform %v: %w", from, err)
	}
	return Result[K]{From: from, Key: key, Object: transformed}, nil
}

// IsNil reports whether obj is nil or a typed nil: then an object isn't cached.
func IsNil(obj any) bool {
	if obj == nil {
		return true
	}
	switch v := reflect.ValueOf(obj); v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan:
		return v.IsNil()
	}
	return false
}
