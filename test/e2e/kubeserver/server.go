package kubeserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
)

// Options configures a server. The zero value is valid.
type Options struct {
	// Flags are further flags of kube-apiserver, such as --watch-cache-sizes=configmaps#0 or
	// --feature-gates=ShardedListAndWatch=true.
	Flags []string
}

// Server is a running kube-apiserver with an etcd of its own. Its methods are not safe for concurrent use;
// clients that are made from its Config are.
type Server struct {
	dir         string // scratch, removed by Stop
	credentials string // the folder with the files of credentials: that of the first server of an etcd
	binaries    Binaries
	port        int
	etcdURL     string // where the API server reaches etcd
	etcdPeer    string
	token       string
	clientCA    *clientCA
	flags       []string
	// etcd is nil if it is that of another server.
	etcd, api *process
}

// Start runs the programs and returns when the API server is ready, three to five seconds later. They run
// until Stop is called: ctx bounds only the start.
func Start(ctx context.Context, binaries Binaries, opts Options) (*Server, error) {
	dir, err := os.MkdirTemp("", "kubewright-kubeserver-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, credentials: dir, binaries: binaries, flags: opts.Flags}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) (err error) {
	if s.token, err = writeCredentials(s.dir); err != nil {
		return err
	}
	if s.clientCA, err = newClientCA(s.dir); err != nil {
		return err
	}
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	s.port = ports[0]
	s.etcdURL = "http://127.0.0.1:" + strconv.Itoa(ports[1])
	s.etcdPeer = "http://127.0.0.1:" + strconv.Itoa(ports[2])
	if err := s.startEtcd(ctx); err != nil {
		return err
	}
	return s.startAPIServer(ctx)
}

func (s *Server) startAPIServer(ctx context.Context) (err error) {
	key := filepath.Join(s.credentials, keyFile)
	s.api, err = startProcess(s.dir, s.binaries.APIServer, append([]string{
		"--etcd-servers=" + s.etcdURL,
		"--bind-address=127.0.0.1", "--secure-port=" + strconv.Itoa(s.port),
		"--cert-dir=" + s.dir,
		"--service-account-issuer=https://localhost",
		"--service-account-key-file=" + key, "--service-account-signing-key-file=" + key,
		"--authorization-mode=RBAC",
		"--token-auth-file=" + filepath.Join(s.credentials, tokenFile),
		"--client-ca-file=" + filepath.Join(s.credentials, clientCAFile),
		// No controller creates a service account for each namespace.
		"--disable-admission-plugins=ServiceAccount",
		"--service-cluster-ip-range=10.0.0.0/24",
	}, s.flags...)...)
	if err != nil {
		return err
	}
	// The certificate is one of the first files that the server writes.
	if err := waitFile(ctx, s.api, filepath.Join(s.dir, certFile)); err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(s.Config())
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	return waitReady(ctx, s.api, client, s.Config().Host+"/readyz")
}

// Config returns a client configuration with an administrator's rights. It is a copy that the caller may
// change, has no client-side rate limit, and stays valid after a Restart.
func (s *Server) Config() *rest.Config {
	return &rest.Config{
		Host:            "https://127.0.0.1:" + strconv.Itoa(s.port),
		BearerToken:     s.token,
		TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(s.dir, certFile)},
		QPS:             -1,
	}
}

// Kill ends the API server like a crash: all connections are cut without notice. etcd keeps running.
func (s *Server) Kill() error { return s.api.kill() }

// Shutdown ends the API server gracefully: it ends its watches, and exits. Restart starts it again.
func (s *Server) Shutdown(ctx context.Context) error { return s.api.end(ctx) }

// Signal sends a signal to the process of the API server.
func (s *Server) Signal(signal os.Signal) error { return s.api.cmd.Process.Signal(signal) }

// Restart kills the API server if it runs, starts it again on the same address and data, and returns when it
// is ready.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Kill(); err != nil {
		return err
	}
	return s.startAPIServer(ctx)
}

// Stop ends the programs that were started for this server, and removes their files.
func (s *Server) Stop() error {
	return errors.Join(s.api.kill(), s.etcd.kill(), os.RemoveAll(s.dir))
}

const (
	certFile = "apiserver.crt"

	// retryInterval is the pause between polls, where nothing can be watched.
	retryInterval = 50 * time.Millisecond
)

// waitReady polls url until it answers 200.
func waitReady(ctx context.Context, p *process, client *http.Client, url string) error {
	return retry(ctx, p, func() error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", url, response.Status)
		}
		return nil
	})
}

func waitFile(ctx context.Context, p *process, path string) error {
	return retry(ctx, p, func() error {
		_, err := os.Stat(path)
		return err
	})
}

// retry calls try until it succeeds, the process ends, or ctx is done.
func retry(ctx context.Context, p *process, try func() error) error {
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return p.ended()
		case <-ctx.Done():
			return fmt.Errorf("%s isn't ready: %w (last try: %w)", filepath.Base(p.cmd.Path),
				context.Cause(ctx), err)
		case <-time.After(retryInterval):
		}
	}
}

// freePorts returns n ports of 127.0.0.1 that were free a moment ago. It can't reserve them, because the
// programs can't be given a listener.
func freePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // closed after the last port is chosen, so that all differ
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}
