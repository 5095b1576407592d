package apiserver

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/client-go/rest"
)

// Options configures a server. The zero value is what most callers want.
type Options struct {
	// Logs receives the warnings of etcd and all that the API server logs. nil
	// discards both, except for the API server's errors, which go to stderr.
	//
	// This affects the caller's logs, too: the API server logs through klog, which
	// has one destination for the whole process, and Start sets it. Without Logs
	// the caller's infos and warnings are discarded as well, and errors, panics of
	// handlers among them, go to stderr. To see more, set Logs, or call
	// klog.SetLogger after Start. The etcd client always warns on stderr of
	// compacted revisions.
	Logs io.Writer

	// DisableWatchCache makes the server answer each watch and list from etcd: then [Server.Compact] expires
	// old resource versions, and lists at resource version 0 are paged.
	DisableWatchCache bool

	// ShardedListAndWatch enables the feature gate of that name: lists and watches are filtered by their
	// ShardSelector, which the server otherwise ignores. The gate is global to a process: after the first
	// Start, one with another value returns an error.
	ShardedListAndWatch bool
}

// Server is a running API server. Its methods are safe for concurrent use.
type Server struct {
	dir    string // scratch, removed by Stop
	opts   Options
	etcd   *embed.Etcd
	config *rest.Config // the same before and after a restart
	stop   func() error // stops once, however often it is called

	mu      sync.Mutex // held while the API server starts and stops
	api     *instance  // nil while it doesn't run
	stopped bool
}

// Start runs a server and returns when it is ready, a second or two later. The server runs until Stop is
// called: ctx bounds only the start.
func Start(ctx context.Context, opts Options) (*Server, error) {
	if err := setGate(opts.ShardedListAndWatch); err != nil {
		return nil, err
	}
	if err := setLogs(opts.Logs); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kubewright-apiserver-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, opts: opts}
	s.stop = sync.OnceValue(s.stopAndCleanUp)
	if s.etcd, err = startEtcd(ctx, dir, opts); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	if err := s.startAPI(ctx, "127.0.0.1:0"); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	if err := createNamespaces(ctx, s.Config()); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// startAPI runs the API server at an address. The caller holds the mutex, or is the only one that has s.
func (s *Server) startAPI(ctx context.Context, address string) error {
	api, err := newAPIServer(s.dir, s.etcd.Clients[0].Addr().String(), address, s.opts)
	if err != nil {
		return err
	}
	if s.config == nil {
		s.config = rest.CopyConfig(api.LoopbackClientConfig)
		s.config.QPS = -1
		s.config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	s.api, err = run(ctx, api, s.config)
	return err
}

// Config returns a client configuration with an administrator's rights. It is a copy that the caller may
// change, stays valid when the server restarts, and has no client-side rate limit.
//
// It names no content type, so each client decides: client-go's clients of the built-in kinds use protobuf,
// those of custom resources JSON. Set ContentType to "application/json" to have JSON everywhere. Custom
// resources support only JSON: writing one in protobuf fails with 415 Unsupported Media Type.
func (s *Server) Config() *rest.Config { return rest.CopyConfig(s.config) }

// Halt ends the API server until [Server.Restart]: all watches end, and requests are refused. etcd keeps
// running, so [Server.Compact] works. Halt does nothing if the API server doesn't run.
func (s *Server) Halt() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopAPI()
}

// Restart ends the API server if it runs, starts it again at the same address with the same data, and returns
// when it is ready. Its watch caches begin anew. ctx bounds only the start. After an error the API server
// doesn't run.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return errors.New("the server was stopped")
	}
	if err := s.stopAPI(); err != nil {
		return err
	}
	return s.startAPI(ctx, strings.TrimPrefix(s.config.Host, "https://"))
}

func (s *Server) stopAPI() error {
	if s.api == nil {
		return nil
	}
	err := s.api.stop()
	s.api = nil
	return err
}

// Stop ends the API server, then etcd, removes their files, and returns about a second later. Open watches
// are cut; informers may keep running without the server. A second call does nothing and returns the same
// error.
func (s *Server) Stop() error { return s.stop() }

func (s *Server) stopAndCleanUp() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	err := s.stopAPI()
	if s.etcd != nil {
		s.etcd.Close()
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
