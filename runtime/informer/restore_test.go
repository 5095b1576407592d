package informer_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
)

// ownWrite is a write that was answered. A deletion has a UID.
type ownWrite struct {
	version int
	name    string
	uid     types.UID
}

// player plays random steps with a cluster and informers.
type player struct {
	*testing.T
	*owner
	seed      uint64
	informers []cache.SharedIndexInformer
	written   []ownWrite
	// restores counts the restores, waits the waits that ended well.
	restores, waits int
}

// TestOwnWritesAfterRestores checks waits for own writes against a model: two API servers, one or both of
// which may lag, in front of an etcd that is restored from backups.
func TestOwnWritesAfterRestores(t *testing.T) {
	restores, waits := 0, 0
	for seed := range uint64(120) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 107457))
			// The servers have a source of their own: requests come on other goroutines.
			o, err := newOwner(newCluster(rand.New(rand.NewPCG(seed, 138724)), seed%2 == 0))
			if err != nil {
				t.Fatal(err)
			}
			p := &player{T: t, owner: o, seed: seed}
			p.commit(watch.Added, "x")
			for range 2 {
				i := made{gen.NewShared[*configMap](
					func() gen.ResourceClient[*corev1.ConfigMapList] { return o },
					gen.Options{Client: o})}
				defer run(i)()
				p.informers = append(p.informers, i)
			}
			bubble.Advance(time.Second)
			for range 150 {
				p.step(random)
			}
			p.settle()
			restores, waits = restores+p.restores, waits+p.waits
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d restores, %d waits", restores, waits)
	if restores < 120 || waits < 1000 {
		t.Errorf("%d restores and %d waits are too few", restores, waits)
	}
}

func (p *player) step(random *rand.Rand) {
	name := []string{"a", "b", "c"}[random.IntN(3)]
	r := p.replicas[random.IntN(2)]
	switch random.IntN(16) {
	case 0, 1, 2, 3:
		p.write(watch.Modified, name, time.Duration(random.IntN(2)*random.IntN(3000))*time.Millisecond)
	case 4:
		if p.now.objects[name] != nil {
			p.write(watch.Deleted, name, 0)
		}
	case 5:
		p.commit(watch.Modified, "x") // by another client
	case 6:
		p.with(func() { p.backups = append(p.backups, p.now.copy()) })
	case 7:
		p.restoreOlder()
	case 8:
		p.with(func() { r.lagging = !r.lagging })
	case 9:
		p.with(func() { r.sloppy = r.lagging && !r.sloppy })
	case 10:
		p.with(func() { r.close() })
	case 11, 12:
		bubble.Advance(time.Duration(random.IntN(5000)) * time.Millisecond)
	default:
		p.wait(p.informers[random.IntN(2)], time.Duration(random.IntN(3))*time.Second)
	}
}

// write writes, and records the write when the answer arrives.
func (p *player) write(kind watch.EventType, name string, takes time.Duration) {
	object := p.commit(kind, name)
	bubble.Pass(takes)
	w, err := ownWrite{version: versionOf(object), name: name}, error(nil)
	if kind == watch.Deleted {
		w.uid, err = object.UID, p.answeredDeletion(p.Context(), object)
	} else {
		err = p.answered(p.Context(), object)
	}
	if err != nil {
		p.Fatal(err)
	}
	p.written = append(p.written, w)
}

// restoreOlder restores a backup that is older than what any informer has. If there is none, other resources
// are written, so that there is one later. They aren't while an informer hasn't noticed the last restore: if
// versions pass its own before it lists, nothing tells it of the restore.
func (p *player) restoreOlder() {
	least, noticed := p.now.revision*100, true
	for _, i := range p.informers {
		least = min(least, p.shown(i))
		noticed = noticed && p.shown(i)%100 == p.now.epoch
	}
	epoch := p.now.epoch
	if p.restore(least); p.now.epoch > epoch {
		p.restores++
	} else if noticed {
		p.with(func() { p.now.revision += 1000 })
	}
}

// shown is the version of the cache of i.
func (p *player) shown(i cache.SharedIndexInformer) int {
	version, _ := strconv.Atoi(i.GetIndexer().LastStoreSyncResourceVersion())
	return version
}

// wait waits for own writes. If that ends well, it checks that the cache shows them, unless a restore has
// undone them, or the cache knows nothing of the restore yet.
func (p *player) wait(i cache.SharedIndexInformer, patience time.Duration) (ended bool) {
	ctx, cancel := context.WithTimeout(p.Context(), patience+time.Millisecond)
	defer cancel()
	before := p.written
	if informer.WaitForOwnWrites(ctx, i) != nil {
		return false
	}
	p.waits++
	shown := p.shown(i)
	for _, w := range before {
		if w.version%100 != p.now.epoch || shown%100 != p.now.epoch {
			continue
		}
		if w.uid == "" && w.version > shown {
			p.Errorf("seed %d: the cache is at %d, %s was written at %d", p.seed, shown, w.name, w.version)
		}
		obj, exists, _ := i.GetIndexer().GetByKey("ns/" + w.name)
		if w.uid != "" && exists && obj.(*configMap).UID == w.uid {
			p.Errorf("seed %d: the cache is at %d and has %s, deleted at %d", p.seed, shown, w.name, w.version)
		}
	}
	return true
}

// settle heals the servers, and checks that waits then end and caches show what there is.
func (p *player) settle() {
	p.with(func() {
		for _, r := range p.replicas {
			r.lagging, r.sloppy = false, false
		}
	})
	bubble.Advance(5 * time.Minute)
	p.write(watch.Modified, "a", 0)
	synctest.Wait()
	for _, i := range p.informers {
		if !p.wait(i, time.Minute) {
			p.Errorf("seed %d, %d restores: a wait for own writes doesn't end: the cache is at %d", p.seed,
				p.now.epoch, p.shown(i))
		}
		var objects []*configMap
		for _, obj := range i.GetIndexer().List() {
			objects = append(objects, obj.(*configMap))
		}
		want := names(slices.Collect(maps.Values(p.now.objects)))
		if got := names(objects); !slices.Equal(got, want) {
			p.Errorf("seed %d: the cache has %v, want %v", p.seed, got, want)
		}
	}
}
