package sharding

import "github.com/kubewright/kubewright/runtime/shard"

// move is a range, or a part of one, that could go from one member to another.
type move struct {
	from, to string
	// span is what is requested, entry the index of the range that it is in.
	entry int
	span  shard.Range
	// objects is how many would move. part means that span has more.
	objects int
	part    bool
	// more is how many ranges the table would gain, gains how many to would. Both may be negative.
	more, gains int
	value       float64
}

// rebalance asks members to hand objects over. First those with too many hand over to those with too few or,
// if there are none, to those with fewer than the mean. Then, if a member has too few, any that don't have
// too few hand over to it. Each is asked for one thing at a time. Every move makes the difference between two
// members smaller, so rebalance ends.
func (p *plan) rebalance() {
	for p.next.size() < maxTable/4*3 {
		from := p.heaviest()
		to := p.lightest(func(member string) bool { return p.canTake(member) && !p.stuck[member] })
		needy := to != "" && float64(p.loads[to]) < tooLittle*p.mean
		var best *move
		switch {
		case from != "" && float64(p.loads[from]) > tooMuch*p.mean:
			limit := p.mean
			if needy {
				limit *= tooLittle
			}
			for _, member := range p.members {
				if p.canTake(member) && float64(p.loads[member]) < limit {
					best = p.betterMove(best, from, member)
				}
			}
			p.stuck[from] = best == nil
		case needy:
			for _, member := range p.members {
				if !p.requested[member] && float64(p.loads[member]) > tooLittle*p.mean {
					best = p.betterMove(best, member, to)
				}
			}
			p.stuck[to] = best == nil
		default:
			return
		}
		if best != nil {
			p.requestMove(*best)
		}
	}
}

// heaviest returns the member with the most objects that can be asked, "" if there is none.
func (p *plan) heaviest() (found string) {
	for _, member := range p.members {
		if !p.requested[member] && !p.stuck[member] && (found == "" || p.loads[member] > p.loads[found]) {
			found = member
		}
	}
	return found
}

// betterMove returns the best move from one member to another, or the best one so far if that is better.
func (p *plan) betterMove(best *move, from, to string) *move {
	heavy, light := p.loads[from], p.loads[to]
	// The most that may move, and what should: a member with too much hands over what exceeds the mean.
	most, wanted := heavy-light-1, max(float64(heavy)-p.mean, step*p.mean)
	if float64(heavy) <= tooMuch*p.mean {
		most = min(most, heavy-int(tooLittle*p.mean)-1)
	}
	if p.maxLoad > 0 {
		most = min(most, p.maxLoad-light)
	}
	want := max(min(most, int(min(wanted, fill*p.mean-float64(light)))), 1)
	for i, e := range p.next.Ranges {
		if e.Owner != from || e.To != "" {
			continue
		}
		for _, mv := range p.possibleMoves(i, to, want) {
			mv.from = from
			if mv.objects <= 0 || mv.objects > most || p.ranges[to]+mv.gains > maxRanges ||
				p.ranges[from]+mv.more-mv.gains > maxRanges || mv.more > 0 && float64(mv.objects) < p.mean/32 {
				continue
			}
			mv.value = float64(min(mv.objects, want, heavy-light-mv.objects)) - p.mean/10*float64(mv.more)
			if best == nil || mv.value > best.value {
				best = &mv
			}
		}
	}
	return best
}

// possibleMoves returns which parts of entry i could go to a member: all of it, some pieces at its beginning
// or at its end, or one piece or a part of it.
func (p *plan) possibleMoves(i int, to string, want int) []move {
	whole := p.newMove(i, to, p.next.rangeAt(i), p.objects(p.next, i))
	pieces := p.pieces(p.next, i)
	if len(pieces) < 2 && (len(pieces) == 0 || pieces[0].Places < 2) {
		return []move{whole}
	}
	span := func(first, after int) shard.Range {
		if after == len(pieces) {
			return shard.Range{First: pieces[first].First, Last: whole.span.Last}
		}
		return shard.Range{First: pieces[first].First, Last: pieces[after].First - 1}
	}
	moves := []move{whole}
	head, n := pieces[0].Objects, 1
	for ; n < len(pieces) && head+pieces[n].Objects <= want; n++ {
		head += pieces[n].Objects
	}
	tail, m := pieces[len(pieces)-1].Objects, len(pieces)-1
	for ; m > 0 && tail+pieces[m-1].Objects <= want; m-- {
		tail += pieces[m-1].Objects
	}
	moves = append(moves, p.newMove(i, to, span(0, n), head), p.newMove(i, to, span(m, len(pieces)), tail))
	for k, c := range pieces {
		mv := p.newMove(i, to, span(k, k+1), c.Objects)
		if c.Places > 1 && c.Objects > want {
			mv.objects, mv.part = want, true
			switch adjoins := mv.gains < 1; {
			case adjoins:
				mv.more, mv.gains = 0, 0 // the end that adjoins moves
			case k == 0:
				mv.more = 1
			default:
				mv.more = 2
			}
		}
		moves = append(moves, mv)
	}
	return moves
}

// newMove returns the move of a span of entry i, as a whole.
func (p *plan) newMove(i int, to string, span shard.Range, objects int) move {
	mv := move{entry: i, to: to, span: span, objects: objects, gains: 1}
	switch whole := p.next.rangeAt(i); {
	case span.First > whole.First:
		mv.more++
	case i > 0 && p.next.Ranges[i-1].nextOwner() == to:
		mv.more--
		mv.gains--
	}
	switch whole := p.next.rangeAt(i); {
	case span.Last < whole.Last:
		mv.more++
	case i+1 < len(p.next.Ranges) && p.next.Ranges[i+1].nextOwner() == to:
		mv.more--
		mv.gains--
	}
	return mv
}

// requestMove writes a move into the table as a request.
func (p *plan) requestMove(mv move) {
	e, all := p.next.Ranges[mv.entry], p.objects(p.next, mv.entry)
	requested := e
	requested.To, requested.Objects = mv.to, mv.objects
	if mv.part {
		requested.Part = mv.objects
		requested.Objects = sumObjects(piecesWithin(p.counted[mv.from], mv.span))
	}
	rest := e
	rest.Objects = max(all-requested.Objects, 0)
	p.next.replacePart(mv.entry, mv.span, requested, rest)
	p.loads[mv.from] -= mv.objects
	p.loads[mv.to] += mv.objects
	p.ranges[mv.from] += mv.more - mv.gains
	p.ranges[mv.to] += mv.gains
	p.requested[mv.from] = true
	p.changed = true
}
