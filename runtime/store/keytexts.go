package store

import (
	"math"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// keyTexts hold copies of the texts that keys consist of, for look-ups, most of
// whose time is waiting for memory: with a copy in one line of a processor's cache
// they needn't wait for the key and then for what it points to. Nobody else sees
// the copies, so no snapshot shares them.
type keyTexts[K comparable] struct {
	// pages are those from firstKeyTexts on.
	pages []*[pageSize]keyText
}

type keyText struct {
	// first is the length of the first of two parts, length that of both.
	first, length uint8
	bytes         [maxKeyText]byte
}

const (
	// firstKeyTexts is how many pages of a store have none: a processor's cache
	// holds that much anyway, and most informers have no more.
	firstKeyTexts = 8
	// maxKeyText is for most namespaces and names together, and makes a keyText as
	// long as a line of a processor's cache.
	maxKeyText = 62
	// noKeyText is the length of what is longer.
	noKeyText = math.MaxUint8
)

// textsOf returns what a key consists of, if it has one of the types that are
// usual for objects. Stores with keys of others have no keyTexts.
func textsOf[K comparable](key *K) (first, second string, ok bool) {
	switch key := any(key).(type) {
	case *cache.ObjectName:
		return key.Namespace, key.Name, true
	case *types.NamespacedName:
		return key.Namespace, key.Name, true
	case *string:
		return "", *key, true
	default:
		return "", "", false
	}
}

func fits(first, second string) bool {
	return len(first) <= maxKeyText && len(first)+len(second) <= maxKeyText
}

// set copies the key that was put into a slot: the next one, or an earlier.
func (t *keyTexts[K]) set(slot uint32, key *K) {
	number := int(slot>>pageBits) - firstKeyTexts
	first, second, ok := textsOf(key)
	if !ok || number < 0 {
		return
	}
	if number == len(t.pages) {
		t.pages = append(t.pages, new([pageSize]keyText))
	}
	text := &t.pages[number][slot&pageMask]
	text.length = noKeyText
	if fits(first, second) {
		n := copy(text.bytes[:], first)
		text.first, text.length = uint8(n), uint8(n+copy(text.bytes[n:], second))
	}
}

// is says whether a key is the one in a slot, if it is known here.
func (t *keyTexts[K]) is(slot uint32, key *K) (is, known bool) {
	number := int(slot>>pageBits) - firstKeyTexts
	first, second, ok := textsOf(key)
	if !ok || number < 0 || !fits(first, second) {
		return false, false
	}
	text, n := &t.pages[number][slot&pageMask], len(first)
	return int(text.first) == n && int(text.length) == n+len(second) &&
		string(text.bytes[:n]) == first && string(text.bytes[n:text.length]) == second, true
}

// truncate forgets the last page if slot, the last one, was its first.
func (t *keyTexts[K]) truncate(slot uint32) {
	if number := int(slot>>pageBits) - firstKeyTexts; slot&pageMask == 0 && 0 <= number && number < len(t.pages) {
		t.pages[number] = nil
		t.pages = t.pages[:number]
	}
}
