package engine

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/deltafifo"
	"github.com/kubewright/kubewright/runtime/internal/indexer"
)

// named is an object with a number that distinguishes its states.
type named struct {
	name  string
	state int
}

type names []string

func (n *names) OnAdd(obj any, initial bool) {
	*n = append(*n, fmt.Sprint("add ", obj, initial))
}
func (n *names) OnUpdate(oldObj, newObj any) {
	*n = append(*n, fmt.Sprint("update ", oldObj, newObj))
}
func (n *names) OnDelete(gone deletion[string]) {
	*n = append(*n, fmt.Sprint("delete ", gone))
}

// rig is a writer without a reflector, and a handler.
type rig struct {
	writer writer[string]
	sink   sink[string]
	queue  *deltafifo.DeltaFIFO[string]
	calls  names
}

// newNamedInformer returns an informer of named objects.
func newNamedInformer() *engine[string] {
	keys := indexer.Strings(func(obj any) (string, error) { return obj.(named).name, nil })
	return newEngine(Config[string]{Keys: keys, TypeName: "named"})
}

func newRig(t *testing.T) *rig {
	i := newNamedInformer()
	r := &rig{writer: writer[string]{informer: i, logger: klog.Background()}, queue: deltafifo.New[string]()}
	r.sink = sink[string]{store: i.store, queue: r.queue, key: i.config.Keys.Of}
	if _, err := i.addHandler(&r.calls, informer.HandlerOptions{}, ""); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestBatchesChangeNothing checks that the calls of handlers and the final store don't depend on how many
// deltas are popped at a time.
func TestBatchesChangeNothing(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 5))
		single, batched := newRig(t), newRig(t)
		both := func(do func(s sink[string])) {
			do(single.sink)
			do(batched.sink)
		}
		for state := range 500 {
			obj := named{strconv.Itoa(r.IntN(10)), state}
			version := strconv.Itoa(r.IntN(3))
			switch n := r.IntN(20); {
			case n < 8:
				both(func(s sink[string]) { _ = s.Added(obj, version) })
			case n < 12:
				both(func(s sink[string]) { _ = s.Updated(obj, version) })
			case n < 16:
				both(func(s sink[string]) { _ = s.Deleted(obj, version) })
			case n == 16:
				both(func(s sink[string]) { _ = s.Resync() })
			case n == 17:
				both(func(s sink[string]) { _ = s.Bookmark(version) })
			default:
				taken := named{"taken back", state}
				both(func(s sink[string]) {
					staging := s.Begin()
					_ = staging.Add(obj, version)
					_ = staging.Add(taken, version)
					_ = staging.Add(named{obj.name + "0", state}, version)
					_ = staging.Remove(taken)
					_ = staging.Commit(version)
				})
			}
			single.take(t, 1)
			if r.IntN(30) == 0 {
				batched.take(t, 0)
			}
		}
		batched.take(t, 0)
		if !slices.Equal(single.calls, batched.calls) {
			t.Fatalf("seed %d: one at a time\n%q\nin batches\n%q", seed, single.calls, batched.calls)
		}
		one, many := single.writer.informer.store, batched.writer.informer.store
		if one.ResourceVersion() != many.ResourceVersion() || one.Len() != many.Len() {
			t.Errorf("seed %d: the stores differ", seed)
		}
		for key, obj := range one.All() {
			if other, ok := many.Get(key); !ok || other != obj {
				t.Errorf("seed %d: %v and %v", seed, obj, other)
			}
		}
	}
}

// take makes the writer pop the queued deltas, which must be at least atLeast, and waits for the handler.
func (r *rig) take(t *testing.T, atLeast int) {
	if r.queue.Len() < max(atLeast, 1) {
		if atLeast > 0 {
			t.Fatal("nothing is queued")
		}
		return
	}
	batch, err := r.queue.PopBatch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for n := range batch {
		r.writer.applyDelta(&batch[n])
	}
	r.writer.flush()
	r.writer.informer.readers.Wait()
}

// TestNoHandlerJoinsAStep checks that a handler which joins while the writer changes store and log waits
// until both are changed.
func TestNoHandlerJoinsAStep(t *testing.T) {
	r := newRig(t)
	i := r.writer.informer
	i.started = true
	joined := make(chan struct{})
	r.writer.step(func() {
		go func() {
			defer close(joined)
			if _, err := i.addHandler(&names{}, informer.HandlerOptions{}, ""); err != nil {
				t.Error(err)
			}
		}()
		// There is no way to see that a goroutine waits for a lock. If it didn't wait, it would have finished
		// after so many yields.
		for range 10_000 {
			runtime.Gosched()
		}
		select {
		case <-joined:
			t.Error("a handler has joined")
		default:
		}
	})
	<-joined
	i.readers.Wait()
}
