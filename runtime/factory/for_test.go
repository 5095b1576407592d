package factory_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	resources "github.com/kubewright/kubewright/runtime/client"
	"github.com/kubewright/kubewright/runtime/factory"
	clients "github.com/kubewright/kubewright/runtime/gen/client"
	genfactory "github.com/kubewright/kubewright/runtime/gen/factory"
	"github.com/kubewright/kubewright/runtime/gen/fake"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/lister"
)

// TestFor checks that an informer of For belongs to the factory, is typed and streamed, and has the
// index by namespace. It is made when it is requested.
func TestFor(t *testing.T) {
	server, c := serve(t)
	f := factory.New(0)
	made, err := factory.For(f, c)
	if err != nil {
		t.Fatal(err)
	}
	// This call comes early enough, because the informer has not been requested yet.
	if err := factory.Configure(f, informer.Options{
		Drop:             []string{"metadata.managedFields"},
		TweakListOptions: func(o *metav1.ListOptions) { o.LabelSelector = "a=b" },
	}); err != nil {
		t.Fatal(err)
	}
	added := make(chan string, 2)
	_, err = made.TypedInformer().AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.ConfigMap]{
		AddFunc: func(cm *corev1.ConfigMap) { added <- cm.Namespace },
	})
	if err != nil {
		t.Fatal(err)
	}
	run(t, f)
	if got := []string{<-added, <-added}; !slices.Contains(got, "one") || !slices.Contains(got, "two") {
		t.Errorf("added in %v", got)
	}
	all, err := made.Lister().List(labels.Everything())
	if err != nil || len(all) != 2 {
		t.Errorf("listed %v, %v", all, err)
	}
	one, err := made.Lister().ByNamespace("one").Get("a")
	if err != nil || one.Namespace != "one" || one.Data["k"] != "v" {
		t.Errorf("got %v, %v", one, err)
	}
	if one.ManagedFields != nil {
		t.Error("not streamed: there are managed fields")
	}
	_, err = made.Lister().ByNamespace("three").Get("a")
	if !apierrors.IsNotFound(err) || err.Error() != `configmaps "a" not found` {
		t.Errorf("error %v", err)
	}
	found, err := made.Informer().GetIndexer().ByIndex(cache.NamespaceIndex, "two")
	if err != nil || len(found) != 1 {
		t.Errorf("by namespace %v, %v", found, err)
	}
	if err := lister.WaitForOwnWrites(t.Context(), made.Lister()); err != nil {
		t.Errorf("writes of the client: %v", err)
	}
	if statuses, err := factory.Statuses(f); err != nil || len(statuses) != 1 || statuses[0].Objects != 2 {
		t.Errorf("statuses %+v, %v", statuses, err)
	}
	for _, request := range server.seen() {
		if request != "/api/v1/configmaps a=b" {
			t.Errorf("requested %s", request)
		}
	}

	again, err := factory.For(f, c)
	if err != nil || again.Informer() != made.Informer() {
		t.Errorf("asked again, it is another informer: %v", err)
	}
	first := made.Informer()
	if err := factory.Release(f, first); err != nil {
		t.Error(err)
	}
	if made.Informer() == first {
		t.Error("released, it is still the factory's")
	}
}

// TestForNamespace checks that the client's namespace is the informer's. A factory has one informer
// for a type, so it refuses another namespace, or resource, of that type.
func TestForNamespace(t *testing.T) {
	server, c := serve(t)
	f := factory.New(0)
	made, err := factory.For(f, c.Namespace("one"))
	if err != nil {
		t.Fatal(err)
	}
	made.Informer()
	run(t, f)
	if len(server.seen()) == 0 || server.seen()[0] != "/api/v1/namespaces/one/configmaps " {
		t.Errorf("requested %v", server.seen())
	}
	if again, err := factory.For(f, c.Namespace("one")); err != nil || again.Informer() != made.Informer() {
		t.Errorf("the same namespace: %v", err)
	}
	renamed, err := resources.For[*corev1.ConfigMap, *corev1.ConfigMapList](
		&rest.Config{Host: "http://server"}, coreScheme, resources.ResourceName("maps"))
	if err != nil {
		t.Fatal(err)
	}
	_, all := factory.For(f, c)
	_, other := factory.For(f, c.Namespace("two"))
	_, another := factory.For(f, renamed.Namespace("one"))
	for want, err := range map[string]error{
		"for configmaps in namespace one: use another factory for configmaps":                  all,
		"for configmaps in namespace one: use another factory for configmaps in namespace two": other,
		"use another factory for maps in namespace one":                                        another,
	} {
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestForInGeneratedFactory checks that an informer of For becomes one of a generated factory's, with
// the factory's settings.
func TestForInGeneratedFactory(t *testing.T) {
	_, c := serve(t)
	f := newGenerated(open())
	f.informers.SetTransform(func(obj any) (any, error) {
		if cm, ok := obj.(*corev1.ConfigMap); ok {
			cm.Data = map[string]string{"transformed": "yes"}
		}
		return obj, nil
	})
	created := 0
	count := func(cache.SharedIndexInformer) error { created++; return nil }
	if err := factory.Configure(f, informer.Options{OnCreate: count}); err != nil {
		t.Fatal(err)
	}
	f.informers.InformerFor(&corev1.Secret{}, secrets)
	made, err := factory.For(f, c)
	if err != nil {
		t.Fatal(err)
	}
	if i := made.Informer(); i != f.informers.InformerFor(&corev1.ConfigMap{}, configMaps) {
		t.Error("the type has two informers")
	}
	run(t, f.informers)
	one, err := made.Lister().Get("one/a")
	if err != nil || one.Data["transformed"] != "yes" {
		t.Errorf("got %v, %v", one, err)
	}
	if statuses, err := factory.Statuses(f); err != nil || len(statuses) != 2 || created != 2 {
		t.Errorf("%d made, statuses %+v, %v", created, statuses, err)
	}
}

// TestForSettings checks that the informer has the resync period of its type, and the factory's name
// in metrics.
func TestForSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name, err := cache.NewInformerName("for-settings")
		if err != nil {
			t.Fatal(err)
		}
		f := factory.New(time.Hour)
		f.SetInformerName(name)
		f.SetCustomResync(map[metav1.Object]time.Duration{&corev1.ConfigMap{}: time.Minute})
		made, err := factory.For(f, fakes(t, "", configMap("a")))
		if err != nil {
			t.Fatal(err)
		}
		resyncs := 0
		if _, err := made.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			UpdateFunc: func(_, _ any) { resyncs++ },
		}); err != nil {
			t.Fatal(err)
		}
		run(t, f)
		status, _ := informer.StatusOf(made.Informer())
		if !strings.Contains(status.Name, "for-settings") {
			t.Errorf("its name is %q", status.Name)
		}
		bubble.Advance(10*time.Minute + time.Second)
		if resyncs < 9 || resyncs > 11 {
			t.Errorf("%d resyncs in 10 minutes", resyncs)
		}
	})
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
}

// fakes returns a fake client that is typed like those of client.For.
func fakes(t *testing.T, namespace string, objects ...runtime.Object) *fake.ClientWithListAndApply[
	*corev1.ConfigMap, *corev1.ConfigMapList, clients.Configuration] {
	t.Helper()
	f := &clienttesting.Fake{}
	fake.NewTracker(f, coreScheme, serializer.NewCodecFactory(coreScheme).UniversalDecoder(), objects...)
	return fake.NewWithListAndApply[*corev1.ConfigMap, *corev1.ConfigMapList, clients.Configuration](
		f, namespace, corev1.SchemeGroupVersion.WithResource("configmaps"),
		corev1.SchemeGroupVersion.WithKind("ConfigMap"))
}

// TestForFake checks that a fake client can take the place of the client of client.For.
func TestForFake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fakes(t, "ns", configMap("old"))
		f := factory.New(0)
		made, err := factory.For(f, c)
		if err != nil {
			t.Fatal(err)
		}
		maps := made.Lister()
		run(t, f)
		synctest.Wait() // until the watch is open, before which the fake forgets events
		if _, err := c.Create(t.Context(), configMap("new"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, name := range []string{"old", "new"} {
			if _, err := maps.ByNamespace("ns").Get(name); err != nil {
				t.Error(err)
			}
		}
		if _, err := factory.For(f, fakes(t, "other")); err == nil {
			t.Error("no error for another namespace")
		}
	})
}

// TestForRefuses checks that the error for a factory that For can't use gives the reason.
func TestForRefuses(t *testing.T) {
	c := fakes(t, "")
	byResource := struct {
		foreign
		genfactory.Handle
	}{Handle: (&genfactory.Set[schema.GroupVersionResource]{}).Handle()}
	_, none := factory.For(nil, c)
	_, unsupported := factory.For(foreign{}, c)
	_, untyped := factory.For(byResource, c)
	_, noClient := factory.For[*corev1.ConfigMap, *corev1.ConfigMapList](factory.New(0), nil)
	for want, err := range map[string]error{
		"make an informer of *v1.ConfigMap: the factory is nil": none,
		factory.ErrUnsupportedFactory.Error():                   unsupported,
		"doesn't find its informers by their type":              untyped,
		"the client is nil":                                     noClient,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
