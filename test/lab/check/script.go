package check

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/kubewright/kubewright/test/lab/fault"
)

// Op is one operation. Its effect depends on N and on the state of the world.
type Op struct {
	Do string
	N  uint64
}

// Script is what to play.
type Script struct {
	Ops []Op
	// Faults is the plan of the proxy.
	Faults fault.Plan
	// Wrong means that the faults may be of class Wrong, so that most laws don't hold.
	Wrong bool
}

// everyWrong: one in so many seeds has faults of class Wrong.
const everyWrong = 5

// Generate returns the script of a seed, with that many random operations.
func Generate(seed uint64, length int) Script {
	r := rand.New(rand.NewPCG(seed, 1))
	s := Script{Wrong: seed%everyWrong == everyWrong-1}
	add := func(do string) { s.Ops = append(s.Ops, Op{do, r.Uint64()}) }
	for range r.IntN(3) {
		add("burst")
	}
	for range 1 + r.IntN(4) {
		add("watch")
	}
	all := 0
	for _, row := range operations {
		all += row.weight
	}
	for range length {
		n := r.IntN(all)
		for _, row := range operations {
			if n -= row.weight; n < 0 {
				add(row.do)
				break
			}
		}
	}
	var faults []fault.Fault
	for _, f := range fault.All() {
		if f.Class != fault.Wrong || s.Wrong {
			faults = append(faults, f)
		}
	}
	// Only a few faults each, so that seeds differ. On average every fifth script has none, so that bugs that
	// don't need the proxy show without it.
	r.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
	if n := min(1+r.IntN(8), len(faults)); r.IntN(5) > 0 {
		s.Faults = fault.Random{Seed: seed, Rate: 0.1 + 0.5*r.Float64(), Faults: faults[:n]}
	}
	return s
}

// String returns the script as text for ParseScript. The faults must be a fault.Script.
func (s Script) String() string {
	var b strings.Builder
	if s.Wrong {
		b.WriteString("wrong ")
	}
	for _, op := range s.Ops {
		fmt.Fprintf(&b, "%s:%x ", op.Do, op.N)
	}
	text := strings.TrimSpace(b.String()) + "\n"
	if written, ok := s.Faults.(fault.Script); ok {
		text += written.String()
	}
	return text
}

// ParseScript reads what Script.String returned: the operations on the first line, then the faults.
func ParseScript(text string) (s Script, err error) {
	line, faults, _ := strings.Cut(strings.TrimSpace(text), "\n")
	for _, word := range strings.Fields(line) {
		if word == "wrong" {
			s.Wrong = true
			continue
		}
		do, number, _ := strings.Cut(word, ":")
		n, err := strconv.ParseUint(number, 16, 64)
		if err != nil || doing(do) == nil {
			return s, fmt.Errorf("%q is no operation", word)
		}
		s.Ops = append(s.Ops, Op{do, n})
	}
	s.Faults, err = fault.ParseScript(faults)
	return s, err
}
