package sharding

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/runtime/shard"
)

// similar are patterns of names whose hashes are close together.
var similar = []string{"ns-%d", "team-%d", "tenant-%03d"}

// uneven is how much more than the mean a member may begin with, if all namespaces are equal.
const uneven = 1.5

// firstTable is the first division by a census.
func firstTable(t *testing.T, places []piece, members int) table {
	table := newTable(shard.ByNamespace, []string{"bakeries"})
	s := situation{table: table, live: map[string]bool{}, places: places}
	for n := range members {
		s.live[fmt.Sprint("m", n)] = true
	}
	first, changed := s.planTable()
	if err := first.check(); err != nil || !changed {
		t.Fatalf("a first table was made: %t, %v", changed, err)
	}
	return first
}

// loads are the objects of each owner by the census, at least of so many.
func loads(first table, places []piece) map[string]int {
	loads := map[string]int{}
	for _, e := range first.Ranges {
		loads[e.Owner] += 0
	}
	for _, p := range places {
		loads[first.Ranges[first.indexOf(p.First)].Owner] += p.Objects
	}
	return loads
}

func mostOf(loads map[string]int) (most int) {
	for _, load := range loads {
		most = max(most, load)
	}
	return most
}

func places(counts map[string]int) (places []piece) {
	for name, objects := range counts {
		places = append(places, piece{First: shard.Hash(name), Objects: objects, Places: 1})
	}
	slices.SortFunc(places, func(a, b piece) int {
		if a.First < b.First {
			return -1
		}
		return 1
	})
	return places
}

// TestFirstDivision: by a census, no member begins with many more objects than others, unless a namespace has
// that many, and each member has a range.
func TestFirstDivision(t *testing.T) {
	for _, pattern := range similar {
		for _, namespaces := range []int{50, 500} {
			counts := map[string]int{}
			for n := range namespaces {
				counts[fmt.Sprintf(pattern, n)] = 20
			}
			for members := 2; members <= 9; members++ {
				mean := float64(20*namespaces) / float64(members)
				census := places(counts)
				if most := mostOf(loads(firstTable(t, census, members), census)); float64(most) > uneven*mean {
					t.Errorf("%d namespaces %s, %d members: one begins with %d objects, the mean is %.0f",
						namespaces, pattern, members, most, mean)
				}
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		counts, total, largest := map[string]int{}, 0, 0
		for n := range random.IntN(40) {
			objects := 1 + int(10*random.ExpFloat64()*random.ExpFloat64())
			counts[fmt.Sprintf(similar[random.IntN(3)], n)] = objects
			largest = max(largest, objects)
			total += objects
		}
		members, census := 1+random.IntN(30), places(counts)
		first := firstTable(t, census, members)
		loads := loads(first, census)
		if most := mostOf(loads); most > total/members+largest || len(loads) != members {
			t.Fatalf("%d members of %v: %v", members, census, loads)
		}
		for i, e := range first.Ranges {
			if got := sumObjects(inside(census, first.rangeAt(i))); e.Objects != got {
				t.Fatalf("the table says that %s has %d objects, it has %d", first.rangeAt(i), e.Objects, got)
			}
		}
	}
}

func inside(all []piece, r shard.Range) (found []piece) {
	for _, p := range all {
		if r.Contains(p.First) {
			found = append(found, p)
		}
	}
	return found
}

// TestWithoutACensus: if nothing was counted, the members' ranges have the same width.
func TestWithoutACensus(t *testing.T) {
	for members := 2; members < 40; members++ {
		first := firstTable(t, nil, members)
		for i := range first.Ranges {
			span := first.rangeAt(i)
			if width := lastHash / uint64(members); span.Last-span.First > width+1 ||
				span.Last-span.First < width-uint64(members) {
				t.Errorf("%d members: a range is %s", members, span)
			}
		}
	}
}

// begin lets three members begin a group with the objects that namespaces have, and returns how many objects
// each has first, and the requests that select everything.
func (c *cached) begin(objects int, field shard.Field) (loads map[string]int, lists []runtimetest.Request) {
	for n := range objects {
		c.maps.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprintf("ns-%d", n%50), Name: fmt.Sprint("pan-", n),
		}})
	}
	configure := c.configure
	c.configure = func(config *Config) {
		configure(config)
		config.MinMembers, config.Field = 3, field
	}
	var mu sync.Mutex
	c.server.onWrite(func(t table) {
		mu.Lock()
		defer mu.Unlock()
		if loads != nil || t.untouched() {
			return
		}
		loads = map[string]int{}
		for _, o := range c.maps.Objects() {
			loads[t.Ranges[t.indexOf(shard.Hash(o.Namespace))].Owner]++
		}
		for _, r := range c.maps.Requests() {
			if r.Verb == "LIST" && r.Options.ShardSelector == "" {
				lists = append(lists, r)
			}
		}
	})
	for range 3 {
		c.join()
	}
	bubble.Advance(5 * time.Minute)
	c.server.onWrite(c.wrote)
	return loads, lists
}

// TestCensus: before the first division by namespace, the balancer lists all objects once, in pages, and
// divides them equally.
func TestCensus(t *testing.T) {
	withCaches(t, func(t *testing.T, c *cached) {
		loads, lists := c.begin(1200, shard.ByNamespace)
		total := len(c.maps.Objects())
		if most := mostOf(loads); most == 0 || float64(most) > uneven*float64(total)/3 {
			t.Errorf("%d objects were divided so: %v", total, loads)
		}
		if pages := (total + 499) / 500; len(lists) != pages {
			t.Errorf("%d objects were listed in %d pages, want %d", total, len(lists), pages)
		}
		for _, r := range lists {
			if r.Options.Limit != 500 || r.Options.ResourceVersion != "" {
				t.Errorf("a page of the census: %+v", r.Options)
			}
		}
	})
	withCaches(t, func(t *testing.T, c *cached) {
		if loads, lists := c.begin(100, shard.ByUID); len(loads) == 0 || len(lists) > 0 {
			t.Errorf("objects that are divided by UID were listed: %v", lists)
		}
	})
}

// TestCensusFails: the first division doesn't depend on the census, and its error is logged once.
func TestCensusFails(t *testing.T) {
	withCaches(t, func(t *testing.T, c *cached) {
		c.maps.Fail("LIST", errors.New("no lists today"))
		c.log = &lockedBuffer{}
		text := c.logged(func() {
			if loads, _ := c.begin(100, shard.ByNamespace); len(loads) == 0 {
				t.Error("the objects weren't divided")
			}
		})
		if n := strings.Count(text, "no lists today"); n != 1 || !strings.Contains(text, "can't be counted") {
			t.Errorf("the error was logged %d times:\n%s", n, text)
		}
	})
}
