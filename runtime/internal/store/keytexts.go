package store

import (
	"encoding/binary"
	"math"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// keyTexts holds copies of the texts that keys consist of. In a store that is larger
// than a processor's caches, a look-up spends most of its time waiting for memory. With
// a copy in one cache line it waits once, instead of first for the key and then for the
// text that the key points to. The copies cost 64 bytes an object, so stores of up to
// minTexts have none. No snapshot shares them.
type keyTexts struct {
	// pages are as long as those of objects.
	pages [][]keyText
}

type keyText struct {
	// first is the length of the first of two parts, length that of both.
	first, length uint8
	bytes         [maxKeyText]byte
}

const (
	// maxKeyText is enough for most namespaces and names together, and makes a keyText
	// as long as a line of a processor's cache.
	maxKeyText = 62
	// noKeyText is the length in place of one that exceeds maxKeyText.
	noKeyText = math.MaxUint8
	// A store has key texts when it outgrows minTexts, until it has half as many.
	minTexts = 4 * pageSize
)

// textsOf returns the texts that a key consists of, if it has one of the types that
// are usual for objects. Stores with keys of other types have no keyTexts.
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

// textual reports whether textsOf returns texts of keys of that type.
func textual[K comparable]() bool {
	var key K
	_, _, ok := textsOf(&key)
	return ok
}

func fits(first, second string) bool {
	return len(first)+len(second) <= maxKeyText
}

func (t *keyText) set(first, second string) {
	t.length = noKeyText
	if fits(first, second) {
		n := copy(t.bytes[:], first)
		t.first, t.length = uint8(n), uint8(n+copy(t.bytes[n:], second))
	}
}

// is reports whether the text has these two parts, which must fit. Most namespaces and
// names are compared by words: calls that compare strings would be a third of the
// instructions of a look-up.
func (t *keyText) is(first, second string) bool {
	n, m := len(first), len(second)
	if int(t.first) != n || int(t.length) != n+m {
		return false
	}
	a, b := t.bytes[:n], t.bytes[n:n+m]
	if 8 <= n && n <= 16 {
		if word(a) != eight(first) || word(a[n-8:]) != eight(first[n-8:]) {
			return false
		}
	} else if string(a) != first {
		return false
	}
	if 16 <= m && m <= 32 {
		return word(b) == eight(second) && word(b[8:]) == eight(second[8:]) &&
			word(b[m-16:]) == eight(second[m-16:]) && word(b[m-8:]) == eight(second[m-8:])
	}
	return string(b) == second
}

func word(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// exist reports whether there are texts. There are those of all slots, or none.
func (t *keyTexts) exist() bool { return len(t.pages) > 0 }

func (t *keyTexts) at(slot uint32) *keyText { return &t.pages[slot>>pageBits][slot&pageMask] }

// append adds the text of the next slot.
func (t *keyTexts) append(slot uint32, first, second string) {
	if slot&pageMask == 0 {
		t.pages = append(t.pages, make([]keyText, 0, pageSize))
	}
	page := &t.pages[slot>>pageBits]
	*page = append(*page, keyText{})
	t.at(slot).set(first, second)
}

// remove removes the text of a slot. That of the last slot takes its place.
func (t *keyTexts) remove(slot, last uint32) {
	if last <= minTexts/2 {
		t.pages = nil
		return
	}
	*t.at(slot) = *t.at(last)
	number := last >> pageBits
	if t.pages[number] = t.pages[number][:last&pageMask]; last&pageMask == 0 {
		t.pages[number] = nil
		t.pages = t.pages[:number]
	}
}
