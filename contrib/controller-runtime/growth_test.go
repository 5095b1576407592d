package kwctrl_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
)

// big is a server of 500 config maps of 1 KB, without a network, so that it works in a bubble. Its watches
// deliver nothing.
type big struct{ list []byte }

func newBig(t *testing.T) big {
	var list bytes.Buffer
	e := encoder{t: t, w: &list, encoding: jsonEncoding}
	var objects []*corev1.ConfigMap
	for n := range 500 {
		obj := configMap("ns", fmt.Sprint("name-", n), "2")
		obj.Data = map[string]string{"k": strings.Repeat(fmt.Sprintf("%04d", n), 256)}
		objects = append(objects, obj)
	}
	e.list(objects...)
	return big{list.Bytes()}
}

func (b big) RoundTrip(req *http.Request) (*http.Response, error) {
	response := &http.Response{
		StatusCode: http.StatusOK, Request: req, Header: http.Header{"Content-Type": {jsonEncoding.mediaType}}}
	switch query := req.URL.Query(); {
	case query.Get("sendInitialEvents") != "":
		response.StatusCode = http.StatusUnprocessableEntity
		response.Body = http.NoBody
	case query.Get("watch") == "":
		response.Body = io.NopCloser(bytes.NewReader(b.list))
	default:
		events, server := io.Pipe()
		context.AfterFunc(req.Context(), func() { server.CloseWithError(req.Context().Err()) })
		response.Body = events
	}
	return response, nil
}

// growth returns how many bytes of heap each call leaves behind, after some that warm up.
func growth(t *testing.T, calls int, call func()) int {
	t.Helper()
	heap := func() int64 {
		synctest.Wait()
		for range 3 { // Cleanups run after a collection, and pools are emptied by the second.
			runtime.GC()
			synctest.Wait()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for range 10 {
		call()
	}
	before := heap()
	for range calls {
		call()
	}
	return int(heap()-before) / calls
}

// TestRemovedInformersAreFreed checks that informers that were removed, and caches that were stopped or
// dropped, leave next to nothing in memory, although nothing asks for statuses. So it is with
// controller-runtime's own caches.
func TestRemovedInformersAreFreed(t *testing.T) {
	server := newBig(t)
	for name, side := range map[string]struct {
		newCache cache.NewCacheFunc
		calls    int // Theirs take longer.
	}{
		"ours": {kwctrl.NewCaches(kwctrl.Options{}).NewCache, 200}, "theirs": {cache.New, 50},
	} {
		if name == "theirs" && testing.Short() {
			continue // They show that the bound is one that can be kept.
		}
		open := func(t *testing.T) cache.Cache {
			opts := options()
			opts.HTTPClient = &http.Client{Transport: server}
			c, err := side.newCache(&rest.Config{Host: "http://big", QPS: -1}, opts)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		get := func(t *testing.T, c cache.Cache, obj client.Object, opts ...cache.InformerGetOption) {
			if _, err := c.GetInformer(t.Context(), obj, opts...); err != nil {
				t.Fatal(err)
			}
		}
		laws := map[string]func(t *testing.T) (call func()){
			"an informer is removed": func(t *testing.T) func() {
				c := open(t)
				ctx := start(t, c)
				return func() {
					get(t, c, &corev1.ConfigMap{})
					if err := c.RemoveInformer(ctx, &corev1.ConfigMap{}); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
				}
			},
			"an informer is removed before the start": func(t *testing.T) func() {
				c := open(t)
				return func() {
					get(t, c, &corev1.ConfigMap{}, cache.BlockUntilSynced(false))
					if err := c.RemoveInformer(t.Context(), &corev1.ConfigMap{}); err != nil {
						t.Fatal(err)
					}
				}
			},
			"a cache is stopped": func(t *testing.T) func() {
				return func() {
					c := open(t)
					ctx, stop := context.WithCancel(t.Context())
					ended := make(chan error)
					go func() { ended <- c.Start(ctx) }()
					get(t, c, &corev1.ConfigMap{})
					stop()
					if err := <-ended; err != nil {
						t.Error(err)
					}
					metadata, _ := forms["metadata"]()
					get(t, c, metadata, cache.BlockUntilSynced(false)) // Nothing runs it any more.
				}
			},
			"a cache isn't started": func(t *testing.T) func() {
				return func() { get(t, open(t), &corev1.ConfigMap{}, cache.BlockUntilSynced(false)) }
			},
		}
		for law, prepare := range laws {
			t.Run(name+"/"+law, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					grown := growth(t, side.calls, prepare(t))
					t.Logf("%d bytes each", grown)
					if grown >= 10_000 {
						t.Errorf("each leaves %d bytes", grown)
					}
				})
			})
		}
	}
}
