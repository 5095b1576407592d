package ownwrites

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubewright/kubewright/runtime/internal/observe"
	"github.com/kubewright/kubewright/runtime/queue"
)

// fixed is a cache that shows what a benchmark sets.
type fixed struct {
	version string
	uids    map[string]types.UID
}

func (*fixed) Observe(observe.Observer)              {}
func (f *fixed) Version() string                     { return f.version }
func (*fixed) Resource() schema.GroupVersionResource { return pods.WithVersion("v1") }
func (*fixed) Running() bool                         { return true }
func (*fixed) Key(namespace, name string) string     { return namespace + "/" + name }
func (f *fixed) UID(key string) (types.UID, bool)    { uid, ok := f.uids[key]; return uid, ok }
func (*fixed) Scope() observe.Scope                  { return observe.Scope{} }
func (*fixed) Selects(metav1.Object) bool            { return true }

var pods = schema.GroupResource{Resource: "pods"}

func newWatched(caches ...*fixed) (t *Tracker, ws []*watched) {
	t = &Tracker{informers: map[schema.GroupResource][]*watched{}}
	for n, c := range caches {
		w := &watched{tracker: t, cache: c, name: strconv.Itoa(n), removals: map[string]*removal{}}
		t.informers[pods] = append(t.informers[pods], w)
		ws = append(ws, w)
	}
	return t, ws
}

// BenchmarkEmptyReconcile is the way of an item through a queue, with its context, when nothing is written.
func BenchmarkEmptyReconcile(b *testing.B) {
	t, _ := newWatched(&fixed{version: "1"})
	for name, q := range map[string]*queue.Queue[string]{
		"without": queue.New(queue.Config[string]{}),
		"with":    NewQueue(t, queue.Config[string]{}),
	} {
		b.Run(name, func(b *testing.B) {
			defer q.ShutDown()
			b.ReportAllocs()
			ctx := b.Context()
			for b.Loop() {
				q.Add("shop/one")
				item, _ := q.Get()
				reconcile(q.Context(ctx, item))
				q.Done(item)
			}
		})
	}
}

//go:noinline
func reconcile(ctx context.Context) { sink = ctx }

var sink context.Context

// parkAll parks keys, each for a version of its own and for the deletion of an object.
func parkAll(t *Tracker, q *queue.Queue[string], keys int, removes bool) {
	for n := range keys {
		key := fmt.Sprint("shop/", n)
		run, _ := q.Context(context.Background(), key).Value(runKey{}).(run)
		w := &write{target: target{GroupResource: pods, namespace: "shop", name: strconv.Itoa(n)}, uid: "uid",
			answer: &answer{kind: "Pod", version: strconv.Itoa(1_000_000 + n)}}
		if removes {
			w.deletes, w.answer = true, &answer{kind: "Status"}
		}
		t.note(run, w)
		q.Add(key)
	}
	if q.Len() > 0 {
		panic("a key isn't parked")
	}
}

// BenchmarkEvent is what an event costs that releases none of the keys that are parked.
func BenchmarkEvent(b *testing.B) {
	for _, keys := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("parked=%d/update", keys), func(b *testing.B) {
			t, ws := newWatched(&fixed{version: "1"})
			q := NewQueue(t, queue.Config[string]{})
			defer q.ShutDown()
			parkAll(t, q, keys, false)
			var o observe.Observer = ws[0]
			b.ReportAllocs()
			for b.Loop() {
				o.Reached("999999")
				if o.WantsRemovals() {
					b.Fatal()
				}
			}
		})
		b.Run(fmt.Sprintf("parked=%d/deletion", keys), func(b *testing.B) {
			c := &fixed{version: "1", uids: map[string]types.UID{}}
			for n := range keys {
				c.uids[c.Key("shop", strconv.Itoa(n))] = "uid"
			}
			t, ws := newWatched(c)
			q := NewQueue(t, queue.Config[string]{})
			defer q.ShutDown()
			parkAll(t, q, keys, true)
			var o observe.Observer = ws[0]
			b.ReportAllocs()
			for b.Loop() {
				o.Reached("999999")
				if o.WantsRemovals() {
					o.Removed("shop/other", "uid")
				}
			}
		})
	}
}

// BenchmarkParked reports how many bytes a parked key takes with the waits for one informer, and each further
// informer. The queue's own bytes, which a ready key takes, too, are left out.
func BenchmarkParked(b *testing.B) {
	const keys = 100_000
	names := make([]string, keys)
	for n := range names {
		names[n] = fmt.Sprint("shop/", n)
	}
	measure := func(caches ...*fixed) float64 {
		t, _ := newWatched(caches...)
		q := NewQueue(t, queue.Config[string]{})
		defer q.ShutDown()
		before := heap()
		for _, key := range names {
			q.Add(key)
		}
		ready := heap()
		for range names {
			item, _ := q.Get()
			q.Done(item)
		}
		parkAll(t, q, keys, false)
		return float64(heap()-before-(ready-before)) / keys
	}
	for b.Loop() {
		one := measure(&fixed{version: "1"})
		b.ReportMetric(one, "B/key")
		b.ReportMetric(measure(&fixed{version: "1"}, &fixed{version: "1"})-one, "B/informer")
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// answering answers each request with a body.
type answering struct{ text string }

func (a answering) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(a.text)), Request: req,
	}, nil
}

// BenchmarkWrite is a request with an answer of 5 KB, which the client reads, without and with the tracker,
// and with the context of a key.
func BenchmarkWrite(b *testing.B) {
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
	pod.Name, pod.Namespace, pod.UID, pod.ResourceVersion = "one", "shop", "uid", "1"
	for n := range 4 {
		pod.ManagedFields = append(pod.ManagedFields, metav1.ManagedFieldsEntry{
			Manager:  strconv.Itoa(n),
			FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{"f:x` + strings.Repeat("x", 1000) + `":{}}}`)},
		})
	}
	text, err := json.Marshal(pod)
	if err != nil {
		b.Fatal(err)
	}
	t, _ := newWatched(&fixed{version: "1"})
	q := NewQueue(t, queue.Config[string]{})
	defer q.ShutDown()
	for _, bench := range []struct {
		name   string
		client http.RoundTripper
		ctx    context.Context
	}{
		{"without", answering{string(text)}, b.Context()},
		{"other", t.Transport(answering{string(text)}), b.Context()},
		{"key", t.Transport(answering{string(text)}), q.Context(b.Context(), "shop/one")},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				req, err := http.NewRequestWithContext(bench.ctx, http.MethodPut,
					"http://api/api/v1/namespaces/shop/pods/one", nil)
				if err != nil {
					b.Fatal(err)
				}
				resp, err := bench.client.RoundTrip(req)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadAll(resp.Body); err != nil {
					b.Fatal(err)
				}
				_ = resp.Body.Close()
			}
		})
	}
}
