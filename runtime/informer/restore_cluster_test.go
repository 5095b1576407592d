package informer_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/runtime/client"
	genclient "github.com/kubewright/kubewright/runtime/gen/client"
)

// cluster is an etcd behind two API servers. Each request goes to one of them at random. A revision is a
// count of writes, which a restore sets back. A version is revision*100 + epoch, where the epoch counts the
// restores. So versions have the order of revisions, and tell where they are from.
type cluster struct {
	mu       sync.Mutex
	random   *rand.Rand
	now      state
	history  []watch.Event // of this epoch
	uids     int
	backups  []state
	replicas [2]*replica
	streams  bool
}

// state is the content of etcd.
type state struct {
	revision, epoch int
	objects         map[string]*configMap
}

func (s state) version() string { return strconv.Itoa(s.revision*100 + s.epoch) }
func (s state) copy() state     { return state{s.revision, s.epoch, maps.Clone(s.objects)} }

// replica is an API server. It shows the state that its watch cache has reached, and a lagging one stays
// there. A sloppy one ignores the versions that lists ask for. It doesn't do so after a restore: to a cache,
// nothing would distinguish that from lagging.
type replica struct {
	shown           state
	lagging, sloppy bool
	watches         map[*replicaWatch]bool
}

// replicaWatch is a watch of a replica. from is the revision that it has reached.
type replicaWatch struct {
	*watch.RaceFreeFakeWatcher
	from int
}

func newCluster(random *rand.Rand, streams bool) *cluster {
	c := &cluster{random: random, streams: streams}
	c.now = state{revision: 100, objects: map[string]*configMap{}}
	for n := range c.replicas {
		c.replicas[n] = &replica{shown: c.now.copy(), watches: map[*replicaWatch]bool{}}
	}
	return c
}

// commit writes an object to etcd, or deletes it. It returns the object, with its version.
func (c *cluster) commit(kind watch.EventType, name string) *configMap {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now.revision++
	object := &configMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name,
		ResourceVersion: c.now.version()}}
	if old := c.now.objects[name]; old != nil {
		object.UID = old.UID
	} else {
		c.uids++
		object.UID = types.UID(fmt.Sprint("uid-", c.uids))
		kind = watch.Added
	}
	if c.now.objects[name] = object; kind == watch.Deleted {
		delete(c.now.objects, name)
	}
	c.history = append(c.history, watch.Event{Type: kind, Object: object})
	c.catchUp()
	return object
}

// catchUp shows each replica that doesn't lag the present state, and sends what its watches don't know.
func (c *cluster) catchUp() {
	for _, r := range c.replicas {
		if r.lagging {
			continue
		}
		if r.shown.epoch != c.now.epoch {
			r.close() // It was restarted.
		}
		r.shown = c.now.copy()
		for w := range r.watches {
			w.send(c.history)
		}
	}
}

func (w *replicaWatch) send(history []watch.Event) {
	for _, e := range history {
		if revision := versionOf(e.Object.(*configMap)) / 100; revision > w.from {
			w.from = revision
			w.Action(e.Type, e.Object.DeepCopyObject())
		}
	}
}

func (r *replica) close() {
	for w := range r.watches {
		w.Stop()
		delete(r.watches, w)
	}
}

// restore replaces the state by a backup that is much older than version. It does nothing if there is none.
func (c *cluster) restore(version int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	older := slices.DeleteFunc(slices.Clone(c.backups),
		func(b state) bool { return b.revision+150 > version/100 })
	if len(older) == 0 {
		return
	}
	epoch := c.now.epoch + 1
	c.now = older[c.random.IntN(len(older))].copy()
	c.now.epoch, c.history = epoch, nil
	c.catchUp()
}

func (c *cluster) with(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	c.catchUp()
}

// serve returns the replica that serves a request, and the state that it shows. A request without a version
// gets that of etcd.
func (c *cluster) serve(opts metav1.ListOptions) (*replica, state, error) {
	r := c.replicas[c.random.IntN(len(c.replicas))]
	wanted, _ := strconv.Atoi(opts.ResourceVersion)
	switch {
	case opts.ResourceVersion == "":
		return r, c.now, nil
	case wanted/100 > r.shown.revision &&
		!(r.sloppy && r.shown.epoch == c.now.epoch && wanted%100 == c.now.epoch):
		err := apierrors.NewTimeoutError("Too large resource version", 1)
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
		return nil, state{}, err
	}
	return r, r.shown, nil
}

func (c *cluster) List(_ context.Context, opts metav1.ListOptions) (*corev1.ConfigMapList, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, s, err := c.serve(opts)
	if err != nil {
		return nil, err
	}
	list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: s.version()}}
	for _, object := range s.objects {
		list.Items = append(list.Items, *object.DeepCopy())
	}
	return list, nil
}

func (c *cluster) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, s, err := c.serve(opts)
	if err != nil {
		return nil, err
	}
	w := &replicaWatch{RaceFreeFakeWatcher: watch.NewRaceFreeFake()}
	wanted, _ := strconv.Atoi(opts.ResourceVersion)
	w.from = wanted / 100
	if opts.SendInitialEvents != nil {
		for _, object := range s.objects {
			w.Add(object.DeepCopy())
		}
		w.Action(watch.Bookmark, &configMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: s.version(),
			Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}})
		w.from = s.revision
	} else if wanted%100 != r.shown.epoch || w.from > r.shown.revision {
		return nil, apierrors.NewResourceExpired("too old")
	}
	if r.shown.epoch == c.now.epoch {
		w.send(slices.DeleteFunc(slices.Clone(c.history), func(e watch.Event) bool {
			return versionOf(e.Object.(*configMap))/100 > r.shown.revision
		}))
	}
	r.watches[w] = true
	context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if r.watches[w] {
			delete(r.watches, w)
			w.Stop()
		}
	})
	return w, nil
}

func (c *cluster) IsWatchListSemanticsUnSupported() bool { return !c.streams }

// owner is a client of a cluster that records its writes, as generated clients do.
type owner struct {
	*cluster
	writes  *client.Resource[*configMap, *corev1.ConfigMapList]
	answers []any
}

func newOwner(c *cluster) (*owner, error) {
	o := &owner{cluster: c}
	var err error
	o.writes, err = client.For[*configMap, *corev1.ConfigMapList](
		&rest.Config{Host: "http://server", Transport: o, QPS: -1}, scheme.Scheme)
	return o, err
}

// RoundTrip answers a write.
func (o *owner) RoundTrip(r *http.Request) (*http.Response, error) {
	text, err := json.Marshal(o.answers[0])
	if err != nil {
		return nil, err
	}
	o.answers = o.answers[1:]
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(text))), Request: r}, nil
}

// answered records a write whose response is object.
func (o *owner) answered(ctx context.Context, object *configMap) error {
	object = object.DeepCopy()
	object.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	o.answers = append(o.answers, object)
	_, err := o.writes.Namespace("ns").Update(ctx, object, metav1.UpdateOptions{})
	return err
}

// answeredDeletion records a deletion, whose response has no version.
func (o *owner) answeredDeletion(ctx context.Context, object *configMap) error {
	o.answers = append(o.answers, metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: object.Name, Kind: "configmaps", UID: object.UID},
	})
	return o.writes.Namespace("ns").Delete(ctx, object.Name, metav1.DeleteOptions{})
}

func (o *owner) Written(namespace string, after uint64) (genclient.Written, bool) {
	return o.writes.Written(namespace, after)
}

func (o *owner) WrittenSince(namespace string, restored, after uint64) (genclient.Written, bool) {
	return any(o.writes).(interface {
		WrittenSince(namespace string, restored, after uint64) (genclient.Written, bool)
	}).WrittenSince(namespace, restored, after)
}

// names returns the names and versions of objects, in order.
func names(objects []*configMap) (all []string) {
	slices.SortFunc(objects, func(a, b *configMap) int { return cmp.Compare(a.Name, b.Name) })
	for _, object := range objects {
		all = append(all, object.Name+"@"+object.ResourceVersion)
	}
	return all
}
