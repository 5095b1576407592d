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

	"github.com/kubewright/kubewright/runtime/listwatch"
)

const (
	// keepNamespaces is how many namespaces of a resource have a version of
	// their own. Beyond that, those that were written to longest ago share one.
	keepNamespaces = 1024
	// keepDeletions is how many deletions of a resource are remembered at most.
	keepDeletions = 1024
)

// Writes remembers, for each resource, how far the writes of its clients have
// taken it: the highest resourceVersion that a create, update, patch or apply
// was answered with, in each namespace, and the last deletions. Informers that
// list through one of these clients can so wait for exactly that, see
// lister.Fresh.
//
// It is bounded: of a resource it keeps a version each for 1,024 namespaces, one
// for all others together, and at least the last 512 deletions. It learns nothing
// from a write that was answered with an error or not at all, from a deletion of
// a collection, and from the deletion of a single object whose answer has neither
// a version nor a UID, unless the UID was its precondition.
//
// The zero value is ready. It is safe for concurrent use and must not be copied.
type Writes struct {
	mu        sync.Mutex
	resources map[string]*written
}

// written is what is remembered of one resource.
type written struct {
	// versions are the highest by namespace, "" of what has none; highest is
	// the highest of all.
	versions map[string]string
	highest  string
	// before is the highest of the namespaces that are no longer in versions.
	before string
	// deletions are the last ones, in their order; sequence is the last one's.
	deletions []listwatch.Deletion
	sequence  uint64
}

// RememberIn makes a client note what it writes in w, which clients of other
// resources of the same group version may share. A nil w remembers nothing.
func RememberIn(w *Writes) Option {
	return func(e *endpoint) { e.writes = w }
}

// wrote notes the answer to a write.
func (e *endpoint) wrote(answer runtime.Object, err error) {
	if err != nil || e.writes == nil {
		return
	}
	if object, ok := answer.(metav1.Object); ok && object.GetResourceVersion() != "" {
		e.writes.version(e.resource, e.namespace, object.GetResourceVersion())
	}
}

// deleted notes the answer to a deletion: the object, if it isn't gone yet, or a
// status, which has no version.
func (e *endpoint) deleted(name string, opts *metav1.DeleteOptions, result rest.Result) {
	if e.writes == nil || len(opts.DryRun) > 0 {
		return
	}
	var uid types.UID
	if opts.Preconditions != nil && opts.Preconditions.UID != nil {
		uid = *opts.Preconditions.UID
	}
	// An answer that can't be decoded says nothing; the deletion was one.
	answer, _ := result.Get()
	switch answer := answer.(type) {
	case metav1.Object:
		e.wrote(answer.(runtime.Object), nil)
		return
	case *metav1.Status:
		if answer.Details != nil && answer.Details.UID != "" {
			uid = answer.Details.UID
		}
	}
	if uid != "" {
		e.writes.deletion(e.resource, types.NamespacedName{Namespace: e.namespace, Name: name}, uid)
	}
}

// of returns what is known of a resource. The caller holds mu.
func (w *Writes) of(resource string) *written {
	if w.resources == nil {
		w.resources = map[string]*written{}
	}
	known := w.resources[resource]
	if known == nil {
		known = &written{versions: map[string]string{}}
		w.resources[resource] = known
	}
	return known
}

func (w *Writes) version(resource, namespace, version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.of(resource)
	known.versions[namespace] = later(known.versions[namespace], version)
	known.highest = later(known.highest, version)
	if len(known.versions) > keepNamespaces {
		known.forget()
	}
}

// forget lets the older half of the namespaces share a version.
func (k *written) forget() {
	all := make([]string, 0, len(k.versions))
	for _, version := range k.versions {
		all = append(all, version)
	}
	slices.SortFunc(all, compare)
	k.before = later(k.before, all[len(all)/2])
	for namespace, version := range k.versions {
		if compare(version, k.before) <= 0 {
			delete(k.versions, namespace)
		}
	}
}

func (w *Writes) deletion(resource string, name types.NamespacedName, uid types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.of(resource)
	known.sequence++
	if len(known.deletions) == keepDeletions {
		// Half at a time, so that it is not the whole list that moves each time.
		known.deletions = slices.Delete(known.deletions, 0, keepDeletions/2)
	}
	known.deletions = append(known.deletions, listwatch.Deletion{
		Sequence: known.sequence,
		Name:     name,
		UID:      uid,
		After:    known.in(name.Namespace),
	})
}

// since returns what was written in a namespace, "" for all, and deleted after a
// deletion. If only is not "", nothing but what was in that namespace.
func (w *Writes) since(resource, only, namespace string, after uint64) (result listwatch.Written) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.resources[resource]
	if known == nil {
		return result
	}
	result.ResourceVersion = known.in(cmp.Or(only, namespace))
	first, _ := slices.BinarySearchFunc(known.deletions, after+1, func(d listwatch.Deletion, sequence uint64) int {
		return cmp.Compare(d.Sequence, sequence)
	})
	for _, d := range known.deletions[first:] {
		if only == "" || d.Name.Namespace == only {
			result.Deletions = append(result.Deletions, d)
		}
	}
	return result
}

// in returns the highest version of a namespace, "" for all.
func (k *written) in(namespace string) string {
	if namespace == "" {
		return k.highest
	}
	if version, ok := k.versions[namespace]; ok {
		return version
	}
	return k.before
}

// later returns the later of two versions, the first of which may be "". Of
// versions that can't be compared it is the second, which was answered later.
func later(a, b string) string {
	if a != "" && compare(a, b) > 0 {
		return a
	}
	return b
}

// compare orders versions as [resourceversion.CompareResourceVersion] does, and
// takes those that it can't compare for equal.
func compare(a, b string) int {
	order, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		return 0
	}
	return order
}
