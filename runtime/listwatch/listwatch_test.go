package listwatch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"

	"github.com/kubewright/kubewright/runtime/listwatch"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

func TestMain(m *testing.M) {
	runtimetest.WithoutErrorBackoff()
	goleak.VerifyTestMain(m)
}

func collect[T any](t *testing.T, s listwatch.Source[T], opts metav1.ListOptions) ([]T, listwatch.ListMeta) {
	t.Helper()
	var items []T
	meta, err := s.List(t.Context(), opts, func(obj T) error { items = append(items, obj); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return items, meta
}

// lister is a lister-watcher with a fixed list.
func lister(list runtime.Object) *cache.ListWatch {
	return &cache.ListWatch{ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
		return list, nil
	}}
}

// pointerList is a list of pointers, as some API repositories have.
type pointerList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []*corev1.ConfigMap
}

func (l *pointerList) DeepCopyObject() runtime.Object { c := *l; return &c }

// All shapes of lists give the same objects, typed or not.
func TestListShapes(t *testing.T) {
	a, b := corev1.ConfigMap{}, corev1.ConfigMap{}
	a.Name, b.Name = "a", "b"
	meta := metav1.ListMeta{ResourceVersion: "7", Continue: "more"}
	for name, list := range map[string]runtime.Object{
		"structs":    &corev1.ConfigMapList{ListMeta: meta, Items: []corev1.ConfigMap{a, b}},
		"pointers":   &pointerList{ListMeta: meta, Items: []*corev1.ConfigMap{&a, &b}},
		"extensions": &metav1.List{ListMeta: meta, Items: []runtime.RawExtension{{Object: &a}, {Object: &b}}},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(names []string, m listwatch.ListMeta) {
				if strings.Join(names, "") != "ab" || m.ResourceVersion != "7" || m.Continue != "more" {
					t.Errorf("%q, %+v", names, m)
				}
			}
			var names []string
			typed, m := collect(t, listwatch.FromListerWatcher[*corev1.ConfigMap](lister(list), nil), metav1.ListOptions{})
			for _, obj := range typed {
				names = append(names, obj.Name)
			}
			check(names, m)
			names = nil
			objects, m := collect(t, listwatch.FromListerWatcher[runtime.Object](lister(list), nil), metav1.ListOptions{})
			for _, obj := range objects {
				names = append(names, obj.(*corev1.ConfigMap).Name)
			}
			check(names, m)
		})
	}
	t.Run("unstructured", func(t *testing.T) {
		list := &unstructured.UnstructuredList{Items: []unstructured.Unstructured{{Object: map[string]any{"kind": "A"}}}}
		list.SetResourceVersion("7")
		items, m := collect(t, listwatch.FromListerWatcher[any](lister(list), nil), metav1.ListOptions{})
		if len(items) != 1 || items[0].(*unstructured.Unstructured).GetKind() != "A" || m.ResourceVersion != "7" {
			t.Errorf("%v, %+v", items, m)
		}
	})
}

func TestBadLists(t *testing.T) {
	table := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "Table"}}
	for want, list := range map[string]runtime.Object{
		"unsupported list gvk":              table,
		"unable to understand list result":  &corev1.ConfigMap{},
		"item 0 of *v1.SecretList is a *v1": &corev1.SecretList{Items: make([]corev1.Secret, 1)},
	} {
		_, err := listwatch.FromListerWatcher[*corev1.ConfigMap](lister(list), nil).
			List(t.Context(), metav1.ListOptions{}, func(*corev1.ConfigMap) error { return nil })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestItemErrorEndsList(t *testing.T) {
	full := errors.New("full")
	list := &corev1.ConfigMapList{Items: make([]corev1.ConfigMap, 3)}
	calls := 0
	_, err := listwatch.FromListerWatcher[any](lister(list), nil).
		List(t.Context(), metav1.ListOptions{}, func(any) error { calls++; return full })
	if !errors.Is(err, full) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// One item that is kept doesn't keep its list.
func TestItemsApart(t *testing.T) {
	kept := func() *corev1.ConfigMap {
		list := &corev1.ConfigMapList{Items: make([]corev1.ConfigMap, 2)}
		collected := make(chan struct{})
		defer func() {
			for range 100 {
				goruntime.GC()
				select {
				case <-collected:
					return
				default:
				}
			}
			t.Error("the list's array is still there")
		}()
		goruntime.AddCleanup(&list.Items[0], func(c chan struct{}) { close(c) }, collected)
		items, _ := collect(t, listwatch.FromListerWatcher[*corev1.ConfigMap](lister(list), nil), metav1.ListOptions{})
		list.Items = nil
		return items[1]
	}()
	goruntime.KeepAlive(kept)
}

type client = listwatch.Client[*corev1.ConfigMapList]

func server() *runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList] {
	return runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
}

// The client is asked for when it is needed, each time, and options are tweaked.
func TestFromClient(t *testing.T) {
	var s client
	asked := 0
	source := listwatch.FromClient[*corev1.ConfigMap](func() client { asked++; return s }, listwatch.ClientOptions{
		TweakListOptions: func(o *metav1.ListOptions) { o.Continue = "" },
	})
	if asked != 0 {
		t.Error("the client was asked for at construction")
	}
	if _, err := source.List(t.Context(), metav1.ListOptions{}, nil); err == nil {
		t.Error("no error without a client")
	}
	if _, err := source.Watch(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("no error without a client")
	}
	real := server()
	real.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	s = real
	if items, _ := collect(t, source, metav1.ListOptions{Continue: "nonsense"}); len(items) != 1 || items[0].Name != "a" {
		t.Errorf("%v", items)
	}
	stream, err := source.Watch(t.Context(), metav1.ListOptions{Continue: "nonsense"})
	if err != nil {
		t.Fatal(err)
	}
	stream.Stop()
	for _, r := range real.Requests() {
		if r.Options.Continue != "" {
			t.Errorf("%s wasn't tweaked", r)
		}
	}
	if asked != 4 {
		t.Errorf("asked for the client %d times for four requests", asked)
	}
	real.Fail("LIST", apierrors.NewUnauthorized("who?"))
	if _, err := source.List(t.Context(), metav1.ListOptions{}, nil); !apierrors.IsUnauthorized(err) {
		t.Error(err)
	}
	real.Fail("WATCH", apierrors.NewUnauthorized("who?"))
	if _, err := source.Watch(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Error(err)
	}
}

// streaming is a client whose List and Watch nobody should call.
type streaming struct {
	client
	real *configMaps
}

func (s streaming) RESTResource() listwatch.RESTResource { return s.real.RESTResource() }

func TestStreamingClient(t *testing.T) {
	c := streaming{real: configMapClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") == "" {
			fmt.Fprintf(w, `{"apiVersion":"v1","kind":"ConfigMapList","metadata":{"resourceVersion":"5"},"items":[%s]}`, configMap)
			return
		}
		fmt.Fprintf(w, `{"type":"ADDED","object":%s}`, strings.Replace(configMap, `{`, `{"apiVersion":"v1","kind":"ConfigMap",`, 1))
	})}
	source := listwatch.FromClient[*corev1.ConfigMap](func() client { return c }, listwatch.ClientOptions{})
	if items, _ := collect(t, source, metav1.ListOptions{}); len(items) != 1 || items[0].Name != "a" {
		t.Errorf("%v", items)
	}
	stream, err := source.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Stop()
	if e, err := stream.Next(t.Context()); err != nil || e.Object.Name != "a" {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestWatchListSemantics(t *testing.T) {
	no := server()
	no.NoWatchListClient()
	for name, test := range map[string]struct {
		source any
		want   bool
	}{
		"clientset without":      {listwatch.FromClient[*corev1.ConfigMap](func() client { return nil }, listwatch.ClientOptions{Client: no}), true},
		"clientset with":         {listwatch.FromClient[*corev1.ConfigMap](func() client { return nil }, listwatch.ClientOptions{Client: server()}), false},
		"no clientset":           {listwatch.FromClient[*corev1.ConfigMap](func() client { return nil }, listwatch.ClientOptions{}), false},
		"lister-watcher without": {listwatch.FromListerWatcher[any](no.ListerWatcher(), nil), true},
		"lister-watcher with":    {listwatch.FromListerWatcher[any](server().ListerWatcher(), nil), false},
	} {
		if got := watchlist.DoesClientNotSupportWatchListSemantics(test.source); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// watched is a stream of what is sent on the fake.
func watched[T any](t *testing.T, example any) (listwatch.Stream[T], *watch.FakeWatcher) {
	fake := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 10})
	s, err := listwatch.FromListerWatcher[T](&cache.ListWatch{
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return fake, nil },
	}, example).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s, fake
}

func named(name, version string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, ResourceVersion: version}
}

func TestEvents(t *testing.T) {
	s, fake := watched[*corev1.ConfigMap](t, &corev1.ConfigMap{})
	end := &corev1.ConfigMap{ObjectMeta: named("", "5")}
	end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	fake.Add(&corev1.ConfigMap{ObjectMeta: named("a", "1")})
	fake.Modify(&corev1.ConfigMap{ObjectMeta: named("a", "2")})
	fake.Delete(&corev1.ConfigMap{ObjectMeta: named("a", "3")})
	fake.Action(watch.Bookmark, &corev1.ConfigMap{ObjectMeta: named("", "4")})
	fake.Action(watch.Bookmark, end)
	fake.Error(&metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: 410})
	for i, want := range []string{"ADDED a@1", "MODIFIED a@2", "DELETED a@3", "BOOKMARK @4", "BOOKMARK @5 end"} {
		e, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%s @%s", e.Type, e.ResourceVersion)
		if e.Object != nil {
			got = fmt.Sprintf("%s %s@%s", e.Type, e.Object.Name, e.ResourceVersion)
		}
		if e.InitialEventsEnd {
			got += " end"
		}
		if got != want {
			t.Errorf("event %d is %s, want %s", i, got, want)
		}
	}
	if _, err := s.Next(t.Context()); !apierrors.IsResourceExpired(err) {
		t.Errorf("%v for an expired status", err)
	}
	fake.Stop()
	if _, err := s.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("%v for a closed stream", err)
	}
}

// What isn't an object of the resource is skipped.
func TestStrayObjects(t *testing.T) {
	kind := func(kind string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetAPIVersion("example.com/v1")
		u.SetKind(kind)
		return u
	}
	table := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "Table"}}
	good := &corev1.ConfigMap{ObjectMeta: named("good", "")}
	for name, test := range map[string]struct {
		example     any
		stray, want runtime.Object
	}{
		"type":              {&corev1.ConfigMap{}, &corev1.Secret{}, good},
		"kind":              {kind("Widget"), kind("Gadget"), kind("Widget")},
		"table":             {nil, table, good},
		"no kind expected":  {&unstructured.Unstructured{}, good, kind("Gadget")},
		"no object's meta":  {nil, &corev1.ConfigMapList{}, good},
		"nothing expected":  {nil, &metav1.Status{}, &corev1.Secret{}},
		"another interface": {nil, &corev1.PodProxyOptions{}, good},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			s, fake := watched[runtime.Object](t, test.example)
			fake.Add(test.stray)
			fake.Add(test.want)
			if e, err := s.Next(t.Context()); err != nil || e.Object != test.want {
				t.Errorf("%+v, %v", e, err)
			}
		})
	}
	t.Run("a narrower T", func(t *testing.T) {
		s, fake := watched[*corev1.ConfigMap](t, nil)
		fake.Add(&corev1.Secret{})
		fake.Add(good)
		if e, err := s.Next(t.Context()); err != nil || e.Object != good {
			t.Errorf("%+v, %v", e, err)
		}
	})
}

// A stream ends with the reader's context and with Stop, even while it is read.
func TestStreamEnds(t *testing.T) {
	s, _ := watched[any](t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	for want, end := range map[error]func(){context.Canceled: cancel} {
		var reading sync.WaitGroup
		reading.Go(func() {
			if _, err := s.Next(ctx); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		})
		end()
		reading.Wait()
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		if _, err := s.Next(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("%v after Stop", err)
		}
	})
	s.Stop()
	s.Stop()
	reading.Wait()
}
