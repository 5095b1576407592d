package definitions

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/served"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// Set observes kinds of one server. It implements [served.Definitions]. All methods are safe for concurrent
// use.
type Set struct {
	config *rest.Config
	client *http.Client
	base   *url.URL

	mu sync.Mutex
	// running is nil while nothing is observed.
	running *run
}

var _ served.Definitions = &Set{}

// New returns a set for the server of a configuration. It sends no request.
func New(config *rest.Config) (*Set, error) {
	if config == nil {
		return nil, errors.New("the configuration is nil")
	}
	config = rest.CopyConfig(config)
	// A limit of the user's would delay the answers: there is one request for each group and version at most.
	config.QPS, config.Burst, config.RateLimiter = -1, 0, nil
	config.Timeout = 0 // It would cut the watch.
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	streaming := *client
	streaming.Transport = listwatch.Wrap(client.Transport)
	return &Set{config: config, client: &streaming, base: base}, nil
}

// Open observes a kind. Logs go to the logger of ctx, whose end doesn't matter.
func (s *Set) Open(ctx context.Context, resource schema.GroupVersionResource) served.Observer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		s.running = start(context.WithoutCancel(ctx), s)
	}
	s.running.observers++
	return &observer{run: s.running, kind: s.running.add(klog.FromContext(ctx), resource)}
}

// WaitForServed waits until the server serves a resource.
func (s *Set) WaitForServed(ctx context.Context, resource schema.GroupVersionResource) error {
	observer := s.Open(ctx, resource)
	defer observer.Close()
	for {
		status, changed := observer.Status()
		if status.Served {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait until the server serves %s: %w (%s)", name(resource), context.Cause(ctx),
				describe(status))
		}
	}
}

// describe says why a kind isn't served.
func describe(status served.Status) string {
	switch {
	case status.State == served.Absent && len(status.Versions) > 0:
		return fmt.Sprintf("absent since %s, served versions: %s", status.Since.Format(time.RFC3339),
			strings.Join(status.Versions, ", "))
	case status.State == served.Absent:
		return "absent since " + status.Since.Format(time.RFC3339)
	case status.Err != nil:
		return status.Err.Error()
	default:
		return "not known yet"
	}
}

// name names a resource in errors, for instance "widgets.example.com in v1".
func name(resource schema.GroupVersionResource) string {
	return resource.GroupResource().String() + " in " + resource.Version
}

// observer is an observer of a kind.
type observer struct {
	run    *run
	kind   *kind
	closed sync.Once
}

func (o *observer) Status() (served.Status, <-chan struct{}) { return o.run.status(o.kind) }

func (o *observer) Missed() {
	o.run.tell(o.kind, func(k *served.Kind, now time.Time) { k.Missed(now) })
}

// Close ends the observation. The last observer waits for the goroutines that observe.
func (o *observer) Close() {
	o.closed.Do(func() {
		if o.run.set.leave(o) {
			o.run.end()
		}
	})
}

// leave removes an observer, and reports whether it was the last one.
func (s *Set) leave(o *observer) (last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.run.remove(o.kind)
	if o.run.observers--; o.run.observers > 0 {
		return false
	}
	s.running = nil
	return true
}
