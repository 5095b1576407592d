package clientsource_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// TestBudgetOverServer has many sources list from a server and stream from it, in pages of random items, some
// of which are cut off and some abandoned. The others are read to the end; the limiter never admits more than
// the budget, or the senior's bytes, and an item of each of the others.
func TestBudgetOverServer(t *testing.T) {
	const (
		readers, pages, items, largest = 6, 3, 20, 4 << 10
		budget                         = 16 << 10
	)
	object := func() string {
		return fmt.Sprintf(
			`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"5"},`+
				`"data":{"k":%q}}`,
			strings.Repeat("x", rand.IntN(largest-200)))
	}
	c := configMapClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var body bytes.Buffer
		if r.URL.Query().Has("watch") {
			for range pages * items {
				body.WriteString(event("ADDED", object()))
			}
			body.WriteString(event("BOOKMARK", bookmark))
		} else {
			page, _ := strconv.Atoi(r.URL.Query().Get("continue"))
			next := strconv.Itoa(page + 1)
			if page == pages-1 {
				next = ""
			}
			fmt.Fprintf(&body,
				`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9",`+
					`"continue":%q},"items":[`, next)
			for n := range items {
				if n > 0 {
					body.WriteByte(',')
				}
				body.WriteString(object())
			}
			body.WriteString("]}")
		}
		if r.URL.Query().Get("labelSelector") == "cut" {
			body.Truncate(body.Len() / 2)
		}
		w.Write(body.Bytes())
	})
	limiter := listwatch.NewLimiter(readers - 2).WithBudget(budget)
	check := func() {
		if held := limiter.Held(); held > budget+(readers-1)*largest+pages*items*largest {
			t.Errorf("%d bytes held", held)
		}
	}
	list := func(
		ctx context.Context, source sources.Source, selector string, item func() error,
	) (n int, err error) {
		meta := sources.ListMeta{}
		for page := 0; err == nil && (page == 0 || meta.Continue != ""); page++ {
			meta, err = each(ctx, source, metav1.ListOptions{LabelSelector: selector, Continue: meta.Continue},
				func(any) error {
					n++
					check()
					return item()
				})
		}
		return n, err
	}
	stream := func(
		ctx context.Context, source sources.Source, selector string, item func() error,
	) (n int, err error) {
		opts := initialEvents()
		opts.LabelSelector = selector
		stream, err := source.Watch(ctx, opts)
		if err != nil {
			return 0, err
		}
		defer stream.Stop()
		for err == nil {
			e, err := stream.Next(ctx)
			if err != nil || e.InitialEventsEnd {
				return n, err
			}
			n++
			check()
			if err = item(); err != nil {
				return n, err
			}
		}
		return n, err
	}
	enough := errors.New("enough")
	var all sync.WaitGroup
	for k := range readers {
		all.Go(func() {
			source := budgeted(c, limiter)
			read := list
			if k%2 == 0 {
				read = stream
			}
			for range 10 {
				switch rand.IntN(4) {
				case 0:
					if _, err := read(t.Context(), source, "cut", func() error { return nil }); err == nil {
						t.Error("read what was cut off")
					}
				case 1:
					if n, err := read(t.Context(), source, "", func() error { return enough }); n != 1 ||
						err != enough {
						t.Errorf("%d items, %v", n, err)
					}
				case 2:
					ctx, cancel := context.WithCancel(t.Context())
					if _, err := read(
						ctx, source, "", func() error { cancel(); return ctx.Err() },
					); err == nil {
						t.Error("read on after the end of the context")
					}
					cancel()
				default:
					if n, err := read(t.Context(), source,
						"", func() error { return nil }); n != pages*items || err != nil {
						t.Errorf("%d items, %v", n, err)
					}
				}
			}
		})
	}
	all.Wait()
	if limiter.Held() != 0 {
		t.Errorf("%d bytes held in the end", limiter.Held())
	}
}
