package sharding

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kubewright/kubewright/runtime/shard"
	"k8s.io/klog/v2"
)

// census is the count of the objects of all kinds by namespace, for the first division. Similar names have
// similar hashes, so that one of several equally wide ranges may have nearly all objects.
type census struct {
	// done is closed at the end. places are the namespaces' hashes after that, none if nothing was counted.
	done   chan struct{}
	places []piece
}

// censusTimeout is how long the first division waits for the census at most.
const censusTimeout = time.Minute

// takeCensus begins a census, which ends with ctx at the latest.
func (b *balancer) takeCensus(ctx context.Context) {
	c := &census{done: make(chan struct{})}
	b.census = c
	b.counting.Go(func() {
		defer close(c.done)
		limited, cancel := context.WithTimeout(ctx, censusTimeout)
		defer cancel()
		places, err := b.member.caches.census(limited)
		if err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Sharding: the objects can't be counted for the first division",
				"group", b.member.config.Group)
		}
		c.places = places
	})
}

// census returns the hashes of all namespaces that have objects, in order. There are none if objects are
// hashed by their UIDs, which are spread evenly, or if the member has no informers.
func (c *caches) census(ctx context.Context) (places []piece, err error) {
	if c.field != shard.ByNamespace {
		return nil, nil
	}
	counts := map[uint64]int{}
	for i, part := range c.parts {
		namespaces, err := part.Namespaces(ctx)
		if err != nil {
			return nil, fmt.Errorf("sharding: Config.Informers[%d]: %w", i, err)
		}
		for namespace, objects := range namespaces {
			counts[shard.Hash(namespace)] += objects
		}
	}
	for hash, objects := range counts {
		places = append(places, piece{First: hash, Objects: objects, Places: 1})
	}
	slices.SortFunc(places, func(a, b piece) int { return cmp.Compare(a.First, b.First) })
	return places, nil
}

// divideHashes divides all hashes into n ranges and returns where each begins. The ranges have about the same
// number of objects if these were counted, otherwise the same width.
func divideHashes(places []piece, n int) []uint64 {
	firsts := []uint64{0}
	if len(places) == 0 {
		width := lastHash/uint64(n) + 1 // 0 for one range
		for i := 1; i < n; i++ {
			firsts = append(firsts, uint64(i)*width)
		}
	}
	left, objects := sumObjects(places), 0
	for i, p := range places {
		// Each of the ranges that aren't full yet is to have their mean.
		ranges := n - len(firsts) + 1
		full := (2*objects+p.Objects)*ranges > 2*(objects+left) || len(places)-i < ranges
		if objects > 0 && ranges > 1 && full {
			firsts, objects = append(firsts, p.First), 0
		}
		objects += p.Objects
		left -= p.Objects
	}
	for len(firsts) < n { // There are fewer places than ranges.
		firsts = divideWidest(firsts)
	}
	return firsts
}

// divideWidest divides the widest range.
func divideWidest(firsts []uint64) []uint64 {
	widest, most := 0, uint64(0)
	for i, first := range firsts {
		last := uint64(lastHash)
		if i+1 < len(firsts) {
			last = firsts[i+1]
		}
		if last-first > most {
			widest, most = i, last-first
		}
	}
	return slices.Insert(firsts, widest+1, firsts[widest]+most/2)
}
