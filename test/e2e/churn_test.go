package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/test/e2e/record"
)

// churn creates, changes and deletes the objects of a scope at random, and
// writes down what it did: that is what every watcher has to see.
type churn[T object, L runtime.Object] struct {
	t        *testing.T
	resource resource[T, L]
	client   writer[T, L]
	scope    string
	random   *rand.Rand
	present  map[string]T
	done     []record.Event
}

// churnNames is how many objects there are at most: few, so that most of them
// are changed, deleted and made again.
const churnNames = 8

func newChurn[T object, L runtime.Object](t *testing.T, r resource[T, L], c versioned.Interface, scope string) *churn[T, L] {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return &churn[T, L]{
		t: t, resource: r, client: r.writer(c, scope), scope: scope,
		random:  rand.New(rand.NewPCG(seed, 0)),
		present: map[string]T{},
	}
}

func (c *churn[T, L]) run(ctx context.Context, steps int) {
	c.t.Helper()
	for i := range steps {
		name := fmt.Sprint(c.random.IntN(churnNames))
		obj, present := c.present[name]
		switch {
		case !present:
			c.create(ctx, name)
		case c.random.IntN(3) == 0:
			c.delete(ctx, name)
		default:
			// From 1 up: that is what each of the types takes.
			c.resource.change(obj, i+1)
			c.update(ctx, name, obj)
		}
	}
}

// last creates an object that every watcher sees after all that was done before.
func (c *churn[T, L]) last(ctx context.Context) (cache.ObjectName, string) {
	c.t.Helper()
	obj := c.create(ctx, fmt.Sprint("last-", len(c.done)))
	return cache.MetaObjectToName(obj), obj.GetResourceVersion()
}

func (c *churn[T, L]) create(ctx context.Context, name string) T {
	c.t.Helper()
	obj, err := c.client.Create(ctx, c.resource.named(c.scope, name), metav1.CreateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	c.present[name] = obj
	c.done = append(c.done, record.Event{What: record.Added, Name: cache.MetaObjectToName(obj), Version: obj.GetResourceVersion()})
	return obj
}

func (c *churn[T, L]) update(ctx context.Context, name string, changed T) {
	c.t.Helper()
	obj, err := c.client.Update(ctx, changed, metav1.UpdateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	before := c.present[name].GetResourceVersion()
	c.present[name] = obj
	if obj.GetResourceVersion() == before {
		return // nothing was changed, so nobody is told
	}
	c.done = append(c.done, record.Event{What: record.Updated, Name: cache.MetaObjectToName(obj), Version: obj.GetResourceVersion()})
}

func (c *churn[T, L]) delete(ctx context.Context, name string) {
	c.t.Helper()
	obj := c.present[name]
	if err := c.client.Delete(ctx, obj.GetName(), metav1.DeleteOptions{}); err != nil {
		c.t.Fatal(err)
	}
	delete(c.present, name)
	c.done = append(c.done, record.Event{What: record.Deleted, Name: cache.MetaObjectToName(obj)})
}
