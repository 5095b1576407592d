package ownwrites

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Transport records the writes of a client that has it, by
//
//	config.Wrap(tracker.Transport)
//
// It records a request (all methods but GET, HEAD and OPTIONS, and no dry run) if its context is that of an
// item of a queue of this tracker. It reads the answer as the client does, and changes nothing.
func (t *Tracker) Transport(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	t.wrapped.Store(true)
	return &recording{t, next}
}

type recording struct {
	tracker *Tracker
	next    http.RoundTripper
}

// WrappedRoundTripper is how client-go finds the transport below.
func (r *recording) WrappedRoundTripper() http.RoundTripper { return r.next }

// CloseIdleConnections closes those of the next transport.
func (r *recording) CloseIdleConnections() { utilnet.CloseIdleConnectionsFor(r.next) }

// RecordsFor reports whether the transport is that of a tracker. Whoever is given a client checks by it that
// the client's writes are recorded.
func (r *recording) RecordsFor(t *Tracker) bool { return r.tracker == t }

func (r *recording) RoundTrip(req *http.Request) (*http.Response, error) {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, "":
		return r.next.RoundTrip(req)
	}
	run, _ := req.Context().Value(runKey{}).(run)
	if run == nil || run.of() != r.tracker {
		return r.next.RoundTrip(req)
	}
	w, records := r.tracker.writeOf(req)
	if !records {
		return r.next.RoundTrip(req)
	}
	r.tracker.sent(run, w)
	resp, err := r.next.RoundTrip(req)
	switch {
	case err != nil, resp.StatusCode >= http.StatusInternalServerError:
		run.loses()
	case resp.StatusCode >= 200 && resp.StatusCode < 300 && r.tracker.await(run, w, resp):
		return resp, err
	}
	r.tracker.answered(run, w)
	return resp, err
}

// write is a write that the server has accepted.
type write struct {
	target
	method  string
	deletes bool
	// brief means that the answer's labels don't matter.
	brief bool
	// required is the UID that a deletion requires of the object.
	required types.UID
	answer   *answer
	uid      types.UID
	// base is the version that the server compared before it wrote, if checked is set. That of a creation is
	// empty.
	base    string
	checked bool
	// open means that the run has counted the write as unanswered. moves are the tracker's when it was sent.
	open  bool
	moves int
}

// writeOf returns what a request writes. It returns false if that isn't recorded: a dry run, the deletion of
// a collection, and requests to paths that aren't of resources.
func (t *Tracker) writeOf(req *http.Request) (w *write, records bool) {
	at, ok := targetOf(req.URL.Path)
	if !ok || isConnection(at.subresource) {
		return nil, false
	}
	watched, byLabels := t.watches(at.GroupResource)
	if !watched {
		return nil, false
	}
	if req.URL.RawQuery != "" && len(req.URL.Query()["dryRun"]) > 0 {
		return nil, false
	}
	w = &write{target: at, method: req.Method, deletes: req.Method == http.MethodDelete && at.subresource == ""}
	w.brief = !w.deletes && !byLabels
	if w.deletes {
		o := deleteOptions(req)
		if w.name == "" || len(o.DryRun) > 0 {
			return nil, false
		}
		if p := o.Preconditions; p != nil && p.UID != nil {
			w.required = *p.UID
		}
	} else if t.SkipEchoes {
		w.base, w.checked = baseOf(req, &w.target)
	}
	return w, true
}

// isConnection reports whether requests to a subresource open a connection, or are passed on.
func isConnection(subresource string) bool {
	first, _, _ := strings.Cut(subresource, "/")
	return slices.Contains([]string{"exec", "attach", "portforward", "proxy"}, first)
}

// await notes the write when the client has read its answer. It returns false if there is nothing to read.
func (t *Tracker) await(run run, w *write, resp *http.Response) bool {
	if resp.Body == nil || resp.Body == http.NoBody {
		return false // The answer has no version.
	}
	b := &body{ReadCloser: resp.Body, tracker: t, run: run, write: w}
	if !b.scans(resp.Header) {
		if w.subresource == "" {
			t.logOnce("unreadable", "Own writes whose answers can't be read are not waited for",
				"contentType", resp.Header.Get("Content-Type"), "resource", w.GroupResource.String())
		}
		return false
	}
	resp.Body = b
	return true
}

// complete adds what the answer says. A Status may leave out the UID that the request has required.
func (w *write) complete(a *answer) {
	w.answer, w.uid = a, cmp.Or(types.UID(a.detailsUID), w.required)
	if a.kind != "Status" {
		w.uid = types.UID(a.uid)
		w.name = cmp.Or(w.name, a.name)
		w.namespace = cmp.Or(w.namespace, a.namespace)
	}
}
