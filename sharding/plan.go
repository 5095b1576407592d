package sharding

import (
	"cmp"
	"maps"
	"slices"
)

// situation is what the balancer decides by.
type situation struct {
	table table
	// live are the members that ranges may be given to, dead the owners whose Lease has run out. There may be others.
	live, dead map[string]bool
	// counted is how many objects each member has in its ranges, by first place.
	counted map[string]map[place]int
	// settled says that no member has joined for a while, so ranges may be moved.
	settled bool
	maxLoad int
}

// objects returns how many objects entry i has, as far as anybody has counted.
func (s situation) objects(i int) int {
	e := s.table.Ranges[i]
	if n, counted := s.counted[e.Owner][e.First]; counted {
		return n
	}
	return e.Objects
}

// plan returns the next table, and whether it differs: ranges that are free, or whose owners are dead, are given to the
// members with the fewest objects, and then owners with too many are asked to give some.
func (s situation) plan() (table, bool) {
	next := s.table.next()
	loads, counts := s.loads()
	changed := s.fill(next, loads, counts)
	if s.settled && s.level(next, loads, counts) {
		changed = true
	}
	if !changed {
		return s.table, false
	}
	return next, true
}

// loads returns how many objects and ranges each live member has.
func (s situation) loads() (loads, counts map[string]int) {
	loads, counts = map[string]int{}, map[string]int{}
	for member := range s.live {
		loads[member] = 0
	}
	for i, e := range s.table.Ranges {
		if s.live[e.Owner] {
			loads[e.Owner] += s.objects(i)
			counts[e.Owner]++
		}
	}
	return loads, counts
}

// fill gives the ranges that nobody has, the largest first, and takes back requests that can't be met.
func (s situation) fill(next table, loads, counts map[string]int) (changed bool) {
	var free []int
	for i := range next.Ranges {
		e := &next.Ranges[i]
		if e.Owner == "" || s.dead[e.Owner] {
			free = append(free, i)
			continue
		}
		if e.To != "" && !s.live[e.To] {
			e.To, e.Part = "", 0
			changed = true
		}
	}
	slices.SortFunc(free, func(a, b int) int { return cmp.Or(cmp.Compare(s.objects(b), s.objects(a)), cmp.Compare(a, b)) })
	for _, i := range free {
		e := &next.Ranges[i]
		objects := s.objects(i)
		to := lightest(loads)
		if to == "" || s.maxLoad > 0 && loads[to]+objects > s.maxLoad {
			to = "" // nobody has room: it stays without an owner, or becomes free
		}
		if to == e.Owner {
			continue
		}
		e.Owner, e.Token, e.To, e.Part, e.Objects = to, next.Generation, "", 0, objects
		if to != "" {
			loads[to] += objects
			counts[to]++
		}
		changed = true
	}
	return changed
}

// level asks the owners with the most objects to give some to those with the fewest. Requests that are under way count as
// done, so that nothing is asked for twice. A member is left alone within a quarter of the mean.
func (s situation) level(next table, loads, counts map[string]int) (changed bool) {
	total := 0
	for _, n := range loads {
		total += n
	}
	if len(loads) == 0 || total == 0 {
		return false
	}
	mean := total / len(loads)
	for i, e := range next.Ranges {
		if e.To != "" {
			objects := s.objects(i)
			if e.Part > 0 {
				objects = min(objects, e.Part)
			}
			loads[e.Owner] -= objects
			loads[e.To] += objects
			counts[e.To]++
		}
	}
	for range maxRanges * len(loads) { // enough, and an end
		from, to := heaviest(loads), lightest(loads)
		surplus, room := loads[from]-mean, mean-loads[to]
		if 4*surplus <= mean && 4*room <= mean || from == to {
			return changed
		}
		wanted := max(min(surplus, room), 1)
		i := s.choose(next, from, wanted)
		if i < 0 || counts[to] >= maxRanges {
			// Nothing of this member's can be moved: look at the others.
			delete(loads, from)
			if len(loads) < 2 {
				return changed
			}
			continue
		}
		e, objects := &next.Ranges[i], s.objects(i)
		e.To, e.Part = to, 0
		if objects > wanted {
			e.Part = wanted
			objects = wanted
		}
		loads[from] -= objects
		loads[to] += objects
		counts[to]++
		changed = true
	}
	return changed
}

// choose returns the entry of a member that a number of objects is best taken from, or -1: one that has just so many or
// fewer, the largest of those; else a part of the smallest larger one that has more than one place.
func (s situation) choose(t table, member string, wanted int) int {
	best, larger := -1, -1
	for i, e := range t.Ranges {
		objects := s.objects(i)
		if e.Owner != member || e.To != "" || objects == 0 {
			continue
		}
		switch span := t.span(i); {
		case objects <= wanted:
			if best < 0 || objects > s.objects(best) {
				best = i
			}
		case span.First < span.Last && (larger < 0 || objects < s.objects(larger)):
			larger = i
		}
	}
	if best >= 0 && (larger < 0 || 2*s.objects(best) >= wanted) {
		return best
	}
	return larger
}

// lightest returns the member with the fewest objects, the first by name of several.
func lightest(loads map[string]int) string {
	return extreme(loads, func(a, b int) bool { return a < b })
}

// heaviest returns the member with the most objects.
func heaviest(loads map[string]int) string {
	return extreme(loads, func(a, b int) bool { return a > b })
}

func extreme(loads map[string]int, better func(a, b int) bool) (found string) {
	for _, member := range slices.Sorted(maps.Keys(loads)) {
		if found == "" || better(loads[member], loads[found]) {
			found = member
		}
	}
	return found
}
