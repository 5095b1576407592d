package metrics

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// named is a provider whose metrics aren't used.
type named struct {
	cache.InformerMetricsProvider
	name string
}

// forget makes the process have no provider, now and after the test.
func forget(t *testing.T) {
	provider.Store(nil)
	t.Cleanup(func() { provider.Store(nil) })
}

// reserve returns the name of an informer, which is reserved, a duplicate of it, which isn't, and what ends
// the reservation.
func reserve(t *testing.T) (id, duplicate cache.InformerNameAndResource, release func()) {
	name, err := cache.NewInformerName(t.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(name.Release)
	resource := schema.GroupVersionResource{Resource: "a"}
	return name.WithResource(resource), name.WithResource(resource), name.Release
}

// TestProviderFor checks that the given provider comes before that of the process, of which the first counts,
// also for identities from before it was set. Without a reserved identity there is none.
func TestProviderFor(t *testing.T) {
	forget(t)
	given, first, second := &named{name: "given"}, &named{name: "first"}, &named{name: "second"}
	id, duplicate, release := reserve(t)
	expect := func(what string, given, want, wantGiven cache.InformerMetricsProvider) {
		t.Helper()
		if got := ProviderFor(id, nil); got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
		if got := ProviderFor(id, given); got != wantGiven {
			t.Errorf("%s, with a provider: %v, want %v", what, got, wantGiven)
		}
		for _, unreserved := range []cache.InformerNameAndResource{duplicate, {}} {
			if a, b := ProviderFor(unreserved, nil), ProviderFor(unreserved, given); a != nil || b != nil {
				t.Errorf("%s, not reserved: %v, %v", what, a, b)
			}
		}
	}
	expect("before one is set", given, nil, given)
	SetProvider(first)
	expect("one is set", given, first, given)
	SetProvider(second)
	expect("another is set", given, first, given)
	release()
	expect("the name is released", given, nil, nil)
}

// TestNoProvider checks that the first call counts also if it sets no provider.
func TestNoProvider(t *testing.T) {
	forget(t)
	id, _, _ := reserve(t)
	SetProvider(nil)
	SetProvider(&named{})
	if got := ProviderFor(id, nil); got != nil {
		t.Errorf("%v", got)
	}
}

// TestConcurrentProviders checks that of two providers that are set at a time, nobody sees another one than
// that which stays.
func TestConcurrentProviders(t *testing.T) {
	forget(t)
	id, _, _ := reserve(t)
	for range 20_000 {
		provider.Store(nil)
		var running sync.WaitGroup
		var ready atomic.Int32
		var seen [2]cache.InformerMetricsProvider
		for n := range seen {
			running.Go(func() {
				ready.Add(1)
				for range 1000 { // A channel would wake one after the other.
					if ready.Load() == 2 {
						break
					}
				}
				SetProvider(&named{name: strconv.Itoa(n)})
				seen[n] = ProviderFor(id, nil)
			})
		}
		running.Wait()
		if set := ProviderFor(id, nil); set == nil || seen[0] != set || seen[1] != set {
			t.Fatalf("%v were seen, set was %v", seen, set)
		}
	}
}

// gauge has the value that was set last.
type gauge struct{ value float64 }

func (g *gauge) Set(value float64) { g.value = value }

// TestSetVersion checks that a gauge shows the last 15 digits of a version, which a float64 has exactly, and
// keeps its value if they aren't a number.
func TestSetVersion(t *testing.T) {
	before := 4.5
	for version, want := range map[string]float64{
		"": 0, "0": 0, "7": 7, "999999999999999": 999999999999999, "1000000000000000": 0,
		"1234567890123456789": 567890123456789, strings.Repeat("9", 40): 999999999999999,
		"opaque": before, "7a": before, "1.5": before, " 7": before, "1234567890123456x": before,
	} {
		g := &gauge{before}
		if SetVersion(g, version); g.value != want {
			t.Errorf("%q is shown as %f, want %f", version, g.value, want)
		}
	}
}
