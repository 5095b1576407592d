package factory

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TweaksOf returns the tweak for an informer of obj's type: all, which is the factory's own and may be nil,
// followed by the type's tweaks from TweakListOptions. Generated code calls it.
func TweaksOf[F ~func(*metav1.ListOptions)](f any, obj runtime.Object, all F) F {
	o, ok := OwnerOf(f)
	if !ok {
		return all // TweakListOptions refuses such a factory.
	}
	return tweaksOf(o, obj, all)
}

func tweaksOf[F ~func(*metav1.ListOptions)](o Owner, obj runtime.Object, all F) F {
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
