package factory_test

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/factory"
	genfactory "github.com/kubewright/kubewright/runtime/gen/factory"
)

// TestTweakListOptions checks that the tweaks of a type apply to that type, in the order of the calls, after
// the factory's. Once the informer has been made, a tweak is refused.
func TestTweakListOptions(t *testing.T) {
	f := newGenerated(open())
	add := func(text string) func(*metav1.ListOptions) {
		return func(o *metav1.ListOptions) { o.LabelSelector += text }
	}
	selector := func(tweak func(*metav1.ListOptions)) string {
		if tweak == nil {
			return "nothing"
		}
		var options metav1.ListOptions
		tweak(&options)
		return options.LabelSelector
	}
	for _, text := range []string{"b", "c"} {
		if err := factory.TweakListOptions(f, &corev1.Pod{}, add(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ want, got string }{
		{"abc", selector(genfactory.TweaksOf(f, &corev1.Pod{}, add("a")))},
		{"bc", selector(genfactory.TweaksOf[func(*metav1.ListOptions)](f, &corev1.Pod{}, nil))},
		{"a", selector(genfactory.TweaksOf(f, &corev1.Node{}, add("a")))},
		{"nothing", selector(genfactory.TweaksOf[func(*metav1.ListOptions)](f, &corev1.Node{}, nil))},
		{"a", selector(genfactory.TweaksOf("somebody's", &corev1.Pod{}, add("a")))},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if err := factory.TweakListOptions(
		foreign{}, &corev1.Pod{}, add("a"),
	); !errors.Is(err, factory.ErrUnsupportedFactory) {
		t.Errorf("a factory of another make: %v", err)
	}
	for what, err := range map[string]error{
		"a nil object":   factory.TweakListOptions(f, nil, add("a")),
		"a nil list":     factory.TweakListOptions(f, (*corev1.PodList)(nil), add("a")),
		"a list":         factory.TweakListOptions(f, &corev1.PodList{}, add("a")),
		"a nil function": factory.TweakListOptions(f, &corev1.Node{}, nil),
		"OnCreate nil":   factory.OnCreate(f, nil),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	f.informers.InformerFor(&corev1.Secret{}, secrets)
	if err := factory.TweakListOptions(f, &corev1.Secret{}, add("late")); err == nil {
		t.Error("no error for an informer that is there")
	}
	called := false
	err := factory.OnCreate(f, func(cache.SharedIndexInformer) error { called = true; return nil })
	if err == nil || !strings.Contains(err.Error(), "the informer of *v1.Secret has been made already") {
		t.Errorf("adjusting too late: %v", err)
	}
	f.informers.InformerFor(&corev1.ConfigMap{}, configMaps)
	if called {
		t.Error("what was refused was done")
	}
}
