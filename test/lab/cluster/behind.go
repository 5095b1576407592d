package cluster

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// behind is a second server of the same history, whose cache is older. Each request goes to either server.
type behind struct {
	// at is the version that the server has reached, 0 without one. share is how many requests go to it.
	at    int64
	share float64
	// watches is false after Calm: then it serves no watches.
	watches bool
	// moved is closed when any of the above changes.
	moved chan struct{}
	// counts are the requests of each client. They decide which server a request goes to.
	counts map[string]uint64
}

// untilRefused is how long a server waits for a version that it hasn't reached, as API servers do.
const untilRefused = 3 * time.Second

// Lag begins with a second server, which stays where the cluster is now and gets a share of the requests,
// from 0 to 1. Lag(0) and Compact end that.
//
// Like an API server's watch cache, the second server answers lists at a version, "0" included, with its own
// state. If it hasn't reached the version, it waits, and refuses the request after three seconds. Its watches
// bring what it has reached. Lists without a version, of the newest state, are those of the first server.
func (c *Cluster) Lag(share float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := int64(0)
	if c.behind.share = share; share > 0 {
		at = c.version()
	}
	c.move(at, share > 0)
}

// CatchUp makes the server that is behind catch up by n versions, but not overtake the other.
func (c *Cluster) CatchUp(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.behind.at > 0 {
		c.move(min(c.behind.at+n, c.version()), c.behind.watches)
	}
}

// version is the present one. The caller holds mu.
func (c *Cluster) version() int64 {
	v, _ := strconv.ParseInt(c.kinds[0].server.Version(), 10, 64)
	return v
}

// move sets where the server is that is behind. The caller holds mu.
func (c *Cluster) move(at int64, watches bool) {
	c.behind.at, c.behind.watches = at, watches
	close(c.behind.moved)
	c.behind.moved = make(chan struct{})
}

// reached returns the version that the server has reached that is behind, 0 without one, and a channel that
// is closed when that changes.
func (c *Cluster) reached() (at int64, watches bool, moved <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.behind.at, c.behind.watches, c.behind.moved
}

type behindKey struct{}

// routed marks a request that goes to the server that is behind, if there is one. The same request of a
// client always goes to the same server.
func (c *Cluster) routed(r *http.Request) *http.Request {
	client := r.Header.Get("User-Agent")
	c.mu.Lock()
	c.behind.counts[client]++
	n, share := c.behind.counts[client], c.behind.share
	c.mu.Unlock()
	hash := fnv.New64a()
	hash.Write([]byte(client))
	is := rand.New(rand.NewPCG(hash.Sum64(), n)).Float64() < share
	return r.WithContext(context.WithValue(r.Context(), behindKey{}, is))
}

// goesBehind reports whether a request goes to the server that is behind.
func goesBehind(ctx context.Context) bool {
	is, _ := ctx.Value(behindKey{}).(bool)
	return is
}

// list answers a list.
func (k *Kind) list(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	if goesBehind(ctx) && opts.ResourceVersion != "" {
		at, err := k.cluster.await(ctx, number(opts.ResourceVersion))
		if err != nil {
			return nil, err
		}
		if at > 0 {
			return k.listAt(ctx, opts, at)
		}
	}
	return k.server.list(ctx, opts)
}

// listAt lists at a version.
func (k *Kind) listAt(ctx context.Context, opts metav1.ListOptions, version int64) (runtime.Object, error) {
	// This is how the server in memory names a list at a version.
	opts.ResourceVersion, opts.Continue = "", fmt.Sprint(version, ":")
	return k.server.list(ctx, opts)
}

// await waits until the server that is behind has reached a version, and returns where it is then, 0 if there
// is none. It returns an error if that takes too long.
func (c *Cluster) await(ctx context.Context, version int64) (at int64, err error) {
	timer := time.NewTimer(untilRefused)
	defer timer.Stop()
	for {
		at, _, moved := c.reached()
		if at == 0 || version <= at {
			return at, nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-timer.C:
			return 0, tooLarge(version, at)
		}
	}
}

func tooLarge(wanted, at int64) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", wanted, at), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{
		{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"},
	}
	return err
}

// watch answers a watch.
func (k *Kind) watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	at, watches, _ := k.cluster.reached()
	initial := opts.SendInitialEvents != nil && *opts.SendInitialEvents
	if !goesBehind(ctx) || at == 0 || !watches || !initial && number(opts.ResourceVersion) == 0 {
		return k.server.Watch(ctx, opts)
	}
	var events []watch.Event
	if initial {
		wanted := number(opts.ResourceVersion)
		if opts.ResourceVersion == "" {
			_, now := k.Now()
			wanted = number(now)
		}
		at, err := k.cluster.await(ctx, wanted)
		switch {
		case err != nil:
			return nil, err
		case at == 0:
			return k.server.Watch(ctx, opts)
		}
		if events, err = k.initialEvents(ctx, opts, at); err != nil {
			return nil, err
		}
		opts.SendInitialEvents, opts.ResourceVersionMatch, opts.ResourceVersion = nil, "", fmt.Sprint(at)
	}
	w, err := k.server.Watch(ctx, opts)
	if err != nil {
		return nil, err
	}
	return newLateWatch(k.cluster, w, number(opts.ResourceVersion), events), nil
}

// initialEvents returns the events that begin a watch with the state at a version.
func (k *Kind) initialEvents(
	ctx context.Context, opts metav1.ListOptions, version int64,
) (events []watch.Event, err error) {
	list, err := k.listAt(ctx, metav1.ListOptions{
		LabelSelector: opts.LabelSelector, FieldSelector: opts.FieldSelector}, version)
	if err != nil {
		return nil, err
	}
	objects, err := meta.ExtractList(list)
	for _, obj := range objects {
		events = append(events, watch.Event{Type: watch.Added, Object: obj})
	}
	end := k.newObject()
	end.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	end.SetResourceVersion(fmt.Sprint(version))
	return append(events, watch.Event{Type: watch.Bookmark, Object: end}), err
}

// number parses a version. It returns 0 for "".
func number(version string) int64 {
	v, _ := strconv.ParseInt(version, 10, 64)
	return v
}
