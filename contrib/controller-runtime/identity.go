package kwctrl

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/ownwrites"
)

// identified is an informer that has an identity, and so metrics, while it runs.
type identified struct {
	toolscache.SharedIndexInformer
	all       *informers
	overrides *overrides
	// cacheStarted is the same for all informers of a cache.
	cacheStarted *started
	names        *names
	form         string
	gvr          schema.GroupVersionResource
	// number is how many informers its Caches had made before.
	number int
	// tracker gets the informer when that runs, because it would keep one that never runs. It may be nil.
	tracker *ownwrites.Tracker
}

// Untyped returns the informer inside, for the functions of package informer.
func (i *identified) Untyped() toolscache.SharedInformer { return i.SharedIndexInformer }

func (i *identified) Run(stop <-chan struct{}) {
	i.run(context.Background(), func() { i.SharedIndexInformer.Run(stop) })
}

func (i *identified) RunWithContext(ctx context.Context) {
	i.run(ctx, func() { i.SharedIndexInformer.RunWithContext(ctx) })
}

func (i *identified) run(ctx context.Context, run func()) {
	id, release := i.names.reserve(i.form, i.gvr)
	defer release()
	// After the start this does nothing, and Run only logs that it was called twice.
	inside := i.SharedIndexInformer.(interface {
		SetIdentity(func() toolscache.InformerNameAndResource)
		SetName(string)
	})
	inside.SetIdentity(func() toolscache.InformerNameAndResource { return id })
	// Nothing else tells informers of a kind apart that are of several clusters or managers.
	status, _ := informer.StatusOf(i)
	inside.SetName(strings.TrimSuffix(status.Name, " ("+i.form+")") + " (" + id.Name() + ")")
	defer i.overrides.logLater(ctx)()
	if i.tracker != nil {
		if err := i.tracker.Add(i); err != nil {
			utilruntime.HandleErrorWithContext(ctx, err, "Own writes are not waited for")
		}
	}
	i.all.run(i, run)
}

// names are the names in metrics of a cache's informers: the server's host and the objects' form. A number is
// appended if a running informer already has that name and the same resource, because a cache has an informer
// for each of several namespaces, or a process has several caches of a server. Names of informers that have
// stopped are used again.
type names struct {
	host string

	mu       sync.Mutex
	reserved map[string]*name
}

// name is a reserved name, with the resources of running informers.
type name struct {
	*toolscache.InformerName
	ids     map[schema.GroupVersionResource]toolscache.InformerNameAndResource
	running map[schema.GroupVersionResource]bool
}

func newNames(host string) *names {
	if u, err := url.Parse(host); err == nil && u.Host != "" {
		host = u.Host
	}
	return &names{host: host, reserved: map[string]*name{}}
}

// reserve returns an identity that no other informer of the process has until release is called.
func (n *names) reserve(form string, gvr schema.GroupVersionResource) (
	id toolscache.InformerNameAndResource, release func(),
) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for number := 1; ; number++ {
		text := n.host + "/" + form
		if number > 1 {
			text = fmt.Sprintf("%s/%d", text, number)
		}
		candidate := n.reserved[text]
		if candidate == nil {
			reserved, err := toolscache.NewInformerName(text)
			if err != nil {
				continue // another cache has it
			}
			candidate = &name{reserved, map[schema.GroupVersionResource]toolscache.InformerNameAndResource{},
				map[schema.GroupVersionResource]bool{}}
			n.reserved[text] = candidate
		}
		if candidate.running[gvr] {
			continue
		}
		id, ok := candidate.ids[gvr]
		if !ok {
			id = candidate.WithResource(gvr)
			candidate.ids[gvr] = id
		}
		candidate.running[gvr] = true
		return id, func() { n.release(text, gvr) }
	}
}

func (n *names) release(text string, gvr schema.GroupVersionResource) {
	n.mu.Lock()
	defer n.mu.Unlock()
	reserved := n.reserved[text]
	delete(reserved.running, gvr)
	if len(reserved.running) == 0 {
		reserved.Release()
		delete(n.reserved, text)
	}
}

// formOf returns in which form a cache holds objects like an example.
func formOf(example runtime.Object) string {
	switch example.(type) {
	case runtime.Unstructured:
		return "unstructured"
	case *metav1.PartialObjectMetadata:
		return "metadata"
	}
	return "typed"
}

// resourceOf returns the resource of a kind from the mapper, in which the cache has just looked it up. If the
// mapper doesn't know it, known is false, and the resource is guessed from the kind's name.
func resourceOf(
	kind schema.GroupVersionKind, mapper meta.RESTMapper,
) (_ schema.GroupVersionResource, known bool) {
	if mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version); err == nil {
		return mapping.Resource, true
	}
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return plural, false
}
