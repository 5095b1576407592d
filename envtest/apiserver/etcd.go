package apiserver

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// startEtcd runs a single-member cluster that keeps its data under dir, and returns once it answers.
func startEtcd(ctx context.Context, dir string, opts Options) (*embed.Etcd, error) {
	cfg := embed.NewConfig()
	cfg.Name = "apiserver"
	cfg.Dir = filepath.Join(dir, "etcd")
	cfg.UnsafeNoFsync = true
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(etcdLogger(opts))

	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = anyPort, anyPort
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = anyPort, anyPort
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)

	etcd, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, fmt.Errorf("starting etcd: %w", err)
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err := <-etcd.Err():
		etcd.Close()
		return nil, fmt.Errorf("starting etcd: %w", err)
	case <-ctx.Done():
		etcd.Close()
		return nil, fmt.Errorf("starting etcd: %w", context.Cause(ctx))
	}
}

func etcdLogger(opts Options) *zap.Logger {
	if opts.Logs == nil {
		return zap.NewNop()
	}
	encoder := zapcore.NewConsoleEncoder(zap.NewProductionEncoderConfig())
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(opts.Logs)), zapcore.WarnLevel))
}

// Compact drops all revisions before the current one from etcd and returns the current one. A watch that
// starts at a dropped revision receives 410 Gone, and so does the next page of a list from before it. A watch
// that the server's watch cache can answer doesn't notice; see [Options.DisableWatchCache].
func (s *Server) Compact(ctx context.Context) (revision int64, err error) {
	revision = s.etcd.Server.KV().Rev()
	request := &etcdserverpb.CompactionRequest{Revision: revision, Physical: true}
	if _, err := s.etcd.Server.Compact(ctx, request); err != nil {
		return 0, fmt.Errorf("compacting etcd at revision %d: %w", revision, err)
	}
	return revision, nil
}
