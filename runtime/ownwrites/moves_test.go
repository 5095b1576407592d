package ownwrites_test

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/runtime/shard/partial"
)

// place is the range of a key: its namespace. The history's mu guards it.
type place struct {
	// away means that another replica has the range, drains that the range waits for the key's run to end, lost
	// that it has left since the run began.
	away, drains, running, lost bool
}

func rangeOf(namespace string) shard.Ranges {
	hash := shard.ByNamespace.Hash(&metav1.ObjectMeta{Namespace: namespace})
	return shard.Join(shard.Range{First: hash, Last: hash})
}

// limit makes an informer one of the ranges that are here.
func (h *history) limit(c *cached) {
	var err error
	if c.part, err = partial.Shard(c.informer, shard.ByNamespace); err == nil {
		err = c.part.SetRanges(shard.All()...)
	}
	if err != nil {
		h.Fatal(err)
	}
}

// begin is called when a run of a key begins. Like Member.Do of package sharding it waits until the caches
// have the range, and returns false if that isn't here: then the key is dropped. The range of the objects of
// several keys never leaves, but the first list of it takes time, too.
func (h *history) begin(key string) bool {
	for {
		if here, again := h.tryBegin(key); !again {
			return here
		}
		bubble.Pass(time.Millisecond)
	}
}

func (h *history) tryBegin(key string) (here, again bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.places[key]
	if p.away {
		return false, false
	}
	needed := rangeOf(key).Plus(rangeOf("shared"))
	for _, c := range h.caches {
		if p.drains || c.part != nil && !c.stopped && !c.part.Status().Held.Covers(needed) {
			return false, true
		}
	}
	p.running, p.lost = true, false
	return true, false
}

func (h *history) end(key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.places[key].running = false
}

var errMoved = errors.New("the range isn't here any more")

// mayWrite returns false if the range of a run has left since it began. The transport of package sharding
// then refuses writes.
func (h *history) mayWrite(key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.places[key].lost
}

// move lets ranges leave and return.
func (h *history) move(m model) {
	for range 15 {
		h.pass(time.Second)
		key := h.anyKey()
		if !h.leave(key) {
			continue
		}
		for range h.n(4) {
			h.pass(100 * time.Millisecond)
			m.other(key)
		}
		if h.chance(3) {
			h.pass(2 * time.Second)
		}
		h.set(key, false)
		h.api.direct(func(s *server) { s.Bookmark() })
	}
}

// bookmarks lets some bookmarks pass. Feeds of different ranges, whose watches are filtered, become one when
// both have passed a version. Until then a key may wait for events, or a bookmark, of ranges of others.
func (h *history) bookmarks() {
	for range 4 {
		h.api.direct(func(s *server) { s.Bookmark() })
		bubble.Pass(time.Second)
	}
}

// leave lets a range leave. It returns false if it is about to leave, or has left. A range whose replica has
// lost its Lease leaves while the key runs.
func (h *history) leave(key string) bool {
	if !h.drain(key) {
		return false
	}
	for lost := h.chance(3); !lost && h.runs(key); {
		bubble.Pass(time.Millisecond)
	}
	h.set(key, true)
	return true
}

func (h *history) drain(key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.places[key]
	if p.drains || p.away {
		return false
	}
	p.drains = true
	return true
}

func (h *history) runs(key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.places[key].running
}

// set says whether a range is away.
func (h *history) set(key string, away bool) {
	h.moving.Lock()
	defer h.moving.Unlock()
	here := shard.All()
	h.mu.Lock()
	p := h.places[key]
	p.away, p.drains, p.lost = away, false, p.lost || away
	for name, p := range h.places {
		if p.away {
			here = here.Minus(rangeOf(name))
		}
	}
	h.mu.Unlock()
	for _, c := range h.caches {
		if c.part == nil {
			continue
		}
		if err := c.part.SetRanges(here...); err != nil {
			h.Error(err)
		}
	}
}
