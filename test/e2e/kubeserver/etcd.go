package kubeserver

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
)

// startEtcd runs etcd on the data that it left, and returns when it is ready.
func (s *Server) startEtcd(ctx context.Context) (err error) {
	s.etcd, err = startProcess(s.dir, s.binaries.Etcd,
		"--data-dir="+s.etcdData(),
		"--unsafe-no-fsync",
		"--listen-client-urls="+s.etcdURL, "--advertise-client-urls="+s.etcdURL,
		"--listen-peer-urls="+s.etcdPeer, "--initial-advertise-peer-urls="+s.etcdPeer,
		"--initial-cluster=default="+s.etcdPeer,
	)
	if err != nil {
		return err
	}
	return waitReady(ctx, s.etcd, http.DefaultClient, s.etcdURL+"/readyz")
}

func (s *Server) etcdData() string { return filepath.Join(s.dir, "etcd") }

// EtcdURL returns the URL of etcd.
func (s *Server) EtcdURL() string { return s.etcdURL }

// Backup copies etcd's data to a folder that doesn't exist yet. While it copies, etcd doesn't run; with one
// member, the data of an etcd that has ended is a valid snapshot. The API server runs on.
func (s *Server) Backup(ctx context.Context, folder string) error {
	if err := s.etcd.kill(); err != nil {
		return err
	}
	if err := os.CopyFS(folder, os.DirFS(s.etcdData())); err != nil {
		return err
	}
	return s.startEtcd(ctx)
}

// Restore replaces etcd's data by those of a backup, so that etcd's revisions go back. An API server that
// runs meanwhile goes on with the caches that it has, which are wrong from then on: the documentation of
// Kubernetes demands that all API servers end before, and start after.
func (s *Server) Restore(ctx context.Context, folder string) error {
	if err := s.etcd.kill(); err != nil {
		return err
	}
	if err := os.RemoveAll(s.etcdData()); err != nil {
		return err
	}
	if err := os.CopyFS(s.etcdData(), os.DirFS(folder)); err != nil {
		return err
	}
	return s.startEtcd(ctx)
}

// Beside starts another API server over the same etcd, with the same credentials and flags. It reaches etcd
// at a URL, which may be that of a proxy. Stop it before s.
func (s *Server) Beside(ctx context.Context, etcdURL string) (*Server, error) {
	dir, err := os.MkdirTemp("", "kubewright-kubeserver-")
	if err != nil {
		return nil, err
	}
	other := &Server{
		dir: dir, credentials: s.credentials, binaries: s.binaries, etcdURL: etcdURL, token: s.token,
		clientCA: s.clientCA, flags: s.flags,
	}
	ports, err := freePorts(1)
	if err == nil {
		other.port = ports[0]
		err = other.startAPIServer(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, other.Stop())
	}
	return other, nil
}
