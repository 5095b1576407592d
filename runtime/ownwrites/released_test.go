package ownwrites_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/runtime/shard/partial"
)

// newPartRig returns a rig with SkipEchoes, and the part of its informer, which has all ranges.
func newPartRig(t *testing.T) (*echoRig, *partial.Part) {
	t.Helper()
	s := newServer()
	s.Sharding(true, true)
	lag := newLagging(s)
	i := newInformer(lag)
	part, err := partial.Shard(i, shard.ByUID)
	if err != nil {
		t.Fatal(err)
	}
	r := &echoRig{rig: newRigWith(t, &ownwrites.Tracker{SkipEchoes: true}, s, i), lag: lag}
	r.set(part, shard.All())
	start(t, i)
	synctest.Wait()
	return r, part
}

func (r *echoRig) set(part *partial.Part, ranges shard.Ranges) {
	r.Helper()
	if err := part.SetRanges(ranges...); err != nil {
		r.Fatal(err)
	}
}

// TestEchoOfReleasedObjects checks that the own versions of an object end when it goes to another replica,
// and not when it is deleted. Whether the cache has shown the object doesn't matter.
func TestEchoOfReleasedObjects(t *testing.T) {
	for name, shown := range map[string]bool{"shown": true, "not shown": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, part := newPartRig(t)
				if !shown {
					r.lag.hold()
					defer r.lag.flow()
				}
				var hashes []uint64
				for n := range 10 {
					name := fmt.Sprint("k", n)
					mustSend(r.rig, "a", http.MethodPost, path, configMap(name))
					hashes = append(hashes, shard.ByUID.Hash(r.object(name)))
				}
				synctest.Wait()
				slices.Sort(hashes)
				gone := r.object("k0")
				r.api.server.Delete("shop", "k0")
				synctest.Wait()
				if _, _, versions := r.tracker.Left(); versions != 10 {
					t.Errorf("%d own versions after a deletion, want 10", versions)
				}
				half := shard.Range{Last: hashes[5]}
				r.set(part, shard.Join(half))
				r.set(part, shard.All()) // At once: the informer hasn't released anything yet.
				synctest.Wait()
				if _, _, versions := r.tracker.Left(); versions != 6 {
					t.Errorf("%d own versions after the half has left, want 6", versions)
				}
				for n := range 10 {
					obj := gone
					if n > 0 {
						obj = r.object(fmt.Sprint("k", n))
					}
					kept := half.Contains(shard.ByUID.Hash(obj))
					if got := r.skips("a", nil, obj); got != kept {
						t.Errorf("%s has stayed: %t; skipped: %t", obj.Name, kept, got)
					}
				}
			})
		})
	}
}

// TestEchoOfMovedWrites checks that a write is no own version if the range of its object has left before the
// answer, whether or not it has returned.
func TestEchoOfMovedWrites(t *testing.T) {
	for name, returns := range map[string]bool{"away": false, "returned": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, part := newPartRig(t)
				answered := make(chan struct{})
				r.api.edits = []edit{func(resp *http.Response) (*http.Response, error) {
					<-answered
					return resp, nil
				}}
				var sent sync.WaitGroup
				sent.Go(func() { mustSend(r.rig, "a", http.MethodPost, path, configMap("one")) })
				synctest.Wait()
				r.set(part, nil)
				synctest.Wait()
				if returns {
					r.set(part, shard.All())
					synctest.Wait()
				}
				close(answered)
				sent.Wait()
				if r.skips("a", nil, r.object("one")) {
					t.Error("the addition is skipped")
				}
			})
		})
	}
}

// TestEchoOfOtherPart checks that the write of an object of another replica is no own version: the range may
// come here, with what others have written.
func TestEchoOfOtherPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, part := newPartRig(t)
		r.api.server.Create(configMap("one"))
		synctest.Wait()
		one := r.object("one")
		hash := shard.ByUID.Hash(one)
		r.set(part, shard.All().Minus(shard.Join(shard.Range{First: hash, Last: hash})))
		synctest.Wait()
		mustSend(r.rig, "a", http.MethodPut, path+"/one", one)
		if r.skips("a", one, r.object("one")) {
			t.Error("the addition is skipped")
		}
	})
}
