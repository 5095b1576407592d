package main

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/runtime/shard"
)

// tables follows the group's table, which records who owns which range of hashes, and keeps all its versions.
type tables struct {
	leases coordination.LeaseInterface
	watch  watch.Interface
	ended  chan struct{} // closed when the watch has

	mu      sync.Mutex
	history []table
	changed chan struct{} // closed and replaced when a table arrives
}

// table is a version of the table.
type table struct {
	version uint64
	at      time.Time // when it arrived
	ranges  []entry
}

type entry struct {
	first uint64
	owner string // a replica, "" if nobody owns the range
	asked bool   // the range is about to change hands
}

func followTables(ctx context.Context, config *rest.Config) (*tables, error) {
	client, err := coordination.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	t := &tables{
		leases: client.Leases(metav1.NamespaceDefault),
		ended:  make(chan struct{}), changed: make(chan struct{}),
	}
	options := metav1.ListOptions{FieldSelector: "metadata.name=" + group}
	list, err := t.leases.List(ctx, options)
	if err != nil {
		return nil, err
	}
	options.ResourceVersion = list.ResourceVersion
	if t.watch, err = t.leases.Watch(context.WithoutCancel(ctx), options); err != nil {
		return nil, err
	}
	go t.follow()
	return t, nil
}

func (t *tables) follow() {
	defer close(t.ended)
	for event := range t.watch.ResultChan() {
		lease, ok := event.Object.(*coordinationv1.Lease)
		if !ok {
			return
		}
		t.mu.Lock()
		t.history = append(t.history, parse(lease))
		close(t.changed)
		t.changed = make(chan struct{})
		t.mu.Unlock()
	}
}

func (t *tables) stop() {
	t.watch.Stop()
	<-t.ended
}

// parse reads a table in the form that kubectl shows: a line for each range, after some lines for all.
func parse(lease *coordinationv1.Lease) table {
	version, _ := strconv.ParseUint(lease.ResourceVersion, 10, 64)
	t := table{version: version, at: time.Now()}
	for line := range strings.Lines(lease.Annotations["sharding.kubewright.dev/table"]) {
		words := strings.Fields(line)
		first, err := strconv.ParseUint(words[0], 16, 64)
		if err != nil || len(words[0]) != 16 {
			continue
		}
		t.ranges = append(t.ranges, entry{first, replicaOf(words[1]), strings.Contains(line, " to ")})
	}
	return t
}

// replicaOf returns the name that a replica was started with, without the random part that the member added.
func replicaOf(identity string) string {
	if i := strings.LastIndexByte(identity, '-'); i > 0 {
		return identity[:i]
	}
	return ""
}

// owner returns the owner of a namespace, "" if there is none.
func (t table) owner(namespace string) (owner string) {
	for _, e := range t.ranges {
		if e.first > shard.Hash(namespace) {
			break
		}
		owner = e.owner
	}
	return owner
}

// now returns the latest table.
func (t *tables) now() table {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.history) == 0 {
		return table{}
	}
	return t.history[len(t.history)-1]
}

// ownerAt returns who owned a namespace at a version of the server.
func (t *tables) ownerAt(namespace string, version uint64) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := table{}
	for _, next := range t.history {
		if next.version > version {
			break
		}
		at = next
	}
	return at.owner(namespace)
}

// without returns when the first table after since arrived that gives the replica no range.
func (t *tables) without(replica string, since time.Time) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, next := range t.history {
		has := slices.ContainsFunc(next.ranges, func(e entry) bool { return e.owner == replica })
		if next.at.After(since) && !has {
			return next.at
		}
	}
	return time.Time{}
}

// catchUp returns when every table that the server has made so far has arrived.
func (t *tables) catchUp(ctx context.Context) error {
	lease, err := t.leases.Get(ctx, group, metav1.GetOptions{})
	if err != nil {
		return err
	}
	newest := parse(lease).version
	for {
		t.mu.Lock()
		changed := t.changed
		there := len(t.history) > 0 && t.history[len(t.history)-1].version >= newest
		t.mu.Unlock()
		if there {
			return nil
		}
		select {
		case <-changed:
		case <-t.ended:
			return errors.New("the watch of the table has ended")
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// balancer returns the replica that is elected as the balancer, "" if none is.
func (t *tables) balancer(ctx context.Context) (string, error) {
	lease, err := t.leases.Get(ctx, group+"-balancer", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil || lease.Spec.HolderIdentity == nil {
		return "", err
	}
	return replicaOf(*lease.Spec.HolderIdentity), nil
}
