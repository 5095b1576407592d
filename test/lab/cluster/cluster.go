// Package cluster is an API server in memory for several types. It remembers every state. Its versions count
// the writes to all types, as etcd's do.
package cluster

import (
	"context"
	"maps"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// Object is an API object.
type Object = runtimetest.Object

// State is the objects of one type at one version. It is read-only, and so are its objects.
type State map[cache.ObjectName]Object

// Cluster is the server. It serves lists and watches over HTTP, see [Cluster.ServeHTTP]; writes are methods.
// Its methods are safe for concurrent use. It works inside a bubble of synctest.
type Cluster struct {
	mu         sync.Mutex
	kinds      []*Kind
	conditions conditions
	behind     behind
}

// New returns a cluster without objects.
func New() *Cluster {
	c := &Cluster{behind: behind{moved: make(chan struct{}), counts: map[string]uint64{}}}
	c.kinds = kinds(c)
	return c
}

// Kinds returns the types that the cluster has, always in the same order.
func (c *Cluster) Kinds() []*Kind { return c.kinds }

// Put updates an object, or creates it if it doesn't exist, and returns its version. change gets a copy of
// the present state, or a new object. It must not change the metadata that servers set.
func (c *Cluster) Put(k *Kind, name cache.ObjectName, change func(Object)) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	present, exists := k.now()[name]
	if !exists {
		obj := k.newObject()
		obj.SetNamespace(name.Namespace)
		obj.SetName(name.Name)
		change(obj)
		return c.write(k, name, func() { k.server.create(obj) })
	}
	obj := present.DeepCopyObject().(Object)
	change(obj)
	return c.write(k, name, func() { k.server.update(obj) })
}

// Remove deletes an object if it exists. While the object has finalizers it is only marked as deleted.
func (c *Cluster) Remove(k *Kind, name cache.ObjectName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	present, exists := k.now()[name]
	switch {
	case !exists || present.GetDeletionTimestamp() != nil:
	case len(present.GetFinalizers()) > 0:
		obj := present.DeepCopyObject().(Object)
		now, none := metav1.NewTime(time.Now().Truncate(time.Second)), int64(0)
		obj.SetDeletionTimestamp(&now)
		obj.SetDeletionGracePeriodSeconds(&none)
		c.write(k, name, func() { k.server.update(obj) })
	default:
		c.write(k, name, func() { k.server.remove(name) })
	}
}

// Finish removes the finalizers of an object. That deletes the object if it is marked as deleted.
func (c *Cluster) Finish(k *Kind, name cache.ObjectName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	present, exists := k.now()[name]
	switch {
	case !exists || len(present.GetFinalizers()) == 0:
	case present.GetDeletionTimestamp() != nil:
		c.write(k, name, func() { k.server.remove(name) })
	default:
		obj := present.DeepCopyObject().(Object)
		obj.SetFinalizers(nil)
		c.write(k, name, func() { k.server.update(obj) })
	}
}

// write does a write to one object of k, as one version of all kinds. The caller holds mu, so that At doesn't
// miss the state of a version that an informer has already received.
func (c *Cluster) write(k *Kind, name cache.ObjectName, do func()) (version string) {
	for _, other := range c.kinds {
		if other != k {
			other.skip()
		}
	}
	do()
	next := maps.Clone(k.now())
	delete(next, name)
	for _, obj := range k.server.all() {
		if cache.MetaObjectToName(obj) == name {
			next[name] = obj
		}
	}
	k.states = append(k.states, next)
	return k.server.Version()
}

// Compact drops the history of all types: requests for an earlier version have expired.
func (c *Cluster) Compact() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.kinds {
		k.skip()
		k.server.Compact()
	}
	c.move(0, false)
}

// Bookmark sends a bookmark to each open watch that allows them.
func (c *Cluster) Bookmark() {
	for _, k := range c.kinds {
		k.server.Bookmark()
	}
}

// CloseWatches ends all open watches without an error.
func (c *Cluster) CloseWatches() {
	for _, k := range c.kinds {
		k.server.CloseWatches()
	}
}

// MaxPage bounds the pages of lists to n objects. Zero sets no bound.
func (c *Cluster) MaxPage(n int64) {
	for _, k := range c.kinds {
		k.server.MaxPage(n)
	}
}

// WatchCache makes lists at a version ignore the limit, as those from a server's watch cache do.
func (c *Cluster) WatchCache(on bool) {
	for _, k := range c.kinds {
		k.server.WatchCache(on)
	}
}

// Watches is the number of open watches.
func (c *Cluster) Watches() (n int) {
	for _, k := range c.kinds {
		n += k.server.Watches()
	}
	return n
}

// bookmarkPeriod is how often servers send bookmarks.
const bookmarkPeriod = time.Minute

// Run sends bookmarks, about as often as API servers do, until ctx is done.
func (c *Cluster) Run(ctx context.Context) {
	tick := time.NewTicker(bookmarkPeriod)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.Bookmark()
		case <-ctx.Done():
			return
		}
	}
}

// At returns the state of a type at a version, false if there was no such version.
func (k *Kind) At(version string) (State, bool) {
	v, err := strconv.ParseInt(version, 10, 64)
	k.cluster.mu.Lock()
	defer k.cluster.mu.Unlock()
	if i := v - k.first; err == nil && i >= 0 && i < int64(len(k.states)) {
		return k.states[i], true
	}
	return nil, false
}

// Now returns the present state of a type, and its version.
func (k *Kind) Now() (State, string) {
	k.cluster.mu.Lock()
	defer k.cluster.mu.Unlock()
	return k.now(), k.server.Version()
}

func (k *Kind) now() State { return k.states[len(k.states)-1] }

// skip makes a version without a write to this type. The caller holds the cluster's mu.
func (k *Kind) skip() {
	k.server.Skip(1)
	k.states = append(k.states, k.now())
}
