package reflector

import (
	"strings"
	"testing"
)

var scenarios = []struct {
	state string
	table []scenario
}{{"listing", listings}, {"watching", watchings}, {"streaming", streamings}}

func eachScenario(t *testing.T, f func(*testing.T, scenario)) {
	for _, group := range scenarios {
		for _, s := range group.table {
			t.Run(group.state+"/"+strings.ReplaceAll(s.name, " ", "-"), func(t *testing.T) { f(t, s) })
		}
	}
}

func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// Each transition leads where it should.
func TestTransitions(t *testing.T) {
	eachScenario(t, func(t *testing.T, s scenario) {
		if got := joined(s.play(t, ours)); got != s.want {
			t.Errorf("got:\n%s\nwant:\n%s", got, s.want)
		}
	})
}

// A server and a store can't tell our reflector from client-go's, where the
// scenario doesn't say so.
func TestLikeClientGo(t *testing.T) {
	eachScenario(t, func(t *testing.T, s scenario) {
		got := joined(s.play(t, upstream))
		if same := got == s.want; same != (s.differs == "") {
			t.Errorf("client-go differs: %q; its transcript:\n%s\nours:\n%s", s.differs, got, s.want)
		}
	})
}
