package sharding

import (
	"flag"
	"fmt"
	"github.com/kubewright/kubewright/runtime/shard"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

var plans = flag.Int("sharding.plans", 10, "random groups that TestPlan runs")

// group is a group whose members hand over at once what the table asks for.
type group struct {
	t       *testing.T
	random  *rand.Rand
	objects []uint64 // their hashes, sorted
	table   table
	members []string
	// dead are members that crashed, with their last report.
	dead   map[string][]piece
	joined int
	// moved counts objects that changed owner.
	moved int
}

func (g *group) hashes(r shard.Range) ([]uint64, bool) {
	first := sort.Search(len(g.objects), func(i int) bool { return g.objects[i] >= r.First })
	after := sort.Search(len(g.objects), func(i int) bool { return g.objects[i] > r.Last })
	return slices.Clone(g.objects[first:after]), true
}

func (g *group) count(r shard.Range) int {
	hashes, _ := g.hashes(r)
	return len(hashes)
}

func (g *group) load(member string) (objects int) {
	for _, r := range g.table.ownedBy(member) {
		objects += g.count(r.Range)
	}
	return objects
}

func (g *group) report(member string) []piece {
	return divideIntoPieces(g.table.ownedBy(member), g.hashes)
}

func (g *group) join() {
	g.members = append(g.members, fmt.Sprint("m", g.joined))
	g.joined++
}

func (g *group) remove() string {
	i := g.random.IntN(len(g.members))
	member := g.members[i]
	g.members = slices.Delete(g.members, i, i+1)
	return member
}

// crash and leave return how many objects the member had.
func (g *group) crash() int {
	member := g.remove()
	g.dead[member] = g.report(member)
	return g.load(member)
}

func (g *group) leave() int {
	member := g.remove()
	had := g.load(member)
	g.become(g.table.withFreed(member, g.report(member)))
	return had
}

// become replaces the table, and checks the new one.
func (g *group) become(next table) {
	if err := next.check(); err != nil {
		g.t.Fatal(err)
	}
	if next.Generation != g.table.Generation+1 {
		g.t.Fatalf("generation %d after %d", next.Generation, g.table.Generation)
	}
	was, is := 0, 0
	for place := range eachPlace(g.objects) {
		for g.table.rangeAt(was).Last < place[0] {
			was++
		}
		for next.rangeAt(is).Last < place[0] {
			is++
		}
		before, after := g.table.Ranges[was], next.Ranges[is]
		if before.Owner != after.Owner && after.Owner != "" {
			g.moved += len(place)
		}
		if before.Owner != after.Owner && after.Token != next.Generation || after.Token < before.Token {
			g.t.Fatalf("%x: from token %d to %d in generation %d",
				place[0], before.Token, after.Token, next.Generation)
		}
	}
	g.table = next
}

// balance lets the balancer plan, and members hand over, until nothing changes. It returns how many tables
// the balancer has made.
func (g *group) balance() (rounds int) {
	for ; ; rounds++ {
		if rounds > 50+2*len(g.members) {
			text, _ := g.table.text()
			g.t.Fatalf("no end:\n%s", text)
		}
		s := situation{
			table: g.table, live: map[string]bool{}, dead: map[string]bool{},
			counted: maps.Clone(g.dead), settled: true,
		}
		for _, member := range g.members {
			s.live[member] = true
			s.counted[member] = g.report(member)
		}
		for member := range g.dead {
			s.dead[member] = true
		}
		next, changes := s.planTable()
		if !changes {
			return rounds
		}
		g.become(next)
		for _, member := range g.members {
			g.obey(member)
		}
	}
}

// obey hands over what a member is asked for.
func (g *group) obey(member string) {
	i, asked := g.table.requestedFrom(member)
	if !asked {
		return
	}
	span := g.table.rangeAt(i)
	hashes, _ := g.hashes(span)
	part, objects, ok := g.table.choosePart(i, hashes, g.load(member)/2)
	if !ok {
		g.t.Errorf("%s refuses %+v", member, g.table.Ranges[i])
		g.become(g.table.withoutRequest(span.First, len(hashes)))
	} else {
		g.become(g.table.reassign(part, g.table.Ranges[i].To, objects))
	}
	if _, twice := g.table.requestedFrom(member); twice {
		g.t.Errorf("%s is asked for two things at once", member)
	}
}

// check checks that every hash has an owner among the members, and that no member has too many ranges, or too
// many objects while it could have fewer. It returns the greatest number of ranges.
func (g *group) check() (most int) {
	loads := map[string][][]uint64{}
	for i, e := range g.table.Ranges {
		if !slices.Contains(g.members, e.Owner) {
			g.t.Fatalf("%s belongs to %q", g.table.rangeAt(i), e.Owner)
		}
		hashes, _ := g.hashes(g.table.rangeAt(i))
		loads[e.Owner] = append(loads[e.Owner], hashes)
	}
	mean := float64(len(g.objects)) / float64(len(g.members))
	for member, ranges := range loads {
		if load, heavy := tooHeavy(ranges, mean); heavy {
			g.t.Errorf("%s has %d objects, the mean of %d members is %.1f", member, load, len(g.members), mean)
		}
		most = max(most, len(ranges))
	}
	if most > maxRanges {
		g.t.Errorf("a member has %d ranges", most)
	}
	return most
}

// tooHeavy returns how many objects a member has in its ranges, and whether these are too many. They are if
// they are more than 1.25 times the mean, and the member could hand over a part that is worth a range, a 32nd
// of the mean, and so small that a member with the mean would have fewer objects with it. ranges are the
// hashes in each, sorted.
func tooHeavy(ranges [][]uint64, mean float64) (load int, heavy bool) {
	smallest := 0
	for _, hashes := range ranges {
		load += len(hashes)
		part := 0
		for place := range eachPlace(hashes) {
			if part += len(place); float64(part) < mean/32 {
				continue
			}
			if smallest == 0 || part < smallest {
				smallest = part
			}
			part = 0
		}
	}
	return load, float64(load) > max(1.25*mean, mean+float64(smallest))
}

// TestPlan checks the guarantees of plans with random groups, whose members join, leave, crash and are
// replaced. -sharding.plans is the number of groups.
func TestPlan(t *testing.T) {
	for seed := range *plans {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := &group{t: t, random: rand.New(rand.NewPCG(uint64(seed), 1)), dead: map[string][]piece{}}
			size := 2 + g.random.IntN(20)
			if seed%10 == 9 {
				size = 200
			}
			g.run(size)
		})
	}
}

func (g *group) run(size int) {
	g.populate(size * (5 + g.random.IntN(100)))
	g.table = newTable(shard.ByNamespace, []string{"pods"})
	for range size {
		g.join()
	}
	g.balance()
	g.check()
	moved, allowed, rounds, ranges := 0, 0, 0, 0
	for range 60 {
		had := 0 // objects of the member that leaves
		switch what := g.random.IntN(5); {
		case what == 0 && len(g.members) > 1:
			had = g.crash()
		case what == 1 && len(g.members) > 1:
			had = g.leave()
		case what == 2: // a step of a rolling update
			g.join()
			had = g.leave()
		default:
			g.join()
		}
		g.moved = 0
		rounds = max(rounds, g.balance())
		ranges = max(ranges, g.check())
		// The objects of a leaving member change owner, and up to the mean go to one that joins. A change may
		// also lead to moves that were put off before: in a large group many members have too much at once.
		mean := len(g.objects) / len(g.members)
		bound := had + mean + g.largest()
		if g.moved > bound+max(2*mean, len(g.objects)/32) {
			g.t.Errorf("%d objects moved, %d are allowed, %d are a member's part", g.moved, bound, mean)
		}
		moved += g.moved
		allowed += bound
	}
	if moved > allowed {
		g.t.Errorf("%d objects moved in all, %d are allowed", moved, allowed)
	}
	if rounds > 20 {
		g.t.Errorf("%d tables until all was level", rounds)
	}
	g.t.Logf(
		"%d members at the end; at most %d ranges a member, %d tables a change; %.2f of what may move moved",
		len(g.members), ranges, rounds, float64(moved)/float64(allowed))
}

// largest returns how many objects share the hash that most do.
func (g *group) largest() (most int) {
	for place := range eachPlace(g.objects) {
		most = max(most, len(place))
	}
	return most
}

// populate makes objects with the hashes of UIDs, or of realistic namespaces: most have few objects and some
// have many, and their names differ at the end.
func (g *group) populate(objects int) {
	byUID := g.random.IntN(3) == 0
	namespaces := 1 + g.random.IntN(objects)
	for len(g.objects) < objects {
		if byUID {
			g.objects = append(g.objects, g.random.Uint64())
			continue
		}
		size := 1 + int(g.random.ExpFloat64()*float64(objects)/float64(namespaces))
		hash := shard.Hash(fmt.Sprintf("team-%04d", g.random.IntN(namespaces)))
		g.objects = append(g.objects, slices.Repeat([]uint64{hash}, size)...)
	}
	slices.Sort(g.objects)
}
