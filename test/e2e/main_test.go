package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/examples/crds"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
)

// The servers that tests share, with the definitions of the examples. The first test that asks for a server
// starts it. Labels separate the tests' objects, see scope.
var (
	cached   = lazyServer{} // with a watch cache, the default
	uncached = lazyServer{opts: apiserver.Options{DisableWatchCache: true}}
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := errors.Join(cached.stop(), uncached.stop()); err != nil {
		fmt.Fprintln(os.Stderr, "stopping:", err)
		code = 1
	}
	os.Exit(code)
}

type lazyServer struct {
	opts   apiserver.Options
	once   sync.Once
	server *apiserver.Server
	err    error
}

func (l *lazyServer) get(t *testing.T) *apiserver.Server {
	t.Helper()
	l.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if l.server, l.err = apiserver.Start(ctx, l.opts); l.err == nil {
			l.err = l.server.InstallCRDs(ctx, crds.Files)
		}
	})
	if l.err != nil {
		t.Fatal(l.err)
	}
	return l.server
}

func (l *lazyServer) stop() error {
	if l.server == nil {
		return nil
	}
	return l.server.Stop()
}

// within returns a context for a test, or a part of one, that must not hang.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), d, fmt.Errorf("not within %v", d))
	t.Cleanup(cancel)
	return ctx
}

func clientset(t *testing.T, config *rest.Config) versioned.Interface {
	t.Helper()
	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// scopes are the names that scope has returned, by test, and their number.
var (
	scopes sync.Map
	given  atomic.Int64
)

// scope returns a name for the objects of one run of a test, usable as namespace and as label value. All
// calls in one run return the same name.
func scope(t *testing.T) string {
	if name, ok := scopes.Load(t); ok {
		return name.(string)
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(t.Name()))
	name = fmt.Sprintf("%s-%d", name, given.Add(1))
	scopes.Store(t, name)
	return name
}

// spy sees the requests that pass through it.
type spy struct {
	mu     sync.Mutex
	seen   []url.Values
	before func(url.Values) // called, if set, before a request is sent
}

// on wraps the transport of a configuration with the spy.
func (s *spy) on(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			query := r.URL.Query()
			s.mu.Lock()
			s.seen = append(s.seen, query)
			s.mu.Unlock()
			if s.before != nil {
				s.before(query)
			}
			return next.RoundTrip(r)
		})
	})
	return config
}

// count returns how many of the requests match.
func (s *spy) count(sort func(url.Values) bool) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, query := range s.seen {
		if sort(query) {
			n++
		}
	}
	return n
}

func isList(q url.Values) bool      { return !q.Has("watch") }
func isNextPage(q url.Values) bool  { return q.Has("continue") }
func isWatchList(q url.Values) bool { return q.Get("sendInitialEvents") == "true" }

// isFromScratch reports whether a request is either kind of initial list.
func isFromScratch(q url.Values) bool { return isList(q) || isWatchList(q) }

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
