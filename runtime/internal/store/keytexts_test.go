package store

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// TestManyKeys puts, deletes and looks up random keys in a store of several pages, and compares the store
// with a map.
func TestManyKeys(t *testing.T) {
	t.Run("names", func(t *testing.T) {
		// The same texts are divided differently, so that some keys differ only in that. Their lengths are
		// around the longest that is copied.
		var keys []cache.ObjectName
		for i := range 700 {
			text := fmt.Sprintf("%d", i) + strings.Repeat("x", i%3*25)
			for _, length := range []int{0, 1, len(text) - 1, len(text)} {
				keys = append(keys, cache.ObjectName{Namespace: text[:length], Name: text[length:]})
			}
			whole := fmt.Sprintf("%03d", i) + strings.Repeat("y", maxKeyText-4+i%3)
			keys = append(keys, cache.ObjectName{Name: whole}, cache.ObjectName{Namespace: whole},
				cache.ObjectName{Namespace: "a", Name: whole})
		}
		testManyKeys(t, keys)
	})
	t.Run("other names", func(t *testing.T) {
		var keys []types.NamespacedName
		for i := range 5000 {
			keys = append(keys, types.NamespacedName{Namespace: fmt.Sprint(i / 50), Name: fmt.Sprint(i % 50)})
		}
		testManyKeys(t, keys)
	})
	t.Run("strings", func(t *testing.T) {
		keys := []string{""}
		for i := range 5000 {
			keys = append(keys, fmt.Sprintf("%d", i)+strings.Repeat("x", maxKeyText-5+i%4))
		}
		testManyKeys(t, keys)
	})
	t.Run("numbers", func(t *testing.T) {
		var keys []int
		for i := range 5000 {
			keys = append(keys, i)
		}
		if s := testManyKeys(t, keys); s.live.table.texts.pages != nil {
			t.Error("numbers have copies")
		}
	})
}

func testManyKeys[K comparable](t *testing.T, keys []K) *Store[K] {
	r := rand.New(rand.NewPCG(1, 2))
	s, m := New[K](), map[K]any{}
	most := 0
	for step := range 60_000 {
		// The store grows, shrinks and grows again.
		key, puts := keys[r.IntN(len(keys))], 9
		if step/20_000 == 1 {
			puts = 1
		}
		old, existed := m[key]
		var got any
		var ok bool
		if r.IntN(10) < puts {
			got, ok = s.Set(key, step+1, "")
			m[key] = step + 1
		} else {
			got, ok = s.Delete(key)
			delete(m, key)
		}
		if got != old || ok != existed {
			t.Fatalf("step %d replaced %v, %t at %v, want %v, %t", step, got, ok, key, old, existed)
		}
		most = max(most, len(m))
		key = keys[r.IntN(len(keys))]
		want, wanted := m[key]
		if got, ok := s.Get(key); got != want || ok != wanted {
			t.Fatalf("after step %d Get(%v) = %v, %t, want %v, %t", step, key, got, ok, want, wanted)
		}
	}
	if least := 2 * minTexts; most < least {
		t.Fatalf("there were never more than %d keys, of which %d are needed", most, least)
	}
	for _, key := range keys {
		want, wanted := m[key]
		if got, ok := s.Get(key); got != want || ok != wanted {
			t.Fatalf("in the end Get(%v) = %v, %t, want %v, %t", key, got, ok, want, wanted)
		}
	}
	return s
}

// TestKeysOfOneTag looks up keys that only a comparison distinguishes from others in the store, first among
// few objects and then among many.
func TestKeysOfOneTag(t *testing.T) {
	s := New[cache.ObjectName]()
	byTag := map[uint32]cache.ObjectName{}
	var pairs [][2]cache.ObjectName
	for i := 0; len(pairs) < 8; i++ {
		text := strings.Repeat("x", i%70) + fmt.Sprint(i)
		key := cache.ObjectName{Namespace: text[:i%5], Name: text[i%5:]}
		tag := tagOf(hashing, &key)
		if other, ok := byTag[tag]; ok {
			pairs = append(pairs, [2]cache.ObjectName{key, other})
		}
		byTag[tag] = key
	}
	for _, others := range []int{0, minTexts} {
		for i := range others {
			s.Set(cache.ObjectName{Name: fmt.Sprint(i)}, i, "")
		}
		for i, pair := range pairs {
			s.Set(pair[0], i, "")
			if got, ok := s.Get(pair[1]); ok {
				t.Fatalf("%v is taken for %v: %v", pair[1], pair[0], got)
			}
			s.Set(pair[1], -i, "")
			if got, _ := s.Get(pair[0]); got != i {
				t.Fatalf("%v is %v, want %d", pair[0], got, i)
			}
			if got, _ := s.Get(pair[1]); got != -i {
				t.Fatalf("%v is %v, want %d", pair[1], got, -i)
			}
		}
		for _, pair := range pairs {
			s.Delete(pair[0])
			s.Delete(pair[1])
		}
	}
}

// TestKeyTexts compares each of a few keys with the text of another.
func TestKeyTexts(t *testing.T) {
	var keys [][2]string
	for _, length := range []int{
		0, 1, 2, maxKeyText - 1, maxKeyText, maxKeyText + 1, 255, 256, 256 + maxKeyText,
	} {
		for _, text := range []string{
			strings.Repeat("x", length), strings.Repeat("xy", length)[:length],
			strings.Repeat("yx", length)[:length],
		} {
			for _, first := range []int{0, 1, length / 2, length - 1, length} {
				if 0 <= first && first <= length {
					keys = append(keys, [2]string{text[:first], text[first:]})
				}
			}
		}
	}
	used := keyText{}
	for _, key := range keys {
		fresh := keyText{}
		for _, text := range []*keyText{&fresh, &used} {
			text.set(key[0], key[1])
			for _, other := range keys {
				if fits(other[0], other[1]) && text.is(other[0], other[1]) != (other == key) {
					t.Fatalf("is the text of %q that of %q: %t", key, other, other != key)
				}
			}
		}
	}
}

// TestKeyTextsOfAllLengths changes each byte of texts of all lengths that fit.
func TestKeyTextsOfAllLengths(t *testing.T) {
	for length := range maxKeyText + 1 {
		for divided := range length + 1 {
			text, bytes := keyText{}, []byte(strings.Repeat("x", length))
			text.set(string(bytes[:divided]), string(bytes[divided:]))
			if !text.is(string(bytes[:divided]), string(bytes[divided:])) {
				t.Fatalf("a text of %d and %d bytes isn't itself", divided, length-divided)
			}
			for i := range bytes {
				bytes[i] = 'y'
				if text.is(string(bytes[:divided]), string(bytes[divided:])) {
					t.Fatalf("of a text of %d and %d bytes, byte %d isn't compared", divided,
						length-divided, i)
				}
				bytes[i] = 'x'
			}
		}
	}
}

// TestKeyTextsComeAndGo checks that a large store has texts of its keys, and a small one has none.
func TestKeyTextsComeAndGo(t *testing.T) {
	s := New[string]()
	const keys = 2 * minTexts
	texts := func(want int) {
		t.Helper()
		n := 0
		for _, page := range s.live.table.texts.pages {
			n += len(page)
		}
		if n != want {
			t.Fatalf("%d keys have %d texts, want %d", s.Len(), n, want)
		}
	}
	for range 3 {
		for i := range keys {
			s.Set(fmt.Sprint(i), i, "")
			if texts(0); i == minTexts-1 {
				break
			}
		}
		for i := minTexts; i < keys; i++ {
			s.Set(fmt.Sprint(i), i, "")
			texts(i + 1)
		}
		for i := range keys {
			s.Delete(fmt.Sprint(i))
			left := keys - i - 1
			if left <= minTexts/2 {
				texts(0)
				continue
			}
			texts(left)
			s.Set("another", i, "")
			texts(left + 1)
			s.Delete("another")
		}
	}
}

// TestPanicsLeaveNoLock looks up keys that can't be hashed.
func TestPanicsLeaveNoLock(t *testing.T) {
	s := New[any]()
	for name, look := range map[string]func(){
		"Get": func() { s.Get([]int{1}) }, "Lookup": func() { s.Lookup([]int{1}) },
		"Set": func() { s.Set([]int{1}, 1, "") }, "Delete": func() { s.Delete([]int{1}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of what has no hash doesn't panic", name)
				}
			}()
			look()
		}()
		if !s.writing.TryLock() || !s.mu.TryLock() {
			t.Fatalf("%s leaves a lock", name)
		}
		s.writing.Unlock()
		s.mu.Unlock()
	}
}

// TestTextKeysAreReadBesideWriters looks up objects, each of which is the length of its key, while others are
// put, deleted and replaced.
func TestTextKeysAreReadBesideWriters(t *testing.T) {
	s := New[string]()
	key := func(i int) string { return fmt.Sprint(i) + strings.Repeat("x", i%maxKeyText) }
	const keys = minTexts + pageSize
	var writing, reading sync.WaitGroup
	var stop atomic.Bool
	for seed := range uint64(2) {
		reading.Go(func() {
			for r := rand.New(rand.NewPCG(seed, 1)); !stop.Load(); {
				key := key(r.IntN(keys))
				if got, ok := s.Get(key); ok && got != len(key) {
					t.Errorf("%q is %v", key, got)
					return
				}
			}
		})
		writing.Go(func() {
			r := rand.New(rand.NewPCG(seed, 2))
			for step := range 20_000 {
				key := key(r.IntN(keys))
				if step/keys%2 == 0 {
					s.Set(key, len(key), "")
				} else {
					s.Delete(key)
				}
				if step%5000 == 0 {
					replacement := s.Begin()
					replacement.Set(key, len(key), "")
					replacement.Commit("")
				}
			}
		})
	}
	writing.Wait()
	stop.Store(true)
	reading.Wait()
}
