// Package churn creates, changes and deletes objects at random, and records these changes, all of which every
// watcher must see.
package churn

import (
	"context"
	"fmt"
	"math/rand/v2"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/envtest/record"
)

// Client has the methods of a generated client that a Churn uses.
type Client[T any] interface {
	Create(context.Context, T, metav1.CreateOptions) (T, error)
	Update(context.Context, T, metav1.UpdateOptions) (T, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
}

// Churn is for one goroutine. Only a Churn may write the objects that it creates.
type Churn[T record.Object] struct {
	client  Client[T]
	make    func(name string) T
	change  func(obj T, n int)
	random  *rand.Rand
	present map[string]T
	done    []record.Event
}

// names is the greatest number of objects, without those of Last. It is small, so that most objects are
// changed, deleted and created again.
const names = 8

// New returns a Churn. The function make returns an object whose name ends in name; change makes an object
// differ from before, given a number from 1 up that differs at each call. The seed determines every request.
func New[T record.Object](
	client Client[T], seed uint64, make func(name string) T, change func(obj T, n int),
) *Churn[T] {
	return &Churn[T]{
		client: client, make: make, change: change,
		random:  rand.New(rand.NewPCG(seed, 0)),
		present: map[string]T{},
	}
}

// Done returns all changes so far, in order.
func (c *Churn[T]) Done() []record.Event { return c.done }

// Run sends the given number of requests.
func (c *Churn[T]) Run(ctx context.Context, requests int) error {
	for range requests {
		name := fmt.Sprint(c.random.IntN(names))
		_, present := c.present[name]
		var err error
		switch {
		case !present:
			_, err = c.create(ctx, name)
		case c.random.IntN(3) == 0:
			err = c.delete(ctx, name)
		default:
			err = c.update(ctx, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Last creates an object that is never deleted, after all other changes, so that watchers can wait for it. It
// returns its name and version.
func (c *Churn[T]) Last(ctx context.Context) (cache.ObjectName, string, error) {
	obj, err := c.create(ctx, fmt.Sprint("last-", len(c.done)))
	if err != nil {
		return cache.ObjectName{}, "", err
	}
	return cache.MetaObjectToName(obj), obj.GetResourceVersion(), nil
}

func (c *Churn[T]) create(ctx context.Context, name string) (T, error) {
	obj, err := c.client.Create(ctx, c.make(name), metav1.CreateOptions{})
	if err != nil {
		return obj, err
	}
	c.present[name] = obj
	c.did(record.Added, obj)
	return obj, nil
}

func (c *Churn[T]) update(ctx context.Context, name string) error {
	c.change(c.present[name], len(c.done)+1)
	obj, err := c.client.Update(ctx, c.present[name], metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	c.present[name] = obj
	c.did(record.Updated, obj)
	return nil
}

func (c *Churn[T]) delete(ctx context.Context, name string) error {
	obj := c.present[name]
	if err := c.client.Delete(ctx, obj.GetName(), metav1.DeleteOptions{}); err != nil {
		return err
	}
	delete(c.present, name)
	c.done = append(c.done, record.Event{What: record.Deleted, Name: cache.MetaObjectToName(obj)})
	return nil
}

func (c *Churn[T]) did(what string, obj T) {
	c.done = append(c.done,
		record.Event{What: what, Name: cache.MetaObjectToName(obj), Version: obj.GetResourceVersion()})
}
