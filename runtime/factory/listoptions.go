package factory

import (
	"errors"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TweakListOptions makes f, a generated factory, pass the options of every list
// and every watch of obj's type, and of no other, to tweak: after the factory's
// own tweakListOptions, and after those given before for the type. Only obj's Go
// type matters. That f can have informers of the type isn't known: a type that it
// has none of changes nothing.
//
// It is an error when the informer of that type is there already: its first
// list may have been sent. The type of a list is one, too: an informer is of the
// type of what it lists.
func TweakListOptions(f any, obj runtime.Object, tweak func(*metav1.ListOptions)) error {
	o, err := ownerOf(f)
	switch {
	case err != nil:
		return err
	case obj == nil:
		return errors.New("the object whose type has its options changed is nil")
	case isList(obj):
		return fmt.Errorf("a %T is a list, no informer is of its type: pass what is listed", obj)
	case tweak == nil:
		return errNoFunction
	}
	return o.tweak(reflect.TypeOf(obj), tweak)
}

func isList(obj runtime.Object) bool {
	_, list := obj.(metav1.ListInterface)
	return list
}

// TweaksOf is what generated code makes the tweak of an informer of obj's type
// of: all, which is the factory's own and may be nil, and then what
// TweakListOptions was given for the type.
func TweaksOf[F ~func(*metav1.ListOptions)](f any, obj runtime.Object, all F) F {
	o, err := ownerOf(f)
	if err != nil {
		return all // of another make: it has no others
	}
	tweaks := o.tweaksOf(reflect.TypeOf(obj))
	if len(tweaks) == 0 {
		return all
	}
	return func(options *metav1.ListOptions) {
		if all != nil {
			all(options)
		}
		for _, tweak := range tweaks {
			tweak(options)
		}
	}
}
