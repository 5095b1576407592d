package clientsource_test

import (
	"context"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// panicking is a client whose lists and watches panic.
type panicking struct{}

func (panicking) List(context.Context, metav1.ListOptions) (*corev1.ConfigMapList, error) {
	panic("a list")
}
func (panicking) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	panic("a watch")
}

// panics reports whether f panics.
func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

// TestLimiterAndPanics checks that a list or a watch that panics releases its bytes and its place, which the
// next one needs.
func TestLimiterAndPanics(t *testing.T) {
	bodies := transport{}
	streaming := configMapClient(t, nil, func(c *rest.Config) { c.Transport = bodies })
	for name, limiter := range map[string]func() *listwatch.Limiter{
		"places": func() *listwatch.Limiter { return listwatch.NewLimiter(1) },
		"budget": func() *listwatch.Limiter { return listwatch.NewLimiter(1).WithBudget(1) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limiter := limiter()
				broken := clientsource.FromClient(reflect.TypeFor[*corev1.ConfigMap](),
					func() sources.Client[*corev1.ConfigMapList] { return panicking{} },
					clientsource.Options{Limiter: limiter})
				source := budgeted(streaming, limiter)
				list := func(item func()) func() {
					return func() {
						bodies[""] = strings.NewReader(
							`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},` +
								`"items":[` + configMap + "]}")
						each(t.Context(), source, metav1.ListOptions{}, func(any) error { item(); return nil })
					}
				}
				for what, f := range map[string]func(){
					"an item":  list(func() { panic("an item") }),
					"a client": func() { each(t.Context(), broken, metav1.ListOptions{}, nil) },
					"a watch":  func() { broken.Watch(t.Context(), initialEvents()) },
				} {
					if !panics(f) {
						t.Errorf("%s doesn't panic", what)
					}
					if limiter.Held() != 0 {
						t.Errorf("%d bytes held after the panic of %s", limiter.Held(), what)
					}
					items := 0
					list(func() { items++ })()
					if items != 1 {
						t.Errorf("%d items after the panic of %s", items, what)
					}
				}
			})
		})
	}
}

// several is an error of an uncomparable type.
type several []string

func (s several) Error() string { return strings.Join(s, ", ") }

// TestUncomparableError checks that a list that can't be read fails with the reader's error, even if its type
// isn't comparable.
func TestUncomparableError(t *testing.T) {
	c := configMapClient(t, nil, func(c *rest.Config) {
		c.Transport = transport{"": io.MultiReader(strings.NewReader(listHead+configMap),
			iotest.ErrReader(several{"cable", "pulled"}))}
	})
	n := 0
	_, err := each(t.Context(), budgeted(c, nil), metav1.ListOptions{}, func(any) error { n++; return nil })
	if err == nil || !strings.Contains(err.Error(), "cable, pulled") || n != 1 {
		t.Errorf("%d items, %v", n, err)
	}
}
