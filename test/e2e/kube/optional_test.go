package kube

import (
	"context"
	"testing"
	"time"

	"github.com/kubewright/kubewright/test/e2e/internal/optionals"
	"github.com/kubewright/kubewright/test/e2e/kubeserver"
)

// TestOptionalKinds runs informers of kinds that come and go against a kube-apiserver.
func TestOptionalKinds(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a kube-apiserver")
	}
	binaries, err := kubeserver.Build(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	started, err := kubeserver.Start(ctx, binaries, kubeserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := started.Stop(); err != nil {
			t.Error(err)
		}
	}()
	server := optionals.Server{Config: started.Config(), Restart: started.Restart}
	t.Run("Factories", func(t *testing.T) { optionals.Factories(t, server) })
	t.Run("ManyKinds", func(t *testing.T) { optionals.ManyKinds(t, server, 50) })
	t.Run("Versions", func(t *testing.T) { optionals.Versions(t, server) })
	t.Run("Forbidden", func(t *testing.T) { optionals.Forbidden(t, server) })
	t.Run("Restarts", func(t *testing.T) { optionals.Restarts(t, server) })
}
