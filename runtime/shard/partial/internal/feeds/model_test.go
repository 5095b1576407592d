package feeds

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/runtime/shard"
)

// TestGroupModel makes random changes of objects, ranges and the server, in any order and with faults. The
// sink checks each call, and the sink is compared with the server whenever nothing is under way.
func TestGroupModel(t *testing.T) {
	seeds := uint64(300)
	if testing.Short() {
		seeds = 60
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 41))
			by := []shard.Field{shard.ByNamespace, shard.ByUID}[r.IntN(2)]
			inWorld(t, by, reflector.Options{}, func(w *world) { w.model(r) })
		})
	}
}

func (w *world) model(r *rand.Rand) {
	w.filter(r)
	if r.IntN(2) == 0 {
		w.server.NoWatchList()
	}
	if r.IntN(2) == 0 {
		w.server.MaxPage(1 + r.Int64N(5))
	}
	w.skips = r.IntN(2) == 0
	w.server.Observe(w.observe)
	for range r.IntN(40) {
		w.write(r)
	}
	if r.IntN(2) == 0 {
		w.set(randomRanges(r, w.cuts))
	}
	defer w.run()()
	for range 200 {
		w.step(r)
		w.checkAlways()
		if r.IntN(12) == 0 {
			w.settle()
			w.checkQuiet("quiet")
		}
		if r.IntN(3) == 0 {
			synctest.Wait()
		}
	}
	w.settle()
	w.checkQuiet("the end")
}

// filter makes the server filter lists and watches, mostly: while it does, feeds are joined late.
func (w *world) filter(r *rand.Rand) {
	w.server.Sharding(r.IntN(4) > 0, r.IntN(4) > 0)
}

// observe checks a request.
func (w *world) observe(request runtimetest.Request) {
	o := request.Options
	if _, _, err := shard.ParseSelector(o.ShardSelector); err != nil {
		w.t.Errorf("%s: %v", request, err)
	}
	if o.ResourceVersion == "0" {
		w.t.Errorf("%s may be of any age", request)
	}
}

// step does something random.
func (w *world) step(r *rand.Rand) {
	switch n := r.IntN(50); {
	case n < 14:
		for range 1 + r.IntN(3) {
			w.write(r)
		}
	case n < 19:
		w.set(randomRanges(r, w.cuts))
	case n < 21:
		w.server.CloseWatches()
	case n < 22:
		w.server.FailWatches(apierrors.NewResourceExpired("expired"))
	case n < 23:
		w.server.Compact()
	case n < 24:
		w.filter(r)
	case n < 26:
		w.server.Bookmark()
	case n < 27:
		w.server.Fail([]string{"LIST", "WATCH"}[r.IntN(2)], apierrors.NewInternalError(errors.New("broken")))
	case n < 28:
		w.slow(r)
	case n < 29:
		w.server.Skip(1 + r.Int64N(3))
	case n < 31:
		w.store(1 + r.IntN(2))
	case n < 32:
		w.server.OmitEndBookmark(true)
	case n < 34:
		w.server.OmitEndBookmark(false)
		w.server.EndInitialEvents()
	default:
		bubble.Pass(time.Duration(r.IntN(100)) * 100 * time.Millisecond)
	}
}

// write makes a random write.
func (w *world) write(r *rand.Rand) {
	namespace, name := namespaceOf(r.IntN(maxNamespaces)), fmt.Sprint("name-", r.IntN(3))
	if w.by == shard.ByUID {
		namespace, name = namespaceOf(r.IntN(6)), "name" // so that an object often has a successor
	}
	switch r.IntN(6) {
	case 0:
		w.remove(namespace, name)
	case 1, 2:
		w.remove(namespace, name)
		w.put(namespace, name)
	default:
		w.put(namespace, name)
	}
}

// randomRanges returns ranges that begin and end at cuts, or all others, sometimes none, sometimes all.
func randomRanges(r *rand.Rand, cuts []uint64) shard.Ranges {
	var some []shard.Range
	for range r.IntN(4) {
		a, b := r.IntN(len(cuts)), r.IntN(len(cuts))
		some = append(some, shard.Range{First: cuts[min(a, b)], Last: cuts[max(a, b)]})
	}
	if r.IntN(2) == 0 {
		return shard.All().Minus(shard.Join(some...))
	}
	return shard.Join(some...)
}

// slow makes the next requests wait, so that other things happen while they are under way.
func (w *world) slow(r *rand.Rand) {
	delays := make(chan time.Duration, 4)
	for range 1 + r.IntN(cap(delays)) {
		delays <- time.Duration(r.IntN(50)) * 100 * time.Millisecond
	}
	w.server.OnRequest(func(ctx context.Context, _ runtimetest.Request) error {
		select {
		case delay := <-delays:
			ctx, cancel := context.WithTimeout(ctx, delay)
			defer cancel()
			<-ctx.Done()
		default:
		}
		return nil
	})
}
