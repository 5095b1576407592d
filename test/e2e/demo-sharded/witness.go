package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/client-go/rest"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
)

// witness stands between the replicas and the server, and records every status that a replica writes: writing
// one is how a replica bakes.
type witness struct {
	server http.RoundTripper
	target *url.URL

	mu      sync.Mutex
	moment  int // counts arrivals and answers
	bakes   map[order][]*bake
	last    map[string]*bake // the last that succeeded, by namespace
	changed chan struct{}    // closed and replaced when one succeeds
}

// order is what a customer ordered: a generation of the namespace's bakery.
type order struct {
	namespace  string
	generation int64
}

// bake is a write of a status.
type bake struct {
	by string
	// arrived and answered are moments. answered is 0 before the answer.
	arrived, answered int
	// version is the resourceVersion that the write got, 0 if the server refused it.
	version uint64
}

func newWitness(config *rest.Config) (*witness, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	server, err := rest.TransportFor(config)
	return &witness{
		server: server, target: target, bakes: map[order][]*bake{}, last: map[string]*bake{},
		changed: make(chan struct{}),
	}, err
}

// front returns the handler that a replica uses as its API server.
func (w *witness) front(replica string) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(w.target) },
		Transport: front{w, replica},
		ErrorLog:  log.New(io.Discard, "", 0), // killed replicas cut their connections
	}
}

type front struct {
	witness *witness
	replica string
}

func (f front) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("watch") == "" {
		// The request goes on even if the replica is killed meanwhile.
		r = r.Clone(context.WithoutCancel(r.Context()))
	}
	if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "/status") {
		return f.witness.server.RoundTrip(r)
	}
	var bakery shopv1.Bakery
	body, err := readJSON(r.Body, &bakery)
	if err != nil {
		return nil, err
	}
	r.Body = body
	o := order{bakery.Namespace, bakery.Status.ObservedGeneration}
	b := f.witness.arrive(o, f.replica)
	answer, err := f.witness.server.RoundTrip(r)
	version := uint64(0)
	if err == nil && answer.StatusCode == http.StatusOK {
		if answer.Body, err = readJSON(answer.Body, &bakery); err == nil {
			version, err = strconv.ParseUint(bakery.ResourceVersion, 10, 64)
		}
	}
	f.witness.answer(o, b, version)
	return answer, err
}

// readJSON decodes a body and returns a copy of it.
func readJSON(body io.ReadCloser, into any) (io.ReadCloser, error) {
	defer body.Close()
	text, err := io.ReadAll(body)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	return io.NopCloser(bytes.NewReader(text)), err
}

func (w *witness) arrive(o order, replica string) *bake {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.moment++
	b := &bake{by: replica, arrived: w.moment}
	w.bakes[o] = append(w.bakes[o], b)
	return b
}

func (w *witness) answer(o order, b *bake, version uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.moment++
	b.answered, b.version = w.moment, version
	if version == 0 {
		return
	}
	w.last[o.namespace] = b
	close(w.changed)
	w.changed = make(chan struct{})
}

// await waits until an order is baked.
func (w *witness) await(ctx context.Context, o order) error {
	for {
		w.mu.Lock()
		done := slices.ContainsFunc(w.bakes[o], func(b *bake) bool { return b.version > 0 })
		changed := w.changed
		w.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// lastBakes returns the last bake in each namespace.
func (w *witness) lastBakes() map[string]bake {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := map[string]bake{}
	for namespace, b := range w.last {
		last[namespace] = *b
	}
	return last
}

// baked returns how many orders each replica has baked.
func (w *witness) baked() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	counts := map[string]int{}
	for _, bakes := range w.bakes {
		for _, b := range bakes {
			if b.version > 0 {
				counts[b.by]++
			}
		}
	}
	return counts
}

// wrong returns what is wrong with the bakes so far: orders that were baked twice, and bakes by a replica
// that didn't own the namespace. ownerAt returns the owner at a version.
func (w *witness) wrong(ownerAt func(namespace string, version uint64) string) (wrong []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for o, bakes := range w.bakes {
		for i, b := range bakes {
			for _, earlier := range bakes[:i] {
				if twice(*earlier, *b) {
					wrong = append(wrong, fmt.Sprintf("order %d of %s was baked twice: by %s and by %s",
						o.generation, o.namespace, earlier.by, b.by))
				}
			}
			if b.version == 0 {
				continue
			}
			if owner := ownerAt(o.namespace, b.version); owner != b.by {
				wrong = append(wrong, fmt.Sprintf("%s baked order %d of %s, which belonged to %q",
					b.by, o.generation, o.namespace, owner))
			}
		}
	}
	return wrong
}

// twice reports whether two bakes of one order are one too many. A second try after a failed one isn't.
func twice(earlier, later bake) bool {
	atOnce := earlier.answered == 0 || earlier.answered > later.arrived
	return earlier.version > 0 && later.version > 0 ||
		earlier.by != later.by && (atOnce || earlier.version > 0)
}
