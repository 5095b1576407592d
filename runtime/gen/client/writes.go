package client

import (
	"cmp"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/rest"
)

const (
	// keepNamespaces is the largest number of namespaces of a resource that have a
	// history of their own. If there are more, the half with the older writes share one.
	keepNamespaces = 1024
	// keepDeletions is the largest number of recorded deletions of a resource.
	keepDeletions = 1024
)

// Writes records the writes of clients, for each resource: the highest resourceVersion
// that a create, update, patch or apply returned, in each namespace, and the last
// deletions. Informers that list through one of these clients can wait until they show
// these writes, see lister.WaitForOwnWrites.
//
// Its memory is bounded: for each resource it keeps a version for each of up to 1,024 namespaces, one for all
// others together, and at least the last 512 deletions. It doesn't record a write that failed or got no
// response, a deletion of a collection, or a deletion whose response has neither a version nor a UID, unless
// the UID was a precondition.
//
// The zero value is ready for use. It is safe for concurrent use and must not be copied.
type Writes struct {
	mu sync.Mutex
	// resources are of type *written, and few enough for a linear search. The type any
	// lets the linker drop the code of written from programs that only read.
	resources []any
}

// written records the writes to one resource.
type written struct {
	resource string

	mu sync.Mutex
	// versions has the history of each namespace, with the key "" for cluster-scoped objects.
	// all is the history of all.
	versions map[string]history
	all      history
	// before is the history of the namespaces that are no longer in versions.
	before history
	// deletions are the last deletions, in order. sequence is the number of the last write or deletion.
	deletions []deletion
	sequence  uint64
}

// deletion is a deletion, with what was written in its namespace before.
type deletion struct {
	Deletion
	earlier history
}

// RememberIn makes a client record its writes in w. Clients of other resources of the same group version may
// share w. If w is nil, nothing is recorded.
func RememberIn(w *Writes) Option {
	return Option{writes: w}
}

// wrote records the response to a write.
func (e *endpoint) wrote(answer runtime.Object, err error) {
	if err != nil || e.writes == nil {
		return
	}
	if object, ok := answer.(metav1.Object); ok && object.GetResourceVersion() != "" {
		e.writes.forResource(e.resource).version(e.namespace, object.GetResourceVersion())
	}
}

// deleted records the response to a deletion. The response is the object, if it isn't gone
// yet, or a status, which has a version since Kubernetes 1.38.
func (e *endpoint) deleted(name string, opts *metav1.DeleteOptions, result rest.Result) {
	if e.writes == nil || len(opts.DryRun) > 0 {
		return
	}
	var uid types.UID
	var version string
	if opts.Preconditions != nil && opts.Preconditions.UID != nil {
		uid = *opts.Preconditions.UID
	}
	// If the response can't be decoded, the object was deleted nevertheless.
	answer, _ := result.Get()
	switch answer := answer.(type) {
	case metav1.Object:
		e.wrote(answer.(runtime.Object), nil)
		return
	case *metav1.Status:
		if answer.Details != nil && answer.Details.UID != "" {
			uid = answer.Details.UID
		}
		version = answer.ResourceVersion
	}
	if uid != "" || version != "" {
		e.writes.forResource(e.resource).deletion(e.namespace, name, uid, version)
	}
}

// forResource returns the record of a resource.
func (w *Writes) forResource(resource string) *written {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, known := range w.resources {
		if known := known.(*written); known.resource == resource {
			return known
		}
	}
	known := &written{resource: resource, versions: map[string]history{}}
	w.resources = append(w.resources, known)
	return known
}

func (k *written) version(namespace, version string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sequence++
	w := write{k.sequence, version}
	k.versions[namespace] = k.versions[namespace].with(w)
	k.all = k.all.with(w)
	if len(k.versions) > keepNamespaces {
		k.forget()
	}
}

// forget makes the half of the namespaces with the older writes share the history before.
// The caller holds mu.
func (k *written) forget() {
	lasts := make([]uint64, 0, len(k.versions))
	for _, h := range k.versions {
		lasts = append(lasts, h.last())
	}
	slices.Sort(lasts)
	shared := slices.Clone(k.before)
	for namespace, h := range k.versions {
		if h.last() <= lasts[len(lasts)/2] {
			shared = append(shared, h...)
			delete(k.versions, namespace)
		}
	}
	k.before = merged(shared)
}

func (k *written) deletion(namespace, name string, uid types.UID, version string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sequence++
	if len(k.deletions) == keepDeletions {
		// Dropping half at a time spreads the cost of moving the rest over many deletions.
		k.deletions = slices.Delete(k.deletions, 0, keepDeletions/2)
	}
	k.deletions = append(k.deletions, deletion{Deletion{
		Sequence:        k.sequence,
		Namespace:       namespace,
		Name:            name,
		UID:             uid,
		ResourceVersion: version,
	}, k.in(namespace)})
}

// since returns the highest version that was written in a namespace, or in all for "", and the deletions with
// sequence numbers above after. What was written or deleted up to the sequence number restored doesn't count.
// only, the namespace of the client, restricts both unless it is "".
func (k *written) since(only, namespace string, restored, after uint64) Written {
	k.mu.Lock()
	defer k.mu.Unlock()
	result := Written{
		ResourceVersion: k.in(cmp.Or(only, namespace)).since(restored), Sequence: k.sequence,
	}
	first, _ := slices.BinarySearchFunc(k.deletions, max(restored, after),
		func(d deletion, sequence uint64) int {
			if d.Sequence <= sequence {
				return -1
			}
			return 1
		})
	for _, d := range k.deletions[first:] {
		if only == "" || d.Namespace == only {
			d.After = d.earlier.since(restored)
			result.Deletions = append(result.Deletions, d.Deletion)
		}
	}
	return result
}

// in returns the history of a namespace, or of all for "". The caller holds mu.
func (k *written) in(namespace string) history {
	if namespace == "" {
		return k.all
	}
	if h, ok := k.versions[namespace]; ok {
		return h
	}
	return k.before
}

// compare orders versions as [resourceversion.CompareResourceVersion] does. Versions that
// it can't compare are equal.
func compare(a, b string) int {
	order, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		return 0
	}
	return order
}
