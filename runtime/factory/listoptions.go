package factory

import (
	"fmt"
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TweakListOptions makes f, a generated factory, pass the options of every list
// and every watch of obj's type, and of no other, to tweak: after the factory's
// own tweakListOptions, and after those given before for the type. Only obj's Go
// type matters.
//
// It is an error when the informer of that type is there already: its first
// list may have been sent.
func TweakListOptions(f any, obj runtime.Object, tweak func(*metav1.ListOptions)) error {
	o, err := ownerOf(f)
	if err != nil {
		return err
	}
	return o.tweakType(reflect.TypeOf(obj), tweak)
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

// tweaks are the functions given for types. They have a lock of their own, since
// informers ask for them while the factory makes them.
type tweaks struct {
	mu     sync.Mutex
	byType map[reflect.Type][]func(*metav1.ListOptions)
}

func (f *Factory[C]) tweakType(t reflect.Type, tweak func(*metav1.ListOptions)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.informers[t] != nil {
		return fmt.Errorf("the informer of %v has been made already", t)
	}
	f.tweaks.mu.Lock()
	defer f.tweaks.mu.Unlock()
	if f.tweaks.byType == nil {
		f.tweaks.byType = map[reflect.Type][]func(*metav1.ListOptions){}
	}
	f.tweaks.byType[t] = append(f.tweaks.byType[t], tweak)
	return nil
}

func (f *Factory[C]) tweaksOf(t reflect.Type) []func(*metav1.ListOptions) {
	f.tweaks.mu.Lock()
	defer f.tweaks.mu.Unlock()
	return f.tweaks.byType[t]
}
