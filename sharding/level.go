package sharding

import "github.com/kubewright/kubewright/runtime/shard"

// offer is a part of a member's range that could be given to another.
type offer struct {
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

// level asks members to hand objects over. First those with too many hand over to those with too few or, if
// there are none, to those with fewer than the mean. Then, if a member has too few, any that don't have too
// few hand over to it. Each is asked for one thing at a time. Every move makes the difference between two
// members smaller, so level ends.
func (p *plan) level() {
	for p.next.size() < maxTable/4*3 {
		from := p.heaviest()
		to := p.lightest(func(member string) bool { return p.canTake(member) && !p.stuck[member] })
		needy := to != "" && float64(p.loads[to]) < tooLittle*p.mean
		var best *offer
		switch {
		case from != "" && float64(p.loads[from]) > tooMuch*p.mean:
			limit := p.mean
			if needy {
				limit *= tooLittle
			}
			for _, member := range p.members {
				if p.canTake(member) && float64(p.loads[member]) < limit {
					best = p.better(best, from, member)
				}
			}
			p.stuck[from] = best == nil
		case needy:
			for _, member := range p.members {
				if !p.asked[member] && float64(p.loads[member]) > tooLittle*p.mean {
					best = p.better(best, member, to)
				}
			}
			p.stuck[to] = best == nil
		default:
			return
		}
		if best != nil {
			p.ask(*best)
		}
	}
}

// heaviest returns the member with the most objects that can be asked, "" if there is none.
func (p *plan) heaviest() (found string) {
	for _, member := range p.members {
		if !p.asked[member] && !p.stuck[member] && (found == "" || p.loads[member] > p.loads[found]) {
			found = member
		}
	}
	return found
}

// better returns the best offer of one member to another, or the best one so far if that is better.
func (p *plan) better(best *offer, from, to string) *offer {
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
		for _, o := range p.offers(i, to, want) {
			o.from = from
			if o.objects <= 0 || o.objects > most || p.ranges[to]+o.gains > maxRanges ||
				p.ranges[from]+o.more-o.gains > maxRanges || o.more > 0 && float64(o.objects) < p.mean/32 {
				continue
			}
			o.value = float64(min(o.objects, want, heavy-light-o.objects)) - p.mean/10*float64(o.more)
			if best == nil || o.value > best.value {
				best = &o
			}
		}
	}
	return best
}

// offers returns which parts of entry i could go to a member: all of it, some pieces at its beginning or at
// its end, or one piece or a part of it.
func (p *plan) offers(i int, to string, want int) []offer {
	whole := p.offer(i, to, p.next.rangeAt(i), p.objects(p.next, i))
	pieces := p.pieces(p.next, i)
	if len(pieces) < 2 && (len(pieces) == 0 || pieces[0].Places < 2) {
		return []offer{whole}
	}
	span := func(first, after int) shard.Range {
		if after == len(pieces) {
			return shard.Range{First: pieces[first].First, Last: whole.span.Last}
		}
		return shard.Range{First: pieces[first].First, Last: pieces[after].First - 1}
	}
	offers := []offer{whole}
	head, n := pieces[0].Objects, 1
	for ; n < len(pieces) && head+pieces[n].Objects <= want; n++ {
		head += pieces[n].Objects
	}
	tail, m := pieces[len(pieces)-1].Objects, len(pieces)-1
	for ; m > 0 && tail+pieces[m-1].Objects <= want; m-- {
		tail += pieces[m-1].Objects
	}
	offers = append(offers, p.offer(i, to, span(0, n), head), p.offer(i, to, span(m, len(pieces)), tail))
	for k, c := range pieces {
		o := p.offer(i, to, span(k, k+1), c.Objects)
		if c.Places > 1 && c.Objects > want {
			o.objects, o.part = want, true
			switch adjoins := o.gains < 1; {
			case adjoins:
				o.more, o.gains = 0, 0 // the end that adjoins moves
			case k == 0:
				o.more = 1
			default:
				o.more = 2
			}
		}
		offers = append(offers, o)
	}
	return offers
}

// offer returns the offer of a span of entry i, as a whole.
func (p *plan) offer(i int, to string, span shard.Range, objects int) offer {
	o := offer{entry: i, to: to, span: span, objects: objects, gains: 1}
	switch whole := p.next.rangeAt(i); {
	case span.First > whole.First:
		o.more++
	case i > 0 && p.next.Ranges[i-1].nextOwner() == to:
		o.more--
		o.gains--
	}
	switch whole := p.next.rangeAt(i); {
	case span.Last < whole.Last:
		o.more++
	case i+1 < len(p.next.Ranges) && p.next.Ranges[i+1].nextOwner() == to:
		o.more--
		o.gains--
	}
	return o
}

// ask writes an offer into the table as a request.
func (p *plan) ask(o offer) {
	e, all := p.next.Ranges[o.entry], p.objects(p.next, o.entry)
	asked := e
	asked.To, asked.Objects = o.to, o.objects
	if o.part {
		asked.Part = o.objects
		asked.Objects = sum(within(p.counted[o.from], o.span))
	}
	rest := e
	rest.Objects = max(all-asked.Objects, 0)
	p.next.replacePart(o.entry, o.span, asked, rest)
	p.loads[o.from] -= o.objects
	p.loads[o.to] += o.objects
	p.ranges[o.from] += o.more - o.gains
	p.ranges[o.to] += o.gains
	p.asked[o.from] = true
	p.changed = true
}
