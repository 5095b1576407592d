package factory

import (
	"errors"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TweakListOptions makes f, a generated factory, pass the options of every list and watch of obj's Go type to
// tweak: after the factory's own tweakListOptions, and after earlier tweaks of the type. If f never makes an
// informer of the type, the call has no effect and returns no error. It is safe for concurrent use.
//
// It returns an error if the informer of the type has been made, since its first list may
// have been sent. It also returns an error if obj is a list: pass an object of the type
// of the list's items.
func TweakListOptions(f Interface, obj runtime.Object, tweak func(*metav1.ListOptions)) error {
	o, err := ownerOf(f)
	switch {
	case err != nil:
		return err
	case obj == nil:
		return errors.New("the object that determines the type is nil")
	case isList(obj):
		return fmt.Errorf("a %T is a list, which no informer caches: pass an object of the type of its items", obj)
	case tweak == nil:
		return errNoFunction
	}
	return o.Tweak(reflect.TypeOf(obj), tweak)
}

func isList(obj runtime.Object) bool {
	_, list := obj.(metav1.ListInterface)
	return list
}
