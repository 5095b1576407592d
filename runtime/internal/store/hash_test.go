package store

import (
	"fmt"
	"math"
	"testing"

	"k8s.io/client-go/tools/cache"
)

// TestTagsAreSpread counts how often typical names share the upper bits of their tags, by which a table finds
// them, or the lower bits, by which it distinguishes them, and compares the counts with chance.
func TestTagsAreSpread(t *testing.T) {
	const n, lots = 1 << 16, 1 << 10
	for name, key := range map[string]func(i int) cache.ObjectName{
		"numbers": func(i int) cache.ObjectName {
			return cache.ObjectName{Namespace: "default", Name: fmt.Sprint("web-", i)}
		},
		"one name": func(i int) cache.ObjectName {
			return cache.ObjectName{Namespace: fmt.Sprint("team-", i), Name: "kube-root-ca.crt"}
		},
		"no namespace": func(i int) cache.ObjectName { return cache.ObjectName{Name: fmt.Sprintf("%x", i)} },
		"both": func(i int) cache.ObjectName {
			return cache.ObjectName{Namespace: fmt.Sprint(i % 256), Name: fmt.Sprint(i / 256)}
		},
		"alike": func(i int) cache.ObjectName {
			return cache.ObjectName{Namespace: fmt.Sprint(i), Name: fmt.Sprint(i)}
		},
		"in the middle": func(i int) cache.ObjectName {
			return cache.ObjectName{Namespace: "a",
				Name: fmt.Sprintf("a-deployment-%05d-with-a-tail-of-a-few-words", i)}
		},
		"bits": func(i int) cache.ObjectName {
			return cache.ObjectName{Namespace: string([]byte{byte(i), 0, 0, 0}),
				Name: string([]byte{0, byte(i >> 8), 0, 0, 0, 0, 0, 0, 0})}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHasher()
			var upper, lower [lots]int
			for i := range n {
				key := key(i)
				tag := tagOf(h, &key)
				upper[tag/(1<<32/lots)]++
				lower[tag%lots]++
			}
			for half, counts := range map[string][lots]int{"upper": upper, "lower": lower} {
				// This is Pearson's chi-squared, with a mean of lots-1 and a standard deviation of the root
				// of twice that. Eight standard deviations can't be chance.
				sum := 0.
				for _, count := range counts {
					sum += float64((count-n/lots)*(count-n/lots)) / (n / lots)
				}
				if limit := lots + 8*math.Sqrt(2*lots); sum > limit {
					t.Errorf("the %s bits are spread by %.0f, not %d to %.0f", half, sum, lots, limit)
				}
			}
		})
	}
}

// TestTextsOfAllLengths checks that every text of up to 80 bytes has another hash if one byte differs, or if
// the same bytes are divided elsewhere.
func TestTextsOfAllLengths(t *testing.T) {
	h, seen := newHasher(), map[uint64]string{}
	see := func(first, second string) {
		sum, what := h.texts(first, second), fmt.Sprintf("%q, %q", first, second)
		if other, ok := seen[sum]; ok && other != what {
			t.Fatalf("%s hashes like %s", what, other)
		}
		seen[sum] = what
		if again := h.texts(first, second); again != sum {
			t.Fatalf("%s hashes to %x and %x", what, sum, again)
		}
	}
	for length := range 81 {
		text := make([]byte, length)
		for divided := range length + 1 {
			see(string(text[:divided]), string(text[divided:]))
		}
		for i := range text {
			text[i] = 1
			see(string(text), "")
			see("", string(text))
			text[i] = 0
		}
	}
	if other := newHasher(); other.texts("a", "b") == h.texts("a", "b") {
		t.Error("two stores hash alike")
	}
}
