package factory_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/factory"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// TestDecoding checks that Drop and SetDecoding add up in any order, and that what OnCreate sets comes
// last.
func TestDecoding(t *testing.T) {
	drop := func(fields ...string) func(factory.Interface) error {
		return func(f factory.Interface) error { return factory.Drop(f, fields...) }
	}
	set := func(opts listwatch.DecodingOptions) func(factory.Interface) error {
		return func(f factory.Interface) error { return factory.SetDecoding(f, opts) }
	}
	onCreate := func(f factory.Interface) error {
		return factory.OnCreate(f, func(i cache.SharedIndexInformer) error {
			return informer.SetDecoding(i, listwatch.DecodingOptions{})
		})
	}
	const managedFields, data = "metadata.managedFields", "data"
	const both = managedFields + " " + data
	type calls = []func(factory.Interface) error
	noData := set(listwatch.DecodingOptions{Drop: []string{data}})
	limited := set(listwatch.DecodingOptions{Limiter: listwatch.NewLimiter(1)})
	metadataOnly := set(listwatch.DecodingOptions{MetadataOnly: true})
	for name, test := range map[string]struct {
		calls calls
		left  string // the fields
	}{
		"nothing":             {nil, both},
		"drop nothing":        {calls{drop()}, both},
		"drop":                {calls{drop(managedFields)}, data},
		"drop both":           {calls{drop(managedFields, data)}, ""},
		"drop twice":          {calls{drop(managedFields), drop(data)}, ""},
		"set":                 {calls{noData}, managedFields},
		"set twice":           {calls{noData, limited}, both},
		"drop, then set":      {calls{drop(managedFields), limited}, data},
		"set, then drop":      {calls{noData, drop(managedFields)}, ""},
		"metadata":            {calls{metadataOnly}, managedFields},
		"OnCreate comes last": {calls{onCreate, drop(managedFields, data)}, both},
	} {
		t.Run(name, func(t *testing.T) {
			_, c := serve(t)
			f := factory.New(0)
			for _, call := range test.calls {
				if err := call(f); err != nil {
					t.Fatal(err)
				}
			}
			i := f.InformerFor(&corev1.ConfigMap{}, func(any, time.Duration) cache.SharedIndexInformer {
				return gen.NewShared[*corev1.ConfigMap](func() gen.ResourceClient[*corev1.ConfigMapList] {
					return c
				}, gen.Options{Client: c})
			})
			run(t, f)
			obj, _, _ := i.GetStore().GetByKey("one/a")
			one, ok := obj.(*corev1.ConfigMap)
			if !ok {
				t.Fatalf("got %v", obj)
			}
			var left []string
			if len(one.ManagedFields) > 0 {
				left = append(left, managedFields)
			}
			if len(one.Data) > 0 {
				left = append(left, data)
			}
			if got := strings.Join(left, " "); got != test.left {
				t.Errorf("left are %q, want %q", got, test.left)
			}
		})
	}
}

// TestDecodingRefuses checks the errors for fields without names, and for calls that come too late.
func TestDecodingRefuses(t *testing.T) {
	f := newGenerated(open())
	for _, fields := range [][]string{{""}, {"metadata.managedFields", "metadata."}, {".data"}, {"spec..env"}} {
		err := factory.Drop(f, fields...)
		if err == nil || !strings.Contains(err.Error(), "part of its name is missing") {
			t.Errorf("%q: error %v", fields, err)
		}
	}
	f.informers.InformerFor(&corev1.Secret{}, secrets)
	for name, err := range map[string]error{
		"Drop":        factory.Drop(f, "data"),
		"SetDecoding": factory.SetDecoding(f, listwatch.DecodingOptions{}),
	} {
		if err == nil || !strings.Contains(err.Error(), "has been made already: call "+name+" before the first") {
			t.Errorf("%s, too late: %v", name, err)
		}
	}
}

// TestDecodingOfForeignInformers checks that an informer that doesn't decode objects itself is reported.
func TestDecodingOfForeignInformers(t *testing.T) {
	var reported []error
	handlers := utilruntime.ErrorHandlers
	defer func() { utilruntime.ErrorHandlers = handlers }()
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{
		func(_ context.Context, err error, _ string, _ ...any) { reported = append(reported, err) },
	}
	f := newGenerated(open())
	if err := factory.Drop(f, "data"); err != nil {
		t.Fatal(err)
	}
	f.informers.InformerFor(&corev1.Pod{}, func(*clientset, time.Duration) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, nil)
	})
	if len(reported) != 1 || !strings.Contains(reported[0].Error(), "doesn't decode objects itself") {
		t.Errorf("reported %v", reported)
	}
}
