package check

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/test/lab/cluster"
	"github.com/kubewright/kubewright/test/lab/fault"
)

// TestTold: when a server has broken its contract, the status of our informers reports it, unless nothing on
// the wire shows it. If nobody can mistake what came for an answer, nothing is missing in the cache.
func TestTold(t *testing.T) {
	for _, i := range []Implementation{Ours, Facade} {
		for _, f := range fault.All() {
			if f.Class == fault.Kept {
				continue
			}
			for _, kind := range []fault.Kind{fault.List, fault.Page, fault.Watch, fault.WatchList} {
				if f.On&kind == 0 {
					continue
				}
				for _, protobuf := range []bool{false, true} {
					t.Run(fmt.Sprint(i.Name, " ", f.Name, " ", kind, " protobuf=", protobuf), func(t *testing.T) {
						told(t, i, f, kind, protobuf)
					})
				}
			}
		}
	}
}

func told(t *testing.T, i Implementation, f fault.Fault, kind fault.Kind, protobuf bool) {
	step := fault.Step{Request: fault.Request{Kind: kind, Nth: 1}, Fault: f.Name, After: 1, For: f.For[0]}
	if kind == fault.WatchList && f.After[1] > 0 {
		step.After = several + 1 // the initial events and their end
	}
	if f.Name == "stale-list" {
		step.Nth = 0 // the third list is the first stale one: the initial list differs, it has a limit
	}
	faced(t, i, step, kind, protobuf, func(w *world, s *subject) {
		if f.Name == "stale-list" {
			for n := range 2 {
				w.proxy.Expire()
				bubble.Advance(untilListed)
				if n == 0 {
					w.put(several)
					bubble.Advance(aMoment)
				}
			}
		}
		if f.Class == fault.Unusable {
			s.checkEqual()
		}
		err := status(s).LastError
		if f.Unseen {
			if err != nil {
				t.Errorf("%s: who can know of it? %v", f.Guarantee, err)
			}
			return
		}
		if err == nil || f.Class == fault.Wrong && !strings.Contains(err.Error(), "the server sent") {
			t.Errorf("%s: the status tells of %v", f.Guarantee, err)
		}
	})
}

// TestInitialEventsHaveNoOrder: initial events that come in the wrong order or twice do no harm.
func TestInitialEventsHaveNoOrder(t *testing.T) {
	for _, i := range []Implementation{Ours, Facade} {
		for _, name := range []string{"duplicate-events", "repeated-events", "swapped-events"} {
			t.Run(i.Name+" "+name, func(t *testing.T) {
				step := fault.Step{Request: fault.Request{Kind: fault.WatchList, Nth: 1}, Fault: name}
				faced(t, i, step, fault.WatchList, false, func(w *world, s *subject) { s.checkEqual() })
			})
		}
	}
}

// several is how many objects there are.
const several = 4

// faced makes a fault happen to an informer while objects change, then calls then.
func faced(
	t *testing.T, i Implementation, step fault.Step, kind fault.Kind, protobuf bool, then func(*world, *subject),
) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t.Context(), i, Script{Faults: fault.Script{step}, Wrong: true})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { w.cluster.Run(ctx) })
		for n := range several {
			w.put(n)
		}
		if kind == fault.Page {
			w.cluster.MaxPage(1)
		}
		w.watch(options{protobuf: protobuf, noWatchList: kind != fault.WatchList, tuning: informer.Options{
			SilenceTimeout: 90 * time.Second, InitialEventsTimeout: 10 * time.Second}}, 0)
		bubble.Advance(aMoment)
		for n := range 5 * several {
			if n%several == 1 {
				w.remove(several + n)
			} else {
				w.put(several + n)
			}
			bubble.Advance(time.Second)
		}
		bubble.Advance(2 * time.Minute)
		if len(w.proxy.Trace()) != 1 {
			t.Fatalf("these faults happened: %v", w.proxy.Trace())
		}
		then(w, w.subjects[0])
		w.proxy.Calm()
		w.proxy.Expire()
		bubble.Advance(untilListed)
		w.checkEqual()
		w.end(0)
		cancel()
		running.Wait()
		w.checkNothingLeft()
		w.proxy.Close()
		if w.violation != nil {
			t.Error(w.violation)
		}
	})
}

// put writes the nth object, with n as its text.
func (w *world) put(n int) {
	name := cache.NewObjectName("n0", fmt.Sprint("o", n%several))
	w.cluster.Put(w.cluster.Kinds()[0], name, func(obj cluster.Object) {
		obj.SetAnnotations(map[string]string{"text": fmt.Sprint(n)})
	})
}

// remove deletes the nth object.
func (w *world) remove(n int) {
	w.cluster.Remove(w.cluster.Kinds()[0], cache.NewObjectName("n0", fmt.Sprint("o", n%several)))
}

func status(s *subject) informer.Status {
	status, _ := informer.StatusOf(s.informer)
	return status
}
