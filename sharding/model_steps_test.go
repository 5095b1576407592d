package sharding

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
)

// run does random steps with the group, and checks it when all is quiet again.
func (m *model) run(seed, steps int) {
	most, longest := 2+m.random.IntN(19), 8*time.Second
	if seed%31 == 30 {
		most, steps = 200, steps/10
	}
	m.calm = seed%4 == 0
	if !m.calm {
		m.trouble = []float64{0, .02, .1, .3}[m.random.IntN(4)]
	}
	ctx, cancel := context.WithCancel(context.Background())
	m.join()
	for range most / 2 {
		m.join()
	}
	go m.watch(ctx)
	go m.elections(ctx, rand.New(rand.NewPCG(m.random.Uint64(), 0)))
	m.pass(2 * leaseDuration)
	for range steps {
		if m.calm {
			m.calmStep(most)
		} else {
			m.step(most)
		}
		m.pass(time.Duration(m.random.Int64N(int64(longest))))
	}
	m.settle()
	cancel()
	for _, r := range m.replicas {
		r.leave()
	}
	for _, r := range m.replicas {
		<-r.ended
	}
	bubble.Pass(5 * time.Minute) // requests that are under way end
}

func (m *model) pass(d time.Duration) { bubble.Pass(d + 1) }

// living returns the replicas that run.
func (m *model) living() []*replica {
	return slices.DeleteFunc(slices.Clone(m.replicas), (*replica).isGone)
}

// calmStep lets a member join or go. One crashes only when the ranges of the last one to go must have owners
// again.
func (m *model) calmStep(most int) {
	living := m.living()
	r := living[m.random.IntN(len(living))]
	switch n := m.random.IntN(6); {
	case n < 3 && len(living) < most || len(living) < 2:
		m.join()
	case n == 3:
		m.join()
		m.goes(r, r.leave)
	case n == 4:
		m.goes(r, r.leave)
	case n == 5:
		m.mu.Lock()
		ready := time.Since(m.crashed) > balancerBound
		m.mu.Unlock()
		if ready {
			m.goes(r, r.crash)
		}
	}
}

// goes lets a member go. If it is the balancer, its ranges may be without an owner for longer.
func (m *model) goes(r *replica, how func()) {
	allowance := bound
	if r.isLeading() {
		allowance = balancerBound
	}
	m.mu.Lock()
	if time.Since(m.crashed) > balancerBound {
		m.allowance = 0
	}
	m.allowance = max(m.allowance, allowance)
	m.crashed = time.Now()
	m.mu.Unlock()
	how()
}

// step does one random thing to the group.
func (m *model) step(most int) {
	living := m.living()
	if len(living) == 0 {
		m.join()
		return
	}
	r := living[m.random.IntN(len(living))]
	switch n := m.random.IntN(20); {
	case n < 6 && len(living) < most:
		m.join()
	case n < 8:
		r.crash()
	case n < 10:
		r.leave()
	case n < 13:
		m.freeze(r, time.Duration(m.random.Int64N(int64(40*time.Second))))
	case n < 14:
		m.server.setDown(true)
		m.later(60*time.Second, func() { m.server.setDown(false) })
	case n < 15:
		m.server.remove("bakers")
	case n < 16:
		m.server.remove("bakers-" + r.Identity())
	case n < 17:
		for _, r := range living {
			r.lead(false)
		}
	default:
		r.lead(true)
		m.later(60*time.Second, func() { r.lead(false) })
	}
}

// later calls a function at a random time.
func (m *model) later(longest time.Duration, f func()) {
	time.AfterFunc(time.Duration(m.random.Int64N(int64(longest))), f)
}

func (m *model) freeze(r *replica, d time.Duration) {
	r.connection.freeze()
	time.AfterFunc(d, r.connection.unfreeze)
}

// settle ends all trouble, and checks that in time every object has an owner again and no member has too
// many.
func (m *model) settle() {
	m.server.setDown(false)
	for _, r := range m.living() {
		r.connection.unfreeze()
		r.connection.mu.Lock()
		r.connection.trouble, r.connection.lag = 0, 0
		r.connection.mu.Unlock()
	}
	if len(m.living()) == 0 {
		m.join()
	}
	m.pass(2 * time.Minute) // delayed requests come in, and leaving members have left
	for range 100 {
		m.pass(10 * time.Second)
		if m.level() == "" {
			break
		}
	}
	if wrong := m.level(); wrong != "" {
		m.fail(guarantee.NoneUnowned, "%s", wrong)
	}
}

// level returns what is wrong with the table when all is quiet, "" if nothing is.
func (m *model) level() string {
	t, ok := m.server.table("bakers")
	if !ok {
		return "there is no table"
	}
	living := m.living()
	loads := map[string][][]uint64{}
	for _, r := range living {
		loads[r.Identity()] = nil
	}
	for i, e := range t.Ranges {
		if _, ok := loads[e.Owner]; !ok {
			return t.rangeAt(i).String() + " belongs to " + e.Owner + ", which doesn't run"
		}
		hashes, _ := m.hashes(t.rangeAt(i))
		loads[e.Owner] = append(loads[e.Owner], hashes)
	}
	mean := float64(len(m.objects)) / float64(len(living))
	for member, ranges := range loads {
		if _, heavy := tooHeavy(ranges, mean); heavy {
			return member + " has too many objects"
		}
		if len(ranges) > maxRanges {
			return member + " has too many ranges"
		}
	}
	return ""
}
