package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"weak"
)

// asking is an exchange that asks servers to leave managedFields out. It records which requests did.
type asking struct{ sent []bool }

func (*asking) Prepare(*http.Request) bool                              { return true }
func (a *asking) Sends(_ *http.Request, drop bool)                      { a.sent = append(a.sent, drop) }
func (*asking) Answered(*Answer)                                        {}
func (*asking) Left(string)                                             {}
func (*asking) Take(*http.Request, string, io.ReadCloser) io.ReadCloser { return nil }

// refusing is a transport that refuses requests with the parameter, and then fails or not.
type refusing struct {
	then    error
	accepts []string
	closed  int
}

func (r *refusing) Close() error             { r.closed++; return nil }
func (r *refusing) Read([]byte) (int, error) { return 0, io.EOF }

func (r *refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	accept := req.Header.Get("Accept")
	r.accepts = append(r.accepts, accept)
	if accept != "a/b" {
		return &http.Response{StatusCode: http.StatusNotAcceptable, Body: r}, nil
	}
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, r.then
}

const askedFor = "a/b;drop=metadata.managedFields"

// TestRefusal checks that a refused request is sent again once, as it was, and that others to the same
// host don't ask any more.
func TestRefusal(t *testing.T) {
	lost := errors.New("the connection is lost")
	for _, then := range []error{nil, lost} {
		x, next := &asking{}, &refusing{then: then}
		transport := Wrap(next)
		for _, url := range []string{"http://one/a", "http://one/b", "http://two/a"} {
			req := httptest.NewRequestWithContext(During(context.Background(), x), http.MethodGet, url, nil)
			req.Body = nil
			req.Header.Set("Accept", "a/b")
			before := req.Header.Clone()
			resp, err := transport.RoundTrip(req)
			if err != then || then == nil && (resp.StatusCode != http.StatusOK || resp.Request != req) {
				t.Errorf("%s: %v, %v", url, resp, err)
			}
			if !reflect.DeepEqual(req.Header, before) {
				t.Errorf("%s: the caller's header is %v", url, req.Header)
			}
		}
		if want := []string{askedFor, "a/b", "a/b", askedFor, "a/b"}; !slices.Equal(next.accepts, want) {
			t.Errorf("sent %q", next.accepts)
		}
		if want := []bool{true, false, false, true, false}; !slices.Equal(x.sent, want) {
			t.Errorf("reported %v", x.sent)
		}
		if next.closed != 2 {
			t.Errorf("%d bodies of refused requests were closed", next.closed)
		}
	}
}

// TestOtherRefusal checks that another status isn't taken for a refusal, nor a 406 of a request that doesn't
// ask, and that a request with a body isn't sent twice.
func TestOtherRefusal(t *testing.T) {
	for status, body := range map[int]io.ReadCloser{
		http.StatusUnsupportedMediaType: nil, http.StatusNotAcceptable: io.NopCloser(http.NoBody),
	} {
		x, next := &asking{}, statuses{status, new(int)}
		transport := Wrap(next)
		for range 2 {
			req := httptest.NewRequestWithContext(During(context.Background(), x), http.MethodGet, "http://one/a", nil)
			req.Body = body
			req.Header.Set("Accept", "a/b")
			if resp, err := transport.RoundTrip(req); err != nil || resp.StatusCode != status {
				t.Errorf("%v, %v", resp, err)
			}
		}
		if asks := body == nil; *next.requests != 2 || !slices.Equal(x.sent, []bool{asks, asks}) {
			t.Errorf("%d: %d requests, reported %v", status, *next.requests, x.sent)
		}
	}
}

// statuses is a transport whose responses have a status.
type statuses struct {
	status   int
	requests *int
}

func (s statuses) RoundTrip(*http.Request) (*http.Response, error) {
	*s.requests++
	return &http.Response{StatusCode: s.status, Body: http.NoBody}, nil
}

// TestRefusalIsForgotten checks that a refusal is of one client and one host, and forgotten once the client
// is garbage.
func TestRefusalIsForgotten(t *testing.T) {
	client := &http.Client{}
	rememberRefusal(client, "one")
	rememberRefusal(client, "one")
	if !refused(client, "one") || refused(client, "two") || refused(&http.Client{}, "one") {
		t.Error("it isn't the client's")
	}
	if rememberRefusal(http.DefaultClient, t.Name()); !refused(http.DefaultClient, t.Name()) {
		t.Error("the default client has none")
	}
	key := refusal{weak.Make(client), "one"}
	runtime.KeepAlive(client)
	for found := true; found; _, found = refusals.Load(key) {
		runtime.GC()
	}
}
