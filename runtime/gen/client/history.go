package client

import (
	"slices"
	"sort"
)

// history is what was written, as far as a later version can still be asked for: the versions fall, and the
// sequence numbers rise. So it is one write long, except after responses that overtook each other, until the
// next write, and after a restore of the server, whose versions then begin again at lower ones. It is never
// modified.
type history []write

// write is the version that a write returned. Sequence numbers have the order of the responses.
type write struct {
	sequence uint64
	version  string
}

// maxHistory bounds a history: it is more than there are responses under way, or restores.
const maxHistory = 16

// with returns the history with one more write. It drops the writes with lower versions, and those that can't
// be compared, because the response of w came later.
func (h history) with(w write) history {
	n := len(h)
	for n > 0 && compare(h[n-1].version, w.version) <= 0 {
		n--
	}
	longer := append(slices.Clip(h[:n]), w)
	if len(longer) > maxHistory {
		// The higher of two versions, as if it had been written later: somebody waits for too much.
		longer[1].version = longer[0].version
		longer = longer[1:]
	}
	return longer
}

// since returns the highest version that was written after the write with a sequence number, or "".
func (h history) since(sequence uint64) string {
	for _, w := range h {
		if w.sequence > sequence {
			return w.version
		}
	}
	return ""
}

// last is the sequence number of the last write.
func (h history) last() uint64 { return h[len(h)-1].sequence }

// merged returns the history of writes in any order.
func merged(all []write) (h history) {
	// Not slices.SortFunc, which would link code for this type alone.
	sort.Slice(all, func(i, j int) bool { return all[i].sequence < all[j].sequence })
	for _, w := range all {
		h = h.with(w)
	}
	return h
}
