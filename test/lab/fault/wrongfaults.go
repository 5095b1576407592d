package fault

import (
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// wrongFaults break the contract by answers that can be decoded.
func wrongFaults() []Fault {
	return []Fault{
		{Name: "duplicate-events", Class: Wrong, On: Watches, After: fewEvents, do: edits(duplicateEvents),
			Guarantee: guarantee.Told, About: "each event comes twice"},
		{Name: "repeated-events", Class: Wrong, On: Watches, After: fewEvents, do: edits(repeatedEvents),
			Guarantee: guarantee.Told, About: "the last eight events come again, in order"},
		{Name: "older-events", Class: Wrong, On: Watches, After: fewEvents, do: edits(olderEvents),
			Guarantee: guarantee.Told,
			About:     "after an event, an older state of its object comes again as MODIFIED"},
		{Name: "lost-event", Class: Wrong, Unseen: true, On: Watches, After: fewEvents, do: editsOne(lostEvent),
			Guarantee: guarantee.Converging, About: "an event doesn't come"},
		{Name: "swapped-events", Class: Wrong, On: Watches, After: fewEvents, do: edits(swappedEvents),
			Guarantee: guarantee.Told, About: "two events come in the wrong order"},
		{Name: "stale-list", Class: Wrong, On: List | WatchList, do: stale,
			Guarantee: guarantee.Told,
			About:     "the list is that of an earlier request, as from a cache that is behind"},
	}
}

func duplicateEvents(*exchange, format) func(event, bool) ([]byte, error) {
	return func(e event, due bool) ([]byte, error) {
		if due && e.isChange() {
			return append(e.wire, e.wire...), nil
		}
		return e.wire, nil
	}
}

// repeated is how many events come again.
const repeated = 8

func repeatedEvents(*exchange, format) func(event, bool) ([]byte, error) {
	var last []event
	over := false
	return func(e event, due bool) ([]byte, error) {
		if !e.isChange() || over {
			return e.wire, nil
		}
		last = append(last[max(0, len(last)-repeated+1):], e)
		if !due || len(last) < 2 {
			return e.wire, nil
		}
		over = true
		wire := append([]byte(nil), e.wire...)
		for _, e := range last {
			wire = append(wire, e.wire...)
		}
		return wire, nil
	}
}

func olderEvents(_ *exchange, f format) func(event, bool) ([]byte, error) {
	first := map[string]event{} // by namespace and name
	over := false
	return func(e event, due bool) ([]byte, error) {
		if !e.isChange() || over {
			return e.wire, nil
		}
		meta := e.meta()
		name := meta.Namespace + "/" + meta.Name
		older, known := first[name]
		if !known {
			first[name] = e
		}
		if !due || !known {
			return e.wire, nil
		}
		over = true
		_, object := older.parse()
		return append(e.wire, f.make(string(watch.Modified), object).wire...), nil
	}
}

func lostEvent(_ *exchange, e event) (bool, []byte, error) { return e.isChange(), nil, nil }

func swappedEvents(*exchange, format) func(event, bool) ([]byte, error) {
	var kept []byte
	over := false
	return func(e event, due bool) ([]byte, error) {
		switch {
		case kept != nil:
			wire := append(e.wire, kept...)
			kept, over = nil, true
			return wire, nil
		case due && !over && e.isChange():
			kept = e.wire
			return nil, nil
		}
		return e.wire, nil
	}
}
