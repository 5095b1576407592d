package leaseserver

import (
	"context"
	"errors"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// Link is what lies between a client and the server. Its methods must be safe for concurrent use.
type Link interface {
	// Carry carries out a request by calling do, now, later or never, and returns the answer. verb is the
	// method's name in lower case; name is that of the Lease, "" for LIST and WATCH.
	Carry(ctx context.Context, verb, name string, do func() (any, error)) (any, error)
	// Deliver waits until an event that happened at a time may be delivered. If it returns false, the watch
	// ends.
	Deliver(ctx context.Context, at time.Time) bool
	// Up reports whether watches go on. When it becomes false, [Server.Wake] must be called.
	Up() bool
}

// Client returns a client of the server, with the methods that package sharding and leader elections call.
func (s *Server) Client(link Link) coordination.LeaseInterface { return &client{server: s, link: link} }

type client struct {
	coordination.LeaseInterface // nil: other methods than those below aren't called

	server *Server
	link   Link
}

func carry[T any](ctx context.Context, c *client, verb, name string, do func() (T, error)) (T, error) {
	answer, err := c.link.Carry(ctx, verb, name, func() (any, error) { return do() })
	value, _ := answer.(T)
	return value, err
}

func (c *client) Get(ctx context.Context, name string, _ metav1.GetOptions) (*coordinationv1.Lease, error) {
	return carry(ctx, c, "get", name, func() (*coordinationv1.Lease, error) { return c.server.Get(name) })
}

func (c *client) Create(
	ctx context.Context, lease *coordinationv1.Lease, _ metav1.CreateOptions,
) (*coordinationv1.Lease, error) {
	lease = lease.DeepCopy() // the caller may change its own before the request arrives
	return carry(ctx, c, "create", lease.Name, func() (*coordinationv1.Lease, error) {
		return c.server.Create(lease)
	})
}

func (c *client) Update(
	ctx context.Context, lease *coordinationv1.Lease, _ metav1.UpdateOptions,
) (*coordinationv1.Lease, error) {
	lease = lease.DeepCopy()
	return carry(ctx, c, "update", lease.Name, func() (*coordinationv1.Lease, error) {
		return c.server.Update(lease)
	})
}

func (c *client) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	_, err := carry(ctx, c, "delete", name, func() (struct{}, error) {
		return struct{}{}, c.server.Delete(name, options)
	})
	return err
}

func (c *client) List(ctx context.Context, options metav1.ListOptions) (*coordinationv1.LeaseList, error) {
	return carry(ctx, c, "list", "", func() (*coordinationv1.LeaseList, error) { return c.server.List(options) })
}

// Watch sends what was written since a version.
func (c *client) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if options.ResourceVersion == "" {
		return nil, errors.New("the watch would begin with what exists")
	}
	ctx, cancel := context.WithCancel(ctx)
	from, err := carry(ctx, c, "watch", "", func() (watch.Interface, error) {
		return c.server.leases.Watch(ctx, options)
	})
	if err != nil {
		cancel() // the server may watch, although the answer was lost
		return nil, err
	}
	s := stream{make(chan watch.Event), cancel}
	c.server.watched(options, 1)
	go func() {
		defer close(s.events)
		defer c.server.watched(options, -1)
		defer cancel()
		c.send(ctx, from.ResultChan(), s.events)
	}()
	return s, nil
}

type stream struct {
	events chan watch.Event
	stop   func()
}

func (s stream) Stop()                          { s.stop() }
func (s stream) ResultChan() <-chan watch.Event { return s.events }

// send passes events on until ctx or the link ends.
func (c *client) send(ctx context.Context, from <-chan watch.Event, to chan<- watch.Event) {
	for {
		wakes := c.server.wakes()
		if !c.link.Up() {
			return
		}
		select {
		case event, open := <-from:
			if !open || !c.link.Up() || !c.link.Deliver(ctx, c.server.timeOf(event)) {
				return
			}
			select {
			case to <- event:
			case <-ctx.Done():
				return
			}
		case <-wakes:
		case <-ctx.Done():
			return
		}
	}
}
