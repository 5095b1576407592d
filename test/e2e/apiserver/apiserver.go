package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	genericapiserver "k8s.io/apiserver/pkg/server"
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
}

// Server is a running API server. Its methods are safe for concurrent use.
type Server struct {
	dir    string // scratch, removed by Stop
	etcd   *embed.Etcd
	api    *genericapiserver.GenericAPIServer
	cancel context.CancelFunc
	done   chan struct{} // closed when the API server has ended
	runErr error         // valid once done is closed
	stop   func() error  // stops once, however often it is called
}

// Start runs a server and returns when it is ready, a second or two later. The server runs until Stop is
// called: ctx bounds only the start.
func Start(ctx context.Context, opts Options) (*Server, error) {
	if err := setLogs(opts.Logs); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kubewright-apiserver-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, cancel: func() {}, done: make(chan struct{})}
	s.stop = sync.OnceValue(s.end)
	if s.etcd, err = startEtcd(ctx, dir, opts); err != nil {
		close(s.done)
		return nil, errors.Join(err, s.Stop())
	}
	if s.api, err = newAPIServer(dir, s.etcd.Clients[0].Addr().String(), opts); err != nil {
		close(s.done)
		return nil, errors.Join(err, s.Stop())
	}

	var running context.Context
	running, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(s.done)
		s.runErr = s.api.PrepareRun().RunWithContext(running)
	}()
	if err := s.waitReady(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// Config returns a client configuration with an administrator's rights. It is a copy that the caller may
// change, and has no client-side rate limit.
func (s *Server) Config() *rest.Config {
	config := rest.CopyConfig(s.api.LoopbackClientConfig)
	config.QPS = -1
	config.UserAgent = rest.DefaultKubernetesUserAgent()
	return config
}

// Stop ends the API server, then etcd, removes their files, and returns about a second later. Open watches
// are cut; informers may keep running without the server. A second call does nothing and returns the same
// error.
func (s *Server) Stop() error { return s.stop() }

func (s *Server) end() error {
	s.cancel()
	<-s.done
	if s.etcd != nil {
		s.etcd.Close()
	}
	return errors.Join(s.runErr, os.RemoveAll(s.dir))
}

// waitReady polls /readyz until the server is ready. The server offers nothing to wait on instead.
func (s *Server) waitReady(ctx context.Context) error {
	client, err := rest.UnversionedRESTClientFor(unversioned(s.Config()))
	if err != nil {
		return err
	}
	var last error
	for {
		if _, last = client.Get().AbsPath("/readyz").DoRaw(ctx); last == nil {
			return nil
		}
		select {
		case <-s.done:
			return errors.Join(errors.New("the API server ended while starting"), s.runErr)
		case <-ctx.Done():
			return fmt.Errorf("the API server isn't ready: %w (last answer: %w)", context.Cause(ctx), last)
		case <-time.After(retryInterval):
		}
	}
}

// retryInterval is the pause between polls, where nothing can be watched.
const retryInterval = 20 * time.Millisecond
