package fault_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/test/lab/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inBackground sends a request, whose result comes on the channel.
func (r *rig) inBackground(path string) <-chan result {
	results := make(chan result, 1)
	go func() { results <- r.get(path) }()
	return results
}

// TestNoFaults: without a plan, every request passes and is counted.
func TestNoFaults(t *testing.T) {
	everyWay(t, nil, func(r *rig) {
		for kind, path := range paths {
			want := http.StatusOK
			if res := r.get(path); res.err != nil || res.status != want {
				r.Errorf("%v: %d, %v", kind, res.status, res.err)
			}
		}
		r.get("/api/v1/namespaces/ns/configmaps?labelSelector=a%3Db&fieldSelector=c%3Dd")
		r.get("/apis/apps/v1/namespaces/ns/deployments?watch=1")
		r.get("/apis/apps/v1/namespaces/ns/deployments/name")
		r.get("/apis/apps/v1/namespaces/ns/deployments/name")
		r.get("/version")
		of := func(kind fault.Kind) fault.Request {
			return fault.Request{Client: "test", Kind: kind, Resource: "configmaps"}
		}
		want := map[fault.Request]int{
			of(fault.List): 1, of(fault.Page): 1, of(fault.Watch): 1, of(fault.WatchList): 1,
			{Client: "test", Kind: fault.List, Resource: "configmaps", Namespace: "ns", Selector: "a=b&c=d"}: 1,
			{Client: "test", Kind: fault.Watch, Resource: "deployments.apps", Namespace: "ns"}:               1,
			{Client: "test", Kind: fault.Other, Resource: "deployments.apps", Namespace: "ns"}:               2,
			{Client: "test", Kind: fault.Other}:                                                              1,
		}
		if got := r.proxy.Counts(); !maps.Equal(got, want) {
			r.Errorf("counted\n%v\nwant\n%v", got, want)
		}
		if n := r.proxy.Count(fault.Request{Kind: fault.Lists, Resource: "configmaps"}); n != 3 {
			r.Errorf("%d lists of config maps, want 3", n)
		}
		if trace := r.proxy.Trace(); len(trace) != 0 {
			r.Errorf("happened: %v", trace)
		}
	})
}

// TestExpire ends watches with 410, but not silenced ones.
func TestExpire(t *testing.T) {
	plan := fault.Script{{Request: fault.Request{Kind: fault.WatchList}, Fault: "black-hole"}}
	everyWay(t, plan, func(r *rig) {
		watch, silenced := r.inBackground(watchPath), r.inBackground(watchListPath)
		bubble.Advance(2*second + second/2)
		if n := r.proxy.Expire(); n != 1 {
			r.Errorf("%d watches are open", n)
		}
		got := <-watch
		events, err := r.encoding.events(bytes.NewReader(got.body))
		if got.err != nil || err != io.EOF || len(events) != 3 || events[2] != "ERROR 410" {
			r.Errorf("%v, %v, %v", events, err, got.err)
		}
		if silent := <-silenced; silent.err == nil || len(silent.body) != 0 || silent.took < time.Minute {
			r.Errorf("%q, %v after %v", silent.body, silent.err, silent.took)
		}
	})
}

// TestCut resets everything. Later requests pass.
func TestCut(t *testing.T) {
	everyWay(t, nil, func(r *rig) {
		watch := r.inBackground(watchPath)
		bubble.Advance(second / 2)
		r.proxy.Cut()
		if got := <-watch; got.err == nil || got.took > second {
			r.Errorf("%v after %v", got.err, got.took)
		}
		if again := r.get(listPath); again.err != nil {
			r.Error(again.err)
		}
	})
}

// TestCalm: faults that last for a while end, silenced streams stay silent.
func TestCalm(t *testing.T) {
	for _, f := range fault.All() {
		if f.For[1] == 0 {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			step := fault.Step{Request: fault.Request{Resource: "configmaps"}, Fault: f.Name, For: time.Hour}
			everyWay(t, fault.Script{step}, func(r *rig) {
				path := listPath
				if f.On&fault.List == 0 {
					path = watchPath
				}
				first := r.inBackground(path)
				bubble.Advance(second / 2)
				r.proxy.Calm()
				if got := <-first; got.took > time.Minute+second {
					r.Errorf("the first request took %v", got.took)
				}
				if again := r.get(path); again.err != nil || again.status != http.StatusOK {
					r.Errorf("the second request: %d, %v", again.status, again.err)
				}
			})
		})
	}
}

// TestClose ends everything. Later requests fail.
func TestClose(t *testing.T) {
	plan := fault.Script{{Request: fault.Request{Kind: fault.WatchList}, Fault: "half-open"}}
	everyWay(t, plan, func(r *rig) {
		watch, silenced := r.inBackground(watchPath), r.inBackground(watchListPath)
		bubble.Advance(2*second + second/2)
		r.proxy.Close()
		for _, results := range []<-chan result{watch, silenced} {
			if got := <-results; got.err == nil || got.took > time.Minute {
				r.Errorf("%v after %v", got.err, got.took)
			}
		}
		if got := r.get(listPath); got.err == nil {
			r.Error("a closed proxy answers")
		}
	})
}

// TestRefused: a client that the server doesn't accept gets the error of a refused connection.
func TestRefused(t *testing.T) {
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				step := fault.Step{Request: fault.Request{Nth: 1}, Fault: "restart", For: time.Minute}
				r := newRig(t, way, jsonType, fault.Script{step})
				r.get(listPath)
				if got := r.get(listPath); !errors.Is(got.err, syscall.ECONNREFUSED) {
					t.Errorf("%v", got.err)
				}
			})
		})
	}
}

// TestOverTCP serves on a port of 127.0.0.1, and on the same port after a restart.
func TestOverTCP(t *testing.T) {
	for _, opts := range []fault.ServerOptions{{}, {HTTP1: true}} {
		step := fault.Step{Request: fault.Request{Nth: 1}, Fault: "restart", For: time.Millisecond}
		proxy := fault.New(fault.Handler(&api{}), fault.Script{step})
		server, err := proxy.Listen(opts)
		if err != nil {
			t.Fatal(err)
		}
		client := clientOf(server.Config())
		get := func() error {
			resp, err := client.Get(server.Config().Host + listPath)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			if want := map[bool]int{true: 1, false: 2}[opts.HTTP1]; resp.ProtoMajor != want {
				t.Errorf("the protocol is %s", resp.Proto)
			}
			_, err = io.ReadAll(resp.Body)
			return err
		}
		if err := get(); err == nil {
			t.Error("no restart")
		}
		for err = get(); errors.Is(err, syscall.ECONNREFUSED); err = get() {
		}
		if err != nil {
			t.Error(err)
		}
		client.CloseIdleConnections()
		proxy.Close()
		if open, _ := server.Connections(); open != 0 {
			t.Errorf("%d connections are open", open)
		}
	}
}

// TestBackend goes through two proxies. The second one's client has credentials of its own.
func TestBackend(t *testing.T) {
	var got http.Header
	inner := fault.New(fault.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		io.WriteString(w, r.URL.String())
	})), nil)
	defer inner.Close()
	config := inner.Config()
	config.BearerToken = "the proxy's"
	backend, err := fault.Backend(config)
	if err != nil {
		t.Fatal(err)
	}
	outer := fault.New(backend, nil)
	defer outer.Close()
	req := &http.Request{Method: http.MethodGet, URL: &url.URL{Scheme: "http", Host: "somewhere", Path: "/a/b"},
		Header: http.Header{"Authorization": {"Bearer the client's"}, "Accept-Encoding": {"gzip"}}}
	resp, err := outer.RoundTrip(req.WithContext(context.Background()))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || !bytes.HasSuffix(body, []byte("/a/b")) {
		t.Errorf("%q, %v", body, err)
	}
	if auth := got.Get("Authorization"); auth != "Bearer the proxy's" || got.Get("Accept-Encoding") != "" {
		t.Errorf("the server sees %v", got)
	}
}
