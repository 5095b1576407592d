package live

import (
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/envtest/record"
	"github.com/kubewright/kubewright/internal/guarantee"
)

// witness is a handler that checks, beside what a recorder checks, that no version goes back: neither that of
// the informer, nor that of an object that was deleted and is there again.
type witness struct {
	*record.Recorder[metav1.Object]
	informer cache.SharedIndexInformer

	mu       sync.Mutex
	version  string                      // of the informer, at the last call
	last     map[cache.ObjectName]string // the version of each object that was ever there
	problems []string
}

func newWitness(i cache.SharedIndexInformer) *witness {
	return &witness{
		Recorder: record.New[metav1.Object](), informer: i, last: map[cache.ObjectName]string{},
	}
}

func (w *witness) OnAdd(obj metav1.Object, isInInitialList bool) {
	w.see(obj)
	w.Recorder.OnAdd(obj, isInInitialList)
}

func (w *witness) OnUpdate(old, obj metav1.Object) {
	w.see(obj)
	w.Recorder.OnUpdate(old, obj)
}

func (w *witness) OnDelete(obj cache.DeletedObject[metav1.Object]) {
	if obj.FinalStateUnknown == nil {
		w.see(obj.OptionalObj)
	}
	w.Recorder.OnDelete(obj)
}

func (w *witness) see(obj metav1.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	version := w.informer.LastSyncResourceVersion()
	w.grows("the informer", version, w.version)
	w.version = version
	name := cache.MetaObjectToName(obj)
	w.grows(name.String(), obj.GetResourceVersion(), w.last[name])
	w.last[name] = obj.GetResourceVersion()
}

func (w *witness) grows(what, version, before string) {
	if before == "" {
		return
	}
	if order, err := resourceversion.CompareResourceVersion(version, before); err != nil || order < 0 {
		w.problems = append(w.problems, fmt.Sprintf("%s: %s was at version %s, and is at %s (%v)",
			guarantee.NoTimeTravel, what, before, version, err))
	}
}

// Problems returns what was wrong so far. Each begins with the guarantee.
func (w *witness) Problems() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	problems := slices.Clone(w.problems)
	for _, problem := range w.Recorder.Problems() {
		problems = append(problems, fmt.Sprintf("%s: %s", guarantee.Complete, problem))
	}
	return problems
}
