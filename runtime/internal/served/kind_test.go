package served

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var seeds = flag.Uint64("model.seeds", 3000, "how many random histories TestModel has")

// world is a server with two replicas, one of which lags, and a driver that asks what a [Kind] wants to ask.
type world struct {
	t      *testing.T
	random *rand.Rand
	now    time.Time
	kind   *Kind
	log    strings.Builder

	// serves is whether the kind is served, changed when that changed last. aggregated kinds have no
	// definition.
	serves, aggregated bool
	changed            time.Time
	lag                time.Duration
	// faults makes answers wrong: lone 404s, errors, partial discoveries.
	faults bool
	// watched is unset if the watch is forbidden.
	watched bool

	// What the oracle has seen: a definition that was deleted and not defined since, the last GET without the
	// kind after that, and the end of the first complete discovery without the kind since the kind was last
	// seen.
	present, deleted bool
	agreed           bool
	lacked           time.Time
	// complete is set while a complete discovery without the kind is told.
	complete         bool
	gets, discovered int
}

func (w *world) logf(format string, args ...any) {
	fmt.Fprintf(&w.log, "%8.3f %s\n", w.now.Sub(time.Unix(0, 0)).Seconds(), fmt.Sprintf(format, args...))
}

// answer is what a random replica says.
func (w *world) answer() Answer {
	serves := w.serves
	if w.now.Sub(w.changed) < w.lag && w.random.IntN(2) == 0 {
		serves = !serves
	}
	if w.faults {
		switch w.random.IntN(4) {
		case 0:
			return Unclear
		case 1:
			serves = w.random.IntN(2) == 0
		}
	}
	if serves {
		return Serves
	}
	return Lacks
}

// define shows a definition to the kind.
func (w *world) define(d Definition) {
	w.logf("definition %d", d)
	switch d {
	case Present:
		w.present, w.deleted, w.agreed = true, false, false
	case Missing:
		if w.present {
			w.deleted, w.agreed = true, false
		}
		w.present = false
	}
	w.step(func() { w.kind.Defined(w.now, d) })
}

// step calls the kind, and checks that it becomes absent only for a reason.
func (w *world) step(call func()) {
	before, _, _ := w.kind.State()
	call()
	after, since, served := w.kind.State()
	if before == after {
		return
	}
	w.logf("state %d -> %d", before, after)
	if !since.Equal(w.now) {
		w.t.Fatalf("the state is since %v, it is %v\n%s", since, w.now, &w.log)
	}
	if served && after != Open {
		w.t.Fatalf("served in state %d\n%s", after, &w.log)
	}
	if after == Unknown {
		w.t.Fatalf("known, then unknown\n%s", &w.log)
	}
	if after == Absent {
		byWatch := !w.complete && w.agreed && (w.deleted || before == Unknown && w.watched && !w.present)
		if !byWatch && !w.twice() {
			w.t.Fatalf("absent without a reason\n%s", &w.log)
		}
		w.deleted, w.lacked = false, time.Time{}
	}
}

// twice reports whether two complete discoveries didn't serve the kind.
func (w *world) twice() bool {
	return w.complete && !w.lacked.IsZero() && w.now.Sub(w.lacked) >= 10*time.Second
}

// ask sends what the kind wants to send now. It returns when to ask again, zero if never.
func (w *world) ask() time.Time {
	for range 100 {
		get, discover := w.kind.Next()
		switch {
		case !get.IsZero() && !get.After(w.now):
			w.gets++
			w.kind.Sent()
			a := w.answer()
			w.logf("GET %d", a)
			if a == Serves {
				w.lacked = time.Time{}
			}
			w.agreed = a == Lacks
			w.step(func() { w.kind.Got(w.now, a) })
		case !discover.IsZero() && !discover.After(w.now):
			w.discovered++
			a, whole := w.answer(), !w.faults || w.random.IntN(2) == 0
			w.logf("discovery %d whole %v", a, whole)
			if a == Serves {
				w.lacked = time.Time{}
			}
			state, _, _ := w.kind.State()
			w.complete = a == Lacks && (whole || state == Unknown)
			w.step(func() { w.kind.Discovered(w.now, w.now, a, whole) })
			if w.complete && w.lacked.IsZero() {
				w.lacked = w.now
			}
			w.complete = false
		case get.IsZero() || !discover.IsZero() && discover.Before(get):
			return discover
		default:
			return get
		}
	}
	w.t.Fatalf("100 requests at one time\n%s", &w.log)
	return time.Time{}
}

// advance lets time pass.
func (w *world) advance(d time.Duration) {
	for end := w.now.Add(d); ; {
		next := w.ask()
		if next.IsZero() || next.After(end) {
			w.now = end
			return
		}
		w.now = next
	}
}

func (w *world) change(serves bool) {
	if w.serves == serves {
		return
	}
	w.logf("served: %v", serves)
	w.serves, w.changed = serves, w.now
	w.lag = time.Duration(w.random.Int64N(int64(4 * time.Second)))
	if w.watched && !w.aggregated {
		w.define(map[bool]Definition{true: Present, false: Missing}[serves])
	}
}

// TestModel runs random histories of a server with replicas that lag, faulty answers, deletions and
// installations. A kind becomes absent only for the reasons that the documentation of the package states.
// Once the faults end, it becomes what it is at the server, and nothing is asked that isn't needed.
func TestModel(t *testing.T) {
	n := *seeds
	if testing.Short() {
		n /= 10
	}
	emptied := 0
	for seed := range n {
		random := rand.New(rand.NewPCG(seed, 0))
		w := &world{t: t, random: random, now: time.Unix(0, 0)}
		w.aggregated, w.watched = random.IntN(3) == 0, random.IntN(3) > 0
		w.serves, w.faults = random.IntN(2) == 0, random.IntN(2) == 0
		w.changed = w.now.Add(-time.Hour)
		w.kind = NewKind(w.now, Unlisted)
		if random.IntN(2) == 0 {
			w.advance(time.Duration(random.Int64N(int64(8 * time.Second))))
		}
		switch {
		case !w.watched:
			w.define(Unwatched)
		case w.serves && !w.aggregated:
			w.define(Present)
		default:
			w.define(Missing)
		}
		for range 20 {
			switch random.IntN(5) {
			case 0:
				w.change(!w.serves)
			case 1:
				w.logf("an informer gets 404")
				w.step(func() { w.kind.Missed(w.now) })
			case 2:
				w.faults = !w.faults
			case 3:
				if w.watched && w.serves && !w.aggregated {
					w.define(Present) // Something else of the definition has changed.
				}
			}
			w.advance(time.Duration(random.Int64N(int64(20 * time.Second))))
			if state, _, _ := w.kind.State(); state == Absent && !w.serves {
				emptied++
			}
		}
		w.faults = false
		w.settle()
	}
	if emptied < int(n) {
		t.Errorf("a kind was absent %d times in %d histories", emptied, n)
	}
}

// settle lets time pass without faults, in which an informer retries, and checks what the kind has become.
func (w *world) settle() {
	for range 12 {
		if state, _, _ := w.kind.State(); !w.serves && state == Open {
			w.step(func() { w.kind.Missed(w.now) })
		}
		w.advance(10 * time.Second)
	}
	state, _, served := w.kind.State()
	if state != map[bool]State{true: Open, false: Absent}[w.serves] || served != w.serves {
		w.t.Fatalf("served is %v, the state %d\n%s", w.serves, state, &w.log)
	}
	w.gets, w.discovered = 0, 0
	w.advance(10 * period)
	discoveries := 0
	if !w.serves {
		discoveries = 10
	}
	if w.gets != 0 || w.discovered != discoveries {
		w.t.Fatalf("%d times GET and %d discoveries in %v while nothing happens\n%s",
			w.gets, w.discovered, 10*period, &w.log)
	}
}

// TestRules checks single rules that the model reaches by chance only.
func TestRules(t *testing.T) {
	start := time.Unix(0, 0)
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	opened := func() *Kind {
		k := NewKind(start, Present)
		k.Sent()
		k.Got(start, Serves)
		return k
	}
	tests := []struct {
		name  string
		do    func() *Kind
		state State
	}{
		{"a lone 404 after a change of the definition", func() *Kind {
			k := opened()
			k.Defined(at(1), Present)
			k.Got(at(1), Lacks)
			return k
		}, Open},
		{"a definition that was deleted, and one 404", func() *Kind {
			k := opened()
			k.Defined(at(1), Missing)
			k.Got(at(1), Lacks)
			return k
		}, Absent},
		{"a definition that was deleted, and a backend that is down", func() *Kind {
			k := opened()
			k.Defined(at(1), Missing)
			k.Got(at(1), Unclear)
			return k
		}, Open},
		{"deleted and reinstalled before the answer", func() *Kind {
			k := opened()
			k.Defined(at(1), Missing)
			k.Defined(at(1), Present)
			k.Got(at(1), Lacks)
			return k
		}, Open},
		{"a kind without a definition, and one 404", func() *Kind {
			k := NewKind(start, Missing)
			k.Got(start, Serves)
			k.Missed(at(60))
			k.Got(at(60), Lacks)
			return k
		}, Open},
		{"a definition that was deleted, of a kind that stays served, and one 404", func() *Kind {
			k := opened()
			k.Defined(at(1), Missing)
			for get, _ := k.Next(); !get.IsZero(); get, _ = k.Next() {
				k.Sent()
				k.Got(get, Serves)
			}
			k.Missed(at(60))
			k.Got(at(60), Lacks)
			return k
		}, Open},
		{"two discoveries that are too close", func() *Kind {
			k := opened()
			k.Missed(at(60))
			k.Got(at(60), Lacks)
			k.Discovered(at(60), at(62), Lacks, true)
			k.Discovered(at(71), at(75), Lacks, true)
			return k
		}, Open},
		{"two discoveries", func() *Kind {
			k := opened()
			k.Missed(at(60))
			k.Got(at(60), Lacks)
			k.Discovered(at(60), at(62), Lacks, true)
			k.Discovered(at(72), at(75), Lacks, true)
			return k
		}, Absent},
		{"two discoveries, one of which is partial", func() *Kind {
			k := opened()
			k.Missed(at(60))
			k.Got(at(60), Lacks)
			k.Discovered(at(60), at(60), Lacks, true)
			k.Discovered(at(70), at(70), Lacks, false)
			return k
		}, Open},
		{"two discoveries, and an answer between them", func() *Kind {
			k := opened()
			k.Missed(at(60))
			k.Got(at(60), Lacks)
			k.Discovered(at(60), at(60), Lacks, true)
			k.Got(at(61), Serves)
			k.Missed(at(62))
			k.Got(at(62), Lacks)
			k.Discovered(at(70), at(70), Lacks, true)
			return k
		}, Open},
		{"discoveries of which a replica knows nothing, of a kind that nobody misses", func() *Kind {
			k := opened()
			k.Discovered(at(60), at(60), Lacks, true)
			k.Discovered(at(90), at(90), Lacks, true)
			return k
		}, Open},
		{"not defined at the start, and 404", func() *Kind {
			k := NewKind(start, Unlisted)
			k.Got(start, Lacks)
			k.Defined(at(1), Missing)
			return k
		}, Absent},
		{"the watch is forbidden at the start, and 404", func() *Kind {
			k := NewKind(start, Unlisted)
			k.Got(start, Lacks)
			k.Defined(at(1), Unwatched)
			return k
		}, Unknown},
		{"a backend that is down at the start", func() *Kind {
			k := NewKind(start, Unlisted)
			k.Got(start, Unclear)
			k.Defined(at(1), Missing)
			return k
		}, Open},
	}
	for _, test := range tests {
		if state, _, _ := test.do().State(); state != test.state {
			t.Errorf("%s: state %d, want %d", test.name, state, test.state)
		}
	}
}
