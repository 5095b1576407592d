package kwctrl_test

import (
	"context"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/runtime/informer"
)

// lateServer has at most one config map, last in ns. Its watches show a write only once that is released.
type lateServer struct {
	t      *testing.T
	events chan lateEvent

	mu      sync.Mutex
	version int // of the last write; encoder's lists have version 3
	last    lateEvent
}

type lateEvent struct {
	typ watch.EventType
	obj *corev1.ConfigMap
}

// release lets watches show the last write.
func (s *lateServer) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events <- s.last
}

func (s *lateServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := encoder{t: s.t, w: w, encoding: jsonEncoding}
	w.Header().Set("Content-Type", jsonEncoding.mediaType)
	query := r.URL.Query()
	switch typ := map[string]watch.EventType{
		http.MethodPost: watch.Added, http.MethodPut: watch.Modified, http.MethodDelete: watch.Deleted,
	}[r.Method]; {
	case typ != "":
		s.mu.Lock()
		defer s.mu.Unlock()
		s.version++
		s.last = lateEvent{typ, configMap("ns", "last", strconv.Itoa(s.version))}
		if typ == watch.Deleted {
			io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Success"}`)
			return
		}
		w.Write(out.encode(out.object(s.last.obj)))
	case query.Get("sendInitialEvents") != "":
		w.WriteHeader(http.StatusUnprocessableEntity)
	case query.Get("watch") == "":
		out.list()
	default:
		for {
			w.(http.Flusher).Flush()
			select {
			case e := <-s.events:
				out.event(e.typ, e.obj)
			case <-r.Context().Done():
				return
			}
		}
	}
}

// TestReadYourWrites checks controller-runtime's own option for clients over our caches: a read waits until
// the cache shows what the client wrote, also if the cache drops fields.
// Objects are typed: controller-runtime v0.25.2 doesn't wait for writes of unstructured ones, not on its own
// caches either.
func TestReadYourWrites(t *testing.T) {
	if !isV025() {
		t.Skip("controller-runtime v0.24 doesn't have the option")
	}
	ours := func(options informer.Options) cache.NewCacheFunc {
		return kwctrl.NewCaches(kwctrl.Options{Options: options}).NewCache
	}
	for name, newCache := range map[string]cache.NewCacheFunc{
		"upstream":     cache.New,
		"ours":         ours(informer.Options{}),
		"Drop":         ours(informer.Options{Drop: []string{"metadata.managedFields"}}),
		"MetadataOnly": ours(informer.Options{MetadataOnly: true}),
	} {
		t.Run(name, func(t *testing.T) { testReadYourWrites(t, newCache) })
	}
}

func testReadYourWrites(t *testing.T, newCache cache.NewCacheFunc) {
	server := &lateServer{t: t, events: make(chan lateEvent), version: 3}
	config := serve(t, server.ServeHTTP)
	shared := options()
	c, err := newCache(config, shared)
	if err != nil {
		t.Fatal(err)
	}
	reads := &client.CacheOptions{Reader: c}
	// By reflection, because v0.24 doesn't have the option.
	reflect.ValueOf(reads).Elem().FieldByName("EnableReadYourWritesConsistency").Set(reflect.ValueOf(new(true)))
	clients, err := client.New(config,
		client.Options{Scheme: shared.Scheme, Mapper: shared.Mapper, Cache: reads})
	if err != nil {
		t.Fatal(err)
	}
	ctx := start(t, c)

	key := client.ObjectKey{Namespace: "ns", Name: "last"}
	read := func(ctx context.Context, from client.Reader) string {
		obj := &corev1.ConfigMap{}
		err := from.Get(ctx, key, obj)
		switch {
		case apierrors.IsNotFound(err):
			return "not found"
		case err != nil:
			return err.Error()
		}
		return obj.GetResourceVersion()
	}
	before := "not found"
	for _, write := range []struct {
		name string
		do   func(*corev1.ConfigMap) error
		want string
	}{
		{"create", func(o *corev1.ConfigMap) error { return clients.Create(ctx, o) }, "4"},
		{"update", func(o *corev1.ConfigMap) error { return clients.Update(ctx, o) }, "5"},
		{"delete", func(o *corev1.ConfigMap) error { return clients.Delete(ctx, o) }, "not found"},
		{"recreate", func(o *corev1.ConfigMap) error { return clients.Create(ctx, o) }, "7"},
	} {
		obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		if before != "not found" {
			obj.ResourceVersion, obj.UID = before, "u-x"
		}
		if err := write.do(obj); err != nil {
			t.Fatalf("%s: %v", write.name, err)
		}
		if got := read(ctx, c); got != before {
			t.Errorf("%s: the cache has %s, want %s", write.name, got, before)
		}
		short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		if got := read(short, clients); !strings.Contains(got, context.DeadlineExceeded.Error()) {
			t.Errorf("%s: the cache doesn't have the write, and a read doesn't wait for it: %s", write.name, got)
		}
		cancel()
		server.release()
		if got := read(ctx, clients); got != write.want {
			t.Errorf("%s: a read after it: %s, want %s", write.name, got, write.want)
		}
		before = write.want
	}
}
