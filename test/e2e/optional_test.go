package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/test/e2e/internal/optionals"
)

// TestOptionalKinds runs informers of kinds that come and go against a server of its own. The long form also
// restarts the server, changes the versions that are served, forbids the watch of definitions, and has 50
// kinds.
func TestOptionalKinds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	started, err := apiserver.Start(ctx, apiserver.Options{})
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
	kinds := 50
	if testing.Short() {
		kinds = 5
	}
	t.Run("ManyKinds", func(t *testing.T) { optionals.ManyKinds(t, server, kinds) })
	if testing.Short() {
		return // The tests of runtime/optional do the same as the rest, with a clock that they move.
	}
	t.Run("Restarts", func(t *testing.T) { optionals.Restarts(t, server) })
	t.Run("Versions", func(t *testing.T) { optionals.Versions(t, server) })
	t.Run("Forbidden", func(t *testing.T) { optionals.Forbidden(t, server) })
}
