package sharding

import (
	"maps"
	"slices"
)

// situation is what the balancer decides by.
type situation struct {
	table table
	// live are the members that take part, dead those whose Lease has run out. Some are neither, such as those
	// that leave.
	live, dead map[string]bool
	// silent are live members that haven't renewed in time. They are given nothing.
	silent map[string]bool
	// counted are the pieces that each member reports.
	counted map[string][]piece
	// places are the hashes that have objects, by the census before the first division.
	places []piece
	// settled means that ranges may be moved: each live member has some, or one without any has waited for
	// JoinDelay.
	settled bool
	// maxLoad is up to how many objects a member is given, 0 for no limit.
	maxLoad int
}

// The loads at which objects move, and those up to and down to which they do, as multiples of the mean. They
// differ so much that what has moved isn't moved back.
const (
	tooMuch   = 1.2 // a member with more is asked to hand over
	tooLittle = .75 // a member with less gets more
	fill      = 1.1 // up to this a member is given ranges, so that fewer members get some
	step      = .2  // at least this moves from a member if possible, so that a light one needs few others
)

// plan is the next table while it is made.
type plan struct {
	situation
	next    table
	changed bool
	members []string // the live ones, sorted
	mean    float64  // objects of a member
	// loads are the objects, ranges the numbers of ranges of each live member, as if everything requested had
	// moved.
	loads, ranges map[string]int
	// requested are the members that are asked to hand something over, stuck those that nothing more can be
	// moved from or to.
	requested, stuck map[string]bool
}

// lost returns the members whose ranges the balancer takes, because their Leases have run out.
func (s situation) lost() (members []string) {
	for _, e := range s.table.Ranges {
		if s.dead[e.Owner] && !slices.Contains(members, e.Owner) {
			members = append(members, e.Owner)
		}
	}
	return members
}

// planTable returns the next table, and whether it differs. Ranges that are free, or whose owners are dead,
// go to neighbours with room, or to the members with the fewest objects. Then members with too many objects
// are asked to hand some over, and others to hand some over to members with too few.
func (s situation) planTable() (table, bool) {
	p := &plan{
		situation: s, next: s.table.nextGeneration(), members: slices.Sorted(maps.Keys(s.live)),
		loads: map[string]int{}, ranges: map[string]int{},
		requested: map[string]bool{}, stuck: map[string]bool{},
	}
	if len(p.members) == 0 {
		return s.table, false
	}
	p.withdrawRequests()
	p.countLoads()
	if s.table.untouched() {
		p.divideByCensus()
	} else {
		p.assignOrphans()
		if s.settled {
			p.rebalance()
		}
	}
	if !p.changed {
		return s.table, false
	}
	p.next = p.next.merged()
	return p.next, true
}

// withdrawRequests takes back the requests for members that don't take part any more, or that may be dead.
func (p *plan) withdrawRequests() {
	for i := range p.next.Ranges {
		if e := &p.next.Ranges[i]; e.To != "" && (!p.live[e.To] || p.silent[e.To]) {
			e.To, e.Part, p.changed = "", 0, true
		}
	}
}

// countLoads computes the load and the number of ranges of each live member, and the mean load.
func (p *plan) countLoads() {
	total := 0
	for i, e := range p.next.Ranges {
		objects := p.objects(p.next, i)
		if orphan := p.isOrphan(e); orphan || p.live[e.Owner] {
			total += objects
		}
		switch {
		case !p.live[e.Owner] || p.isOrphan(e):
		case e.To == "":
			p.addLoad(e.Owner, objects)
		default:
			part := objects
			if e.Part > 0 {
				part = min(part, e.Part)
				p.addLoad(e.Owner, objects-part)
			}
			p.addLoad(e.To, part)
			p.requested[e.Owner] = true
		}
	}
	p.mean = float64(total) / float64(len(p.members))
}

// isOrphan reports whether the balancer may assign a range.
func (p *plan) isOrphan(e entry) bool { return e.Owner == "" || p.dead[e.Owner] }

// addLoad counts a range, with its objects, for a member.
func (p *plan) addLoad(to string, objects int) {
	p.loads[to] += objects
	p.ranges[to]++
}

// pieces returns the pieces of entry i, or none if the owner didn't count them.
func (s situation) pieces(t table, i int) []piece {
	if owner := t.Ranges[i].Owner; owner != "" {
		return piecesWithin(s.counted[owner], t.rangeAt(i))
	}
	return nil
}

// objects returns how many objects entry i has: by its owner's report, else by the table.
func (s situation) objects(t table, i int) int {
	pieces := s.pieces(t, i)
	if pieces == nil {
		return t.Ranges[i].Objects
	}
	return sumObjects(pieces)
}

func sumObjects(pieces []piece) (objects int) {
	for _, p := range pieces {
		objects += max(p.Objects, 0)
	}
	return objects
}

// divideByCensus divides all hashes by the census.
func (p *plan) divideByCensus() {
	takers := slices.DeleteFunc(slices.Clone(p.members), func(member string) bool { return p.silent[member] })
	if len(takers) == 0 {
		return
	}
	p.next.Ranges = nil
	for i, first := range divideHashes(p.places, len(takers)) {
		p.next.Ranges = append(p.next.Ranges, entry{First: first, Owner: takers[i], Token: p.next.Generation})
	}
	for _, place := range p.places {
		p.next.Ranges[p.next.indexOf(place.First)].Objects += place.Objects
	}
	p.changed = true
}

// assignOrphans assigns the orphans, in pieces where these are known. Owners of neighbouring ranges come
// first, because then there are no more ranges than before.
func (p *plan) assignOrphans() {
	var ranges []entry
	for i, e := range p.next.Ranges {
		if p.isOrphan(e) {
			ranges = append(ranges, e.split(p.pieces(p.next, i))...)
		} else {
			ranges = append(ranges, e)
		}
	}
	for first := 0; first < len(ranges); first++ {
		after := first
		for after < len(ranges) && p.isOrphan(ranges[after]) {
			after++
		}
		if after == first {
			continue
		}
		var left, right string
		if first > 0 {
			left = ranges[first-1].Owner
		}
		if after < len(ranges) {
			right = ranges[after].Owner
		}
		p.assignAdjoining(ranges[first:after], left, right)
		first = after - 1
	}
	if p.changed {
		p.next.Ranges = ranges
	}
}

// assignAdjoining assigns adjoining orphans to the owners on their left and right as long as these have room,
// and else to the lightest member, which then is the owner on the left.
func (p *plan) assignAdjoining(orphans []entry, left, right string) {
	for len(orphans) > 0 {
		switch first, last := &orphans[0], &orphans[len(orphans)-1]; {
		case p.hasRoom(left, first.Objects):
			p.assignEntry(first, left)
			orphans = orphans[1:]
		case p.hasRoom(right, last.Objects):
			p.assignEntry(last, right)
			orphans = orphans[:len(orphans)-1]
		default:
			left = p.lightest(func(member string) bool {
				fits := p.maxLoad == 0 || p.loads[member]+first.Objects <= p.maxLoad
				return p.canTake(member) && p.ranges[member] < maxRanges && fits
			})
			if left != "" || first.Owner != "" { // without room anywhere, it becomes free
				p.assignEntry(first, left)
				p.ranges[left]++
			}
			orphans = orphans[1:]
		}
	}
}

// hasRoom reports whether a neighbour should get so many objects. It gets no more than the mean while another
// member has too few.
func (p *plan) hasRoom(member string, objects int) bool {
	load := p.loads[member] + objects
	if !p.canTake(member) || p.maxLoad > 0 && load > p.maxLoad {
		return false
	}
	limit := fill * p.mean
	if needy := p.lightest(p.canTake); needy != member && float64(p.loads[needy]) < tooLittle*p.mean {
		limit = p.mean
	}
	return float64(load) <= limit
}

func (p *plan) canTake(member string) bool { return p.live[member] && !p.silent[member] }

func (p *plan) assignEntry(e *entry, to string) {
	*e = entry{First: e.First, Owner: to, Token: p.next.Generation, Objects: e.Objects}
	p.loads[to] += e.Objects
	p.changed = true
}

// lightest returns the eligible member with the fewest objects, of several the one with the fewest ranges, ""
// if there is none.
func (p *plan) lightest(eligible func(string) bool) (found string) {
	for _, member := range p.members {
		if !eligible(member) {
			continue
		}
		if found == "" || p.loads[member] < p.loads[found] ||
			p.loads[member] == p.loads[found] && p.ranges[member] < p.ranges[found] {
			found = member
		}
	}
	return found
}
