package clientsource_test

import (
	"context"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// watches are responses of servers to a watch.
var watches = []reply{
	{name: "events",
		body: event("ADDED", watchedMap) + event("MODIFIED", watchedMap) +
			event("BOOKMARK", bookmark) + event("DELETED", watchedMap)},
	{name: "no new lines",
		body: strings.ReplaceAll(event("ADDED", watchedMap)+event("MODIFIED", watchedMap), "\n", "")},
	{name: "other order", body: `{"object":` + watchedMap + `,"type":"ADDED"}`},
	{name: "expired", body: event("ADDED", watchedMap) + event("ERROR", gone)},
	{name: "nothing", body: ""},
	{name: "error of another kind", body: event("ERROR", watchedMap)},
	{name: "unregistered kind", body: event("ADDED", `{"kind":"Nothing","apiVersion":"v1"}`)},
	{name: "no kind", body: event("ADDED", configMap)},
	{name: "no object", body: `{"type":"ADDED"}`},
	{name: "invalid type", body: event("CHANGED", watchedMap)},
	{name: "bad object",
		body: event("ADDED", watchedMap) +
			event("ADDED", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":7}}`)},
	{name: "no JSON", body: event("ADDED", watchedMap) + "hello"},
	{name: "truncated", body: event("ADDED", watchedMap) + event("ADDED", watchedMap)[:80]},
	{name: "cut between events", body: event("ADDED", watchedMap), cut: true},
	{name: "cut in an event", body: event("ADDED", watchedMap) + event("ADDED", watchedMap)[:80], cut: true},
	{name: "refused", status: 403,
		body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`},
	{name: "expired at once", status: 410, body: gone},
	{name: "other content type", headers: map[string]string{"Content-Type": "text/plain"},
		body: event("ADDED", watchedMap)},
}

// TestRESTWatch checks that a watch has the same result, streamed or not.
func TestRESTWatch(t *testing.T) {
	for _, r := range watches {
		t.Run(r.name, func(t *testing.T) {
			c := configMapClient(t, r.serve)
			both := bothSources(c)
			streamed, plain := readWatch(t, both["streamed"]), readWatch(t, both["plain"])
			if !reflect.DeepEqual(streamed.events, plain.events) {
				t.Errorf("streamed: %v, plain: %v", streamed.events, plain.events)
			}
			if (streamed.end == io.EOF) != (plain.end == io.EOF) ||
				apierrors.ReasonForError(streamed.end) != apierrors.ReasonForError(plain.end) {
				t.Errorf("ended streamed: %v, plain: %v", streamed.end, plain.end)
			}
		})
	}
}

// TestRESTWatchEnds checks that a blocked Next returns when its context is done, and when the stream is
// stopped.
func TestRESTWatchEnds(t *testing.T) {
	c := configMapClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, event("ADDED", watchedMap))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	for name, source := range bothSources(c) {
		t.Run(name, func(t *testing.T) {
			ends := func(end func(cancel, stop func()), want error) {
				t.Helper()
				stream, err := source.Watch(t.Context(), metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				defer stream.Stop()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if e, err := stream.Next(ctx); err != nil || e.Type != watch.Added ||
					e.ResourceVersion != "5" {
					t.Fatalf("%v, %v", e, err)
				}
				ended := make(chan error)
				go func() {
					_, err := stream.Next(ctx)
					ended <- err
				}()
				end(cancel, stream.Stop)
				if err := <-ended; err != want {
					t.Errorf("%v, want %v", err, want)
				}
			}
			ends(func(cancel, _ func()) { cancel() }, context.Canceled)
			ends(func(_, stop func()) { stop() }, io.EOF)
		})
	}
}
