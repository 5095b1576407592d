package optional_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/optional"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/runtime/shard/partial"
)

var seeds = flag.Uint64("model.seeds", 200, "how many random histories TestModel has")

// TestModel runs random histories: the kind is installed, deleted, and served in other versions, its objects
// change, requests fail, and informers of a part of the objects gain and lose ranges. The cache and its
// handler always have the same objects. The cache is never emptied while the kind is served. Once nothing
// fails, the cache has what the server has.
func TestModel(t *testing.T) {
	n := *seeds
	if testing.Short() {
		n /= 5
	}
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inBubble(t, func(r *rig) { (&model{rig: r, random: rand.New(rand.NewPCG(seed, 0))}).run() })
		})
	}
}

type model struct {
	*rig
	random *rand.Rand
	// part is nil for an informer of all objects.
	part   *partial.Part
	ranges shard.Ranges
	// shown is set once the cache has had the server's objects since the kind was last served again.
	served, shown bool
}

func (m *model) run() {
	if m.random.IntN(3) == 0 {
		m.definitions.ForbidDefinitions()
	}
	if m.random.IntN(3) == 0 {
		part, err := partial.Shard(m.informer, shard.ByUID)
		if err != nil {
			m.Fatal(err)
		}
		m.part = part
		m.setRanges()
	}
	if m.random.IntN(2) == 0 {
		m.objects.NoWatchListClient()
	}
	m.start()
	for range 40 {
		m.step()
		m.check()
	}
	m.fault.Store(0)
	m.definitions.Fault(nil)
	for range 12 {
		bubble.Advance(15 * time.Second)
		m.check()
	}
	if !m.informer.HasSynced() {
		m.Fatalf("%s: not synced: %+v", guarantee.Converging, m.status())
	}
	if want := m.wanted(); !maps.Equal(m.stored(), want) {
		m.Fatalf("%s: the server has %v, the cache %v: %+v", guarantee.Converging, want, m.stored(), m.status())
	}
	// Nobody misses a kind of which nothing is requested.
	isRead := m.part == nil || len(m.ranges) > 0
	if state := m.status().State; isRead && (state == optional.Absent) == m.served {
		m.Fatalf("%s: served is %v, the state %s", guarantee.Converging, m.served, state)
	}
	if m.part != nil {
		if err := m.part.WaitFor(m.ctx, m.ranges...); err != nil {
			m.Error(err)
		}
	}
}

func (m *model) setRanges() {
	m.ranges = nil
	for n := range uint64(4) {
		if m.random.IntN(2) == 0 {
			m.ranges = append(m.ranges, shard.Range{First: n << 62, Last: n<<62 | 1<<62 - 1})
		}
	}
	m.ranges = shard.Join(m.ranges...)
	if err := m.part.SetRanges(m.ranges...); err != nil {
		m.Fatal(err)
	}
	m.shown = false
}

func (m *model) step() {
	switch m.random.IntN(9) {
	case 0, 1:
		if m.served = !m.served; m.served {
			m.definitions.Define(widgets, "v1")
		} else {
			m.definitions.Delete(widgets)
			m.removeAll()
		}
		m.shown = false
	case 2:
		if m.served {
			m.definitions.Define(widgets, "v1", "v2") // The definition changes.
		}
	case 3:
		status := []int{0, http.StatusNotFound, http.StatusServiceUnavailable}
		m.fault.Store(int32(status[m.random.IntN(3)]))
		all := status[m.random.IntN(3)]
		m.definitions.Fault(func(string) int { return all })
		m.objects.CloseWatches()
		m.definitions.CloseWatches()
	case 4:
		m.fault.Store(0)
		m.definitions.Fault(nil)
	case 5:
		if m.part != nil {
			m.setRanges()
		}
	default:
		if m.served {
			m.write()
		}
	}
	if m.random.IntN(2) == 0 {
		bubble.Advance(time.Duration(m.random.Int64N(int64(20 * time.Second))))
	}
	synctest.Wait()
}

func (m *model) write() {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop",
		Name: fmt.Sprint("map-", m.random.IntN(5))}}
	if _, exists := m.objects.Find("shop", object.Name); exists {
		m.objects.Update(object)
	} else {
		m.objects.Create(object)
	}
}

func (m *model) removeAll() {
	for _, o := range m.objects.Objects() {
		m.objects.Delete(o.Namespace, o.Name)
	}
	m.objects.CloseWatches()
}

// wanted is what the cache should have.
func (m *model) wanted() map[string]string {
	want := map[string]string{}
	for _, o := range m.objects.Objects() {
		if m.part == nil || m.ranges.Contains(shard.ByUID.Hash(o)) {
			want[keyOf(o)] = stateOf(o)
		}
	}
	return want
}

func (m *model) stored() map[string]string {
	stored := map[string]string{}
	for _, o := range m.informer.GetStore().List() {
		stored[keyOf(o)] = stateOf(o)
	}
	return stored
}

func (m *model) check() {
	synctest.Wait()
	stored := m.stored()
	if has, _ := m.handler.has(); !maps.Equal(stored, has) {
		m.Fatalf("%s: the store has %v, the handler %v", guarantee.Complete, stored, has)
	}
	want := m.wanted()
	if m.shown && len(stored) == 0 && len(want) > 0 {
		m.Fatalf("%s: the cache was emptied, the server has %v: %+v", guarantee.NoTimeTravel, want, m.status())
	}
	m.shown = m.shown || m.served && len(want) > 0 && maps.Equal(stored, want)
}
