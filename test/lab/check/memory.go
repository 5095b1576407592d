package check

import (
	"runtime"
	"slices"
	"sync"
	"weak"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/test/lab/cluster"
)

// delivered are the objects that handlers have received. They stay in memory only if others keep them.
type delivered struct {
	mu      sync.Mutex
	objects map[weak.Pointer[metav1.ObjectMeta]]struct{}
}

func (d *delivered) add(obj cluster.Object) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.objects == nil {
		d.objects = map[weak.Pointer[metav1.ObjectMeta]]struct{}{}
	}
	d.objects[weak.Make(metaOf(obj))] = struct{}{}
}

func metaOf(obj cluster.Object) *metav1.ObjectMeta {
	return obj.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta)
}

// left returns how many of the objects are still in memory.
func (d *delivered) left() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for p := range d.objects {
		if p.Value() == nil {
			delete(d.objects, p)
		} else {
			n++
		}
	}
	return n
}

// mostLeft is how many objects may be in memory beside those in the store and those of the last list.
const mostLeft = 16

// checkMemory checks that informers keep no object in memory for which there is no reason. Nothing may happen
// meanwhile. A blocked handler is a reason: no event may be lost.
func (w *world) checkMemory() {
	runtime.GC()
	runtime.GC() // for what pools keep
	for _, s := range w.subjects {
		if slices.ContainsFunc(s.observers, func(b *observer) bool { return !b.reads() }) {
			continue
		}
		_, objects := s.contents()
		if n := s.delivered.left(); n > 2*len(objects)+mostLeft {
			w.fail(frees, "%v keeps %d objects in memory, the store has %d", s, n, len(objects))
		}
	}
}
