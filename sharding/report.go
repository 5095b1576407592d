package sharding

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubewright/kubewright/runtime/shard"
	"k8s.io/apimachinery/pkg/types"
)

// report is what a member reports about itself, on its Lease.
type report struct {
	Field shard.Field
	Kinds []string
	// Table is the UID of the Lease with the table that the member acts on, "" if it knows none. A table that
	// was deleted and created anew has another one.
	Table types.UID
	// Leaving means that the member gives up its ranges and must not get others.
	Leaving bool
	// Pieces are the member's ranges in pieces, and the gaps between them as pieces that aren't counted.
	Pieces []piece
}

// piece is a run of consecutive hashes. It ends where the next one begins.
type piece struct {
	First uint64
	// Objects is how many objects have these hashes, -1 if the member didn't count them.
	Objects int
	// Places is how many different hashes these objects have. Objects with one hash can't be parted.
	Places int
}

// piecesPerMember is into how many pieces, with about the same number of objects, a member divides its
// ranges, so that several members can get the ranges of one that crashed. A hash with more objects is a piece
// of its own.
const piecesPerMember = 16

// divideIntoPieces divides a member's ranges into pieces. hashes returns the hashes of the objects in a
// range, as [Config] has it.
func divideIntoPieces(ranges []Owned, hashes func(shard.Range) ([]uint64, bool)) []piece {
	total := 0
	counted := make([][]uint64, len(ranges))
	for i, r := range ranges {
		if objects, known := hashes(r.Range); known {
			objects = append([]uint64{}, objects...) // not nil
			slices.Sort(objects)
			counted[i] = objects
			total += len(objects)
		}
	}
	grain := max(total/piecesPerMember, 1)
	var found []piece
	next := uint64(0) // where the last range ended
	for i, r := range ranges {
		if r.First != next {
			found = append(found, piece{First: next, Objects: -1})
		}
		next = r.Last + 1
		if counted[i] == nil {
			found = append(found, piece{First: r.First, Objects: -1})
			continue
		}
		p := piece{First: r.First}
		for place := range eachPlace(counted[i]) {
			if p.Objects > 0 && p.Objects+len(place) > grain {
				found = append(found, p)
				p = piece{First: place[0]}
			}
			p.Objects += len(place)
			p.Places++
		}
		found = append(found, p)
	}
	if len(ranges) > 0 && next != 0 {
		found = append(found, piece{First: next, Objects: -1})
	}
	return found
}

// eachPlace yields each run of equal hashes.
func eachPlace(sorted []uint64) func(yield func([]uint64) bool) {
	return func(yield func([]uint64) bool) {
		for len(sorted) > 0 {
			n := 1
			for n < len(sorted) && sorted[n] == sorted[0] {
				n++
			}
			if !yield(sorted[:n]) {
				return
			}
			sorted = sorted[n:]
		}
	}
}

// piecesWithin returns the pieces that exactly make up a range. There are none if the owner counted before it
// had the range, or couldn't count.
func piecesWithin(pieces []piece, r shard.Range) []piece {
	first := slices.IndexFunc(pieces, func(p piece) bool { return p.First == r.First })
	if first < 0 {
		return nil
	}
	last := first
	for ; last < len(pieces) && pieces[last].First <= r.Last; last++ {
		if pieces[last].Objects < 0 {
			return nil
		}
	}
	if last == len(pieces) && r.Last != lastHash || last < len(pieces) && pieces[last].First != r.Last+1 {
		return nil
	}
	return pieces[first:last]
}

// cutOff returns a part at the beginning of a range, or at its end, and how many objects it has: as many as
// possible, but at most objects. If the outermost objects have one hash and are more than that, the part is
// just them, unless they are more than most. hashes are those of the range's objects, sorted. It returns
// false if there is no such part.
func cutOff(r shard.Range, hashes []uint64, objects, most int, fromEnd bool) (shard.Range, int, bool) {
	best, before := 0, 0
	at := uint64(0) // the first hash after the cut
	for place := range eachPlace(hashes) {
		n := before
		if fromEnd {
			n = len(hashes) - before
		}
		better := best == 0 || best > objects || n > best
		if n > objects {
			better = n <= most && (best == 0 || n < best)
		}
		if before > 0 && better {
			best, at = n, place[0]
		}
		before += len(place)
	}
	if fromEnd {
		return shard.Range{First: at, Last: r.Last}, best, best > 0
	}
	return shard.Range{First: r.First, Last: at - 1}, best, best > 0
}

// text returns the text that parseReport reads.
func (r report) text() string {
	text := appendHeader(nil, r.Field, r.Kinds)
	text = fmt.Appendf(text, "table %s\n", cmp.Or(r.Table, nobody))
	if r.Leaving {
		text = append(text, "leaving\n"...)
	}
	for _, p := range r.Pieces {
		if p.Objects < 0 {
			text = fmt.Appendf(text, "%016x -\n", p.First)
		} else {
			text = fmt.Appendf(text, "%016x objects %d places %d\n", p.First, p.Objects, p.Places)
		}
	}
	return string(text)
}

// parseReport reads a report.
func parseReport(text string) (report, error) {
	p := &parser{rest: text}
	var r report
	r.Field, r.Kinds = p.header()
	p.nextLineOf("table")
	if uid := p.word(); uid != nobody {
		r.Table = types.UID(uid)
	}
	for p.nextLine() {
		if len(r.Pieces) == 0 && !r.Leaving && p.words[0] == "leaving" {
			r.Leaving = true
			p.expectWord("leaving")
			continue
		}
		c := piece{First: p.hash(), Objects: -1}
		if len(r.Pieces) > 0 && c.First <= r.Pieces[len(r.Pieces)-1].First {
			p.fail("%016x isn't after the piece before it", c.First)
		}
		if len(p.words) > 0 && p.words[0] == nobody {
			p.expectWord(nobody)
		} else {
			p.expectWord("objects")
			c.Objects = int(p.number())
			p.expectWord("places")
			c.Places = int(p.number())
		}
		r.Pieces = append(r.Pieces, c)
	}
	return r, p.err
}
