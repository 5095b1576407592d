package unwrap

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// typed is a wrapper.
type typed struct{ cache.SharedIndexInformer }

func (t typed) Untyped() cache.SharedInformer { return t.SharedIndexInformer }

func newInformer() cache.SharedIndexInformer {
	return cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.ConfigMap{}, 0, cache.Indexers{})
}

func TestInnermostIsNil(t *testing.T) {
	for _, i := range []cache.SharedInformer{nil, typed{}, clientGoTyped(nil), typed{clientGoTyped(nil)}} {
		if inside := Innermost(i); inside != nil {
			t.Errorf("%T is in %T", inside, i)
		}
	}
}

// clientGoTyped is a wrapper of client-go's.
func clientGoTyped(i cache.SharedIndexInformer) cache.SharedIndexInformer {
	return cache.NewTypedSharedIndexInformer[*corev1.ConfigMap](i)
}

// unique is an informer of a type that can't be compared.
type unique struct {
	cache.SharedIndexInformer
	_ func()
}

func TestSame(t *testing.T) {
	ours, theirs := newInformer(), newInformer()
	for _, test := range []struct {
		a, b cache.SharedInformer
		want bool
	}{
		{ours, typed{ours}, true},
		{theirs, typed{theirs}, true},
		{typed{theirs}, typed{theirs}, true},
		{typed{typed{ours}}, ours, true},
		{ours, theirs, false},
		{newInformer(), theirs, false},
		{unique{theirs, nil}, unique{theirs, nil}, false},
		{typed{unique{theirs, nil}}, theirs, false},
		{nil, theirs, false},
		{theirs, clientGoTyped(theirs), true},
		{ours, clientGoTyped(typed{clientGoTyped(ours)}), true},
		{ours, clientGoTyped(theirs), false},
		{theirs, clientGoTyped(nil), false},
	} {
		if got := Same(test.a, test.b); got != test.want {
			t.Errorf("%T, %T: %t", test.a, test.b, got)
		}
	}
}
