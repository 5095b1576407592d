package ownwrites_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/runtime/shard/partial"
)

// running returns a rig with an informer that has synced, and whose events are held up.
func running(t *testing.T, tweaks ...func(*gen.Options)) (*rig, *lagging) {
	t.Helper()
	s := newServer()
	s.Skip(100_000)
	l := newLagging(s)
	i := newInformer(l, tweaks...)
	r := newRig(t, s, i)
	start(t, i)
	synctest.Wait()
	l.hold()
	return r, l
}

// create creates an object for a key, and adds the key.
func (r *rig) create(key, name string) {
	r.Helper()
	if code, err := r.send(key, http.MethodPost, path, configMap(name)); err != nil || code != http.StatusOK {
		r.Fatal(code, err)
	}
	r.queue.Add(key)
}

// ready takes all keys that are ready.
func (r *rig) ready() (keys []string) {
	for r.queue.Len() > 0 {
		item, _ := r.queue.Get()
		r.queue.Done(item)
		keys = append(keys, item)
	}
	return keys
}

// TestEachEventReleasesItsKeys checks that each event releases, at once, the keys that it completes, and no
// others, whatever the order in which answers come.
func TestEachEventReleasesItsKeys(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 3))
			r, l := running(t)
			const writes = 60
			last := map[string]int{}
			order := random.Perm(writes)
			var versions []string
			for n := range writes {
				versions = append(versions, r.api.server.Create(configMap(fmt.Sprint("o", n))))
			}
			for _, n := range order {
				key := fmt.Sprint("k", random.IntN(25))
				r.api.edits = []edit{func(*http.Response) (*http.Response, error) {
					obj := configMap(fmt.Sprint("o", n))
					obj.ResourceVersion = versions[n]
					return answer(http.StatusOK, obj), nil
				}}
				_, _ = r.send(key, http.MethodPut, path+"/x", configMap("x"))
				last[key] = max(last[key], n)
			}
			for key := range last {
				r.queue.Add(key)
			}
			for n := range writes {
				l.step(1)
				var want []string
				for key, at := range last {
					if at == n {
						want = append(want, key)
					}
				}
				if got := r.ready(); !slices.Equal(got, want) {
					t.Fatalf("seed %d: event %d releases %v, want %v", seed, n, got, want)
				}
			}
		})
	}
}

// TestBound checks that keys are handed out when the bound is reached, each at its time, and then don't wait
// again.
func TestBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := running(t)
		r.create("a", "one")
		bubble.Pass(3 * time.Second)
		r.create("b", "two")
		bubble.Advance(7 * time.Second)
		if got := r.ready(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("after 10 s %v are ready", got)
		}
		if r.parked("a") {
			t.Error("a key waits twice for the same write")
		}
		bubble.Advance(3 * time.Second)
		if got := r.ready(); !slices.Equal(got, []string{"b"}) {
			t.Errorf("after 13 s %v are ready", got)
		}
		if r.counts.bound != 2 || !slices.Equal(r.counts.waits, []float64{10, 10}) {
			t.Errorf("%d by the bound, waits %v", r.counts.bound, r.counts.waits)
		}
		if s := r.queue.Status(); s.Late != 2 || !strings.Contains(s.LateCause, "configmaps") {
			t.Errorf("the queue's status: %+v", s)
		}
		if log := r.log.String(); strings.Count(log, "\n") != 2 || !strings.Contains(log, "configmaps") {
			t.Errorf("the log has %q", log)
		}
		l.flow()
	})
}

// TestRestore checks that a key doesn't wait for what a restore of the server has undone.
func TestRestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := running(t)
		r.create("a", "one")
		l.flow()
		l.hold()
		r.create("b", "two")
		r.api.restore(func(*corev1.ConfigMap) bool { return false }, l)
		l.flow()
		bubble.Advance(5 * time.Second)
		if got := r.ready(); len(got) != 2 || r.counts.bound != 0 {
			t.Errorf("%v are ready, %d by the bound", got, r.counts.bound)
		}
	})
}

// TestComesBackBehindSelector has an object leave an informer's selection and come back before the key's own
// write makes it leave for good.
func TestComesBackBehindSelector(t *testing.T) {
	for name, method := range map[string]string{"unlabelled": http.MethodPut, "deleted": http.MethodDelete} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, l := running(t, withLabels("a"))
				s := r.api.server
				s.Create(configMap("one", "a"))
				l.step(1)
				s.Update(configMap("one", "b"))
				s.Update(configMap("one", "a"))
				if _, err := r.send("key", method, path+"/one", configMap("one", "b")); err != nil {
					t.Fatal(err)
				}
				for event, parks := range []bool{true, false, true, false} {
					if event > 0 {
						l.step(1)
					}
					if got := r.parked("key"); got != parks {
						t.Errorf("after %d events: parked %t", event, got)
					}
					r.ready()
				}
			})
		})
	}
}

// TestNothingIsLeft writes for keys that never come again, and for keys that wait.
func TestNothingIsLeft(t *testing.T) {
	keys := 100_000
	if testing.Short() {
		keys /= 50
	}
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := newInformer(s)
		r := newRig(t, s, i)
		start(t, i)
		synctest.Wait()
		for n := range keys {
			key := fmt.Sprint("k", n)
			if _, err := r.send(key, http.MethodPost, path, configMap(key)); err != nil {
				t.Fatal(err)
			}
			if n%3 == 0 {
				if _, err := r.send(key, http.MethodDelete, path+"/"+key, nil); err != nil {
					t.Fatal(err)
				}
			}
			if n%1000 == 0 {
				s.Compact()
			}
		}
		synctest.Wait()
		if waits, _, _ := r.tracker.Left(); waits > 0 {
			t.Errorf("%d waits are left", waits)
		}
		bubble.Advance(11 * time.Second)
		if waits, removals, _ := r.tracker.Left(); waits+removals > 0 {
			t.Errorf("%d waits and %d removals are left", waits, removals)
		}
	})
}

// TestShutDownOfParked checks that a shutdown hands out parked keys, which don't count as reaching the bound.
func TestShutDownOfParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := running(t)
		r.create("a", "one")
		r.queue.ShutDown()
		if got := r.ready(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("%v are ready", got)
		}
		bubble.Advance(time.Minute)
		if r.counts.bound != 0 || len(r.counts.waits) != 0 || r.log.Len() != 0 {
			t.Errorf("%d by the bound, waits %v, log %q", r.counts.bound, r.counts.waits, r.log.String())
		}
		l.flow()
	})
}

// TestPartOfObjects has an informer of a part: writes of other objects aren't waited for.
func TestPartOfObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.Sharding(true, true)
		l := newLagging(s)
		i := newInformer(l)
		r := newRig(t, s, i)
		part, err := partial.Shard(i, shard.ByUID)
		if err != nil {
			t.Fatal(err)
		}
		var hashes []uint64
		for n := range 20 {
			hashes = append(hashes, shard.Hash(fmt.Sprint("uid-", n+1))) // those of the server
		}
		slices.Sort(hashes)
		half := shard.Range{Last: hashes[9]}
		if err := part.SetRanges(half); err != nil {
			t.Fatal(err)
		}
		start(t, i)
		synctest.Wait()
		l.hold()
		inside := 0
		for n := range 20 {
			key := fmt.Sprint("k", n)
			r.create(key, key)
			obj, _ := s.Find("shop", key)
			in := half.Contains(shard.ByUID.Hash(obj))
			if ready := r.ready(); in == (len(ready) == 1) {
				t.Errorf("%s is in the part: %t; ready: %v", key, in, ready)
			}
			if in {
				inside++
			}
		}
		if inside == 0 || inside == 20 {
			t.Errorf("%d are in the part", inside)
		}
		l.flow()
		synctest.Wait()
		if n := len(r.ready()); n != inside {
			t.Errorf("%d are ready at the end, want %d", n, inside)
		}
		if err := part.SetRanges(); err != nil { // Nothing is waited for.
			t.Fatal(err)
		}
		synctest.Wait()
		r.create("last", "last")
		if len(r.ready()) != 1 {
			t.Error("a key waits for an informer without ranges")
		}
	})
}

func TestAddRefuses(t *testing.T) {
	tracker := &ownwrites.Tracker{}
	theirs := cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.ConfigMap{}, 0, nil)
	if err := tracker.Add(theirs); !errors.Is(err, informer.ErrUnsupportedInformer) {
		t.Errorf("client-go's informer: %v", err)
	}
	if err := tracker.Add(nil); err == nil {
		t.Error("nil is accepted")
	}
	known := newInformer(newServer())
	if err := tracker.Add(known, known); err != nil {
		t.Error(err)
	}
}

// TestOtherTracker checks that a write isn't recorded by the tracker of another API server.
func TestOtherTracker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := running(t)
		other := ownwrites.NewQueue(&ownwrites.Tracker{}, queue.Config[string]{})
		own := r.queue
		r.queue = other
		if _, err := r.send("a", http.MethodPost, path, configMap("one")); err != nil {
			t.Fatal(err)
		}
		r.queue = own
		if r.parked("a") {
			t.Error("the key is parked")
		}
		other.Add("a")
		if other.Len() != 1 {
			t.Error("the key is parked in the other queue")
		}
		other.ShutDown()
		l.flow()
	})
}

// TestForgotten checks what is logged if a program forgets the transport or the informers.
func TestForgotten(t *testing.T) {
	var log bytes.Buffer
	logger := newLogger(&log)
	tracker := &ownwrites.Tracker{Logger: &logger}
	q := ownwrites.NewQueue(tracker, queue.Config[string]{})
	defer q.ShutDown()
	for range 2 {
		q.Context(t.Context(), "a")
	}
	for _, part := range []string{"config.Wrap(tracker.Transport)", "method Add"} {
		if n := strings.Count(log.String(), part); n != 1 {
			t.Errorf("%q is logged %d times:\n%s", part, n, &log)
		}
	}
}
