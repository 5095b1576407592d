package factory_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/factory"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
)

var configMapResource = corev1.SchemeGroupVersion.WithResource("configmaps")

// TestConfigure checks which options the informer of a factory gets: the factory's, those of an override for
// its resource as a whole, and in place of them what OnCreate sets.
func TestConfigure(t *testing.T) {
	const managedFields, data = "metadata.managedFields", "data"
	const both = managedFields + " " + data
	drop := func(fields ...string) informer.Options { return informer.Options{Drop: fields} }
	overridden := func(all, one informer.Options, resource string) informer.Options {
		all.Overrides = map[schema.GroupResource]informer.Options{corev1.Resource(resource): one}
		return all
	}
	alone := informer.Options{Drop: []string{data}, OnCreate: func(i cache.SharedIndexInformer) error {
		return informer.Configure(i, drop(managedFields))
	}}
	for name, test := range map[string]struct {
		options []informer.Options
		left    string // the fields
	}{
		"nothing":        {nil, both},
		"the zero value": {[]informer.Options{{}}, both},
		"drop":           {[]informer.Options{drop(managedFields)}, data},
		"drop both":      {[]informer.Options{drop(managedFields, data)}, ""},
		"the last call":  {[]informer.Options{drop(managedFields), drop(data)}, managedFields},
		"metadata":       {[]informer.Options{{MetadataOnly: true}}, managedFields},
		"an override": {
			[]informer.Options{overridden(drop(managedFields), drop(data), "configmaps")}, managedFields,
		},
		"an empty override":   {[]informer.Options{overridden(drop(data), drop(), "configmaps")}, both},
		"another's override":  {[]informer.Options{overridden(drop(managedFields), drop(data), "pods")}, data},
		"OnCreate comes last": {[]informer.Options{alone}, data},
	} {
		t.Run(name, func(t *testing.T) {
			_, c := serve(t)
			f := factory.New(0)
			for _, options := range test.options {
				if err := factory.Configure(f, options); err != nil {
					t.Fatal(err)
				}
			}
			i := f.InformerFor(&corev1.ConfigMap{}, func(any, time.Duration) cache.SharedIndexInformer {
				return gen.NewShared[*corev1.ConfigMap](func() gen.ResourceClient[*corev1.ConfigMapList] {
					return c
				}, gen.Options{Client: c, Resource: configMapResource})
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

// TestTweakListOptions checks that the tweak of the options comes after the one that the informer was made
// with, and that an override's takes its place.
func TestTweakListOptions(t *testing.T) {
	add := func(text string) func(*metav1.ListOptions) {
		return func(o *metav1.ListOptions) { o.LabelSelector += text }
	}
	for _, test := range []struct {
		resource, want string
	}{{"pods", "a,b"}, {"configmaps", "a,c"}} {
		s, c := serve(t)
		f := factory.New(0)
		if err := factory.Configure(f, informer.Options{
			TweakListOptions: add(",b"),
			Overrides: map[schema.GroupResource]informer.Options{
				corev1.Resource("configmaps"): {TweakListOptions: add(",c")},
			},
		}); err != nil {
			t.Fatal(err)
		}
		f.InformerFor(&corev1.ConfigMap{}, func(any, time.Duration) cache.SharedIndexInformer {
			return gen.NewShared[*corev1.ConfigMap](func() gen.ResourceClient[*corev1.ConfigMapList] { return c },
				gen.Options{Client: c, Resource: corev1.SchemeGroupVersion.WithResource(test.resource),
					TweakListOptions: add("a")})
		})
		run(t, f)
		for _, request := range s.seen() {
			if !strings.HasSuffix(request, " "+test.want) {
				t.Errorf("%s: request %s, want the selector %s", test.resource, request, test.want)
			}
		}
	}
}

// TestUnmatchedOverridesAreLogged checks that the first start, and no other, logs the override of which no
// informer was made.
func TestUnmatchedOverridesAreLogged(t *testing.T) {
	var logged []string
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), funcr.New(func(_, line string) {
		if strings.Contains(line, "override") { // logged by StartWithContext itself
			logged = append(logged, line)
		}
	}, funcr.Options{})))
	_, c := serve(t)
	f := factory.New(0)
	defer f.Shutdown()
	defer cancel()
	if err := factory.Configure(f, informer.Options{Overrides: map[schema.GroupResource]informer.Options{
		corev1.Resource("configmaps"): {}, corev1.Resource("pods"): {},
	}}); err != nil {
		t.Fatal(err)
	}
	f.InformerFor(&corev1.ConfigMap{}, func(any, time.Duration) cache.SharedIndexInformer {
		return gen.NewShared[*corev1.ConfigMap](func() gen.ResourceClient[*corev1.ConfigMapList] { return c },
			gen.Options{Client: c, Resource: configMapResource})
	})
	for range 2 {
		f.StartWithContext(ctx)
	}
	if len(logged) != 1 || !strings.Contains(logged[0], "pods") {
		t.Errorf("logged %q", logged)
	}
}

// TestConfigureRefuses checks the errors for options without a meaning, and for those that come too late.
func TestConfigureRefuses(t *testing.T) {
	f := newGenerated(open())
	pods := corev1.Resource("pods")
	inside := informer.Options{Overrides: map[schema.GroupResource]informer.Options{pods: {}}}
	for want, options := range map[string]informer.Options{
		"part of its name is missing":     {Drop: []string{"metadata."}},
		"drop the field \"\"":             {Drop: []string{""}},
		"drop the field \"metadata.uid\"": {Drop: []string{"metadata.managedFields", "metadata.uid"}},
		"drop the field \"metadata\"":     {Drop: []string{"metadata"}},
		"MutationSample is -1":            {MutationSample: -1},
		"the override for pods has Overrides of its own": {
			Overrides: map[schema.GroupResource]informer.Options{pods: inside}},
		"an override is for no resource": {Overrides: map[schema.GroupResource]informer.Options{{}: {}}},
		"the override for pods: SilenceTimeout is -1ns": {
			Overrides: map[schema.GroupResource]informer.Options{pods: {SilenceTimeout: -1}}},
	} {
		if err := factory.Configure(f, options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	i := f.informers.InformerFor(&corev1.Secret{}, secrets)
	called := false
	err := factory.Configure(f, informer.Options{
		OnCreate: func(cache.SharedIndexInformer) error { called = true; return nil }})
	if !errors.Is(err, informer.ErrTooLate) ||
		!strings.Contains(err.Error(), "the informer of *v1.Secret has been made already") {
		t.Errorf("too late: %v", err)
	}
	f.informers.InformerFor(&corev1.ConfigMap{}, configMaps)
	if called {
		t.Error("what was refused was done")
	}
	setUp := func(cache.SharedIndexInformer) error { return nil }
	for what, err := range map[string]error{
		"OnCreate":  informer.Configure(i, informer.Options{OnCreate: setUp}),
		"Overrides": informer.Configure(i, inside),
	} {
		if err == nil || !strings.Contains(err.Error(), "are for factories") {
			t.Errorf("%s of one informer: %v", what, err)
		}
	}
}

// TestConfigureForeignInformers checks that an informer that can't be configured is reported, but not if only
// OnCreate is set.
func TestConfigureForeignInformers(t *testing.T) {
	var reported []error
	handlers := utilruntime.ErrorHandlers
	defer func() { utilruntime.ErrorHandlers = handlers }()
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{
		func(_ context.Context, err error, _ string, _ ...any) { reported = append(reported, err) },
	}
	f := newGenerated(open())
	if err := factory.Configure(f, informer.Options{Drop: []string{"data"}}); err != nil {
		t.Fatal(err)
	}
	f.informers.InformerFor(&corev1.Pod{}, func(*clientset, time.Duration) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, nil)
	})
	if len(reported) != 1 || !errors.Is(reported[0], informer.ErrUnsupportedInformer) {
		t.Errorf("reported %v", reported)
	}

	reported = nil
	created := 0
	f = newGenerated(open())
	if err := factory.Configure(f, informer.Options{
		OnCreate: func(cache.SharedIndexInformer) error { created++; return nil }}); err != nil {
		t.Fatal(err)
	}
	f.informers.InformerFor(&corev1.Pod{}, func(*clientset, time.Duration) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, nil)
	})
	if created != 1 || len(reported) > 0 {
		t.Errorf("OnCreate alone: called %d times, reported %v", created, reported)
	}
}
