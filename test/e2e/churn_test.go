package e2e

import (
	"context"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/test/e2e/churn"
)

// churning is a Churn of a scope's objects. It ends the test when a request fails.
type churning[T object] struct {
	*churn.Churn[T]
	t *testing.T
}

func newChurn[T object, L runtime.Object](
	t *testing.T, r resource[T, L], c versioned.Interface, scope string,
) *churning[T] {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	named := func(name string) T { return r.named(scope, name) }
	return &churning[T]{churn.New(r.writer(c, scope), seed, named, r.change), t}
}

func (c *churning[T]) run(ctx context.Context, requests int) {
	c.t.Helper()
	if err := c.Run(ctx, requests); err != nil {
		c.t.Fatal(err)
	}
}

func (c *churning[T]) last(ctx context.Context) (cache.ObjectName, string) {
	c.t.Helper()
	name, version, err := c.Last(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	return name, version
}
