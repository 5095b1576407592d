package fault

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Step is one fault that happens to the requests that match.
type Step struct {
	Request `json:"request"`
	Fault   string `json:"fault"`
	// After is what passes before the fault happens: a number of events of a watch, or of bytes of a list,
	// modulo its length. For is how long the fault lasts. Faults without these parameters ignore them.
	After int           `json:"after,omitempty"`
	For   time.Duration `json:"for,omitempty"`
}

// String describes the step in one line.
func (s Step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %s", s.Request, s.Fault)
	if s.After != 0 {
		fmt.Fprintf(&b, ", after %d", s.After)
	}
	if s.For != 0 {
		fmt.Fprintf(&b, ", for %v", s.For)
	}
	return b.String()
}

// Plan decides which fault a request meets with: [Script] or [Random]. A plan has no state: its decision
// depends only on the request.
type Plan interface {
	// decide returns the step for a request, false for none. The request has all its fields set.
	decide(Request) (Step, bool)
	// mentions reports whether the plan may decide on the fault of that name.
	mentions(fault string) bool
}

// Script is a plan that lists its steps. Of several steps that match a request, the first counts. A step
// whose Nth is zero happens to each request that matches.
type Script []Step

func (s Script) decide(r Request) (Step, bool) {
	for _, step := range s {
		if step.matches(r) && ByName(step.Fault).On&r.Kind != 0 {
			step.Request = r
			return step, true
		}
	}
	return Step{}, false
}

func (s Script) mentions(fault string) bool {
	return slices.ContainsFunc(s, func(step Step) bool { return step.Fault == fault })
}

// String returns the steps as JSON, one a line, which [ParseScript] reads.
func (s Script) String() string {
	var b strings.Builder
	for _, step := range s {
		line, err := json.Marshal(step)
		if err != nil {
			panic(err)
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// ParseScript reads what Script.String returned.
func ParseScript(text string) (Script, error) {
	var s Script
	for i, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var step Step
		if err := json.Unmarshal([]byte(line), &step); err != nil {
			return nil, fmt.Errorf("line %d of the script: %w", i+1, err)
		}
		s = append(s, step)
	}
	return s, nil
}

// Random is a plan that draws faults. The same request of the same seed always meets with the same fault.
type Random struct {
	Seed uint64
	// Rate is the share of requests, from 0 to 1, that meet with a fault.
	Rate float64
	// Faults is the set to draw from; nil means All.
	Faults []Fault
	// Longest bounds the time of a step. Zero sets no bound.
	Longest time.Duration
}

func (p Random) decide(request Request) (Step, bool) {
	if request.Kind == Other {
		return Step{}, false
	}
	hash := fnv.New64a()
	hash.Write([]byte(request.String()))
	r := rand.New(rand.NewPCG(p.Seed, hash.Sum64()))
	if r.Float64() >= p.Rate {
		return Step{}, false
	}
	var possible []Fault
	for _, f := range p.faults() {
		if f.On&request.Kind != 0 {
			possible = append(possible, f)
		}
	}
	if len(possible) == 0 {
		return Step{}, false
	}
	step := possible[r.IntN(len(possible))].Draw(r, request)
	if p.Longest > 0 {
		step.For = min(step.For, p.Longest)
	}
	return step, true
}

func (p Random) faults() []Fault {
	if p.Faults == nil {
		return rows()
	}
	return p.Faults
}

func (p Random) mentions(fault string) bool {
	return slices.ContainsFunc(p.faults(), func(f Fault) bool { return f.Name == fault })
}
