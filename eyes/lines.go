package eyes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/queue"
)

// keyLine is what is known of a key: what each queue has of it, and the objects of that name.
type keyLine struct {
	Schema int         `json:"schema"`
	Taken  time.Time   `json:"taken"`
	Key    string      `json:"key"`
	Queues []queueLine `json:"queues"`
	// Objects are what informers have of that name now. They need not be what the steps are about.
	Objects []namedObject `json:"objects"`
	// Unsynced are the informers that may lack it.
	Unsynced []string `json:"unsynced"`
	// Findings are those of the program. What fails before a queue keeps keys away from it.
	Findings []Finding `json:"findings"`
	// compared is the look that was compared.
	compared time.Time
}

// queueLine is what a queue has of a key, see [queue.Queue.Line].
type queueLine struct {
	Source  string     `json:"source"`
	Pending string     `json:"pending"`
	Steps   []lineStep `json:"steps"`
}

type lineStep struct {
	Time time.Time `json:"time"`
	What string    `json:"what"`
}

type namedObject struct {
	Source   string `json:"source"`
	Informer string `json:"informer"`
	Version  string `json:"resourceVersion"`
}

// lineQueue is a StatusQueue that keeps what happens to its items.
type lineQueue interface {
	Keep()
	Line(key string) (pending string, steps []queue.Step)
}

// lineOf returns what is known of a key.
func (e *Eyes) lineOf(key string) keyLine {
	s, finds := e.snapshot(true)
	l := keyLine{Schema: Schema, Taken: s.Taken, Key: key, Queues: []queueLine{}, Objects: named(finds, key),
		Unsynced: []string{}, Findings: s.Findings, compared: s.Compared}
	for n := range s.Informers {
		if i := &s.Informers[n]; !i.Synced {
			l.Unsynced = append(l.Unsynced, i.Name)
		}
	}
	e.mu.Lock()
	queues := maps.Clone(e.lines)
	e.mu.Unlock()
	for _, source := range slices.Sorted(maps.Keys(queues)) {
		q := queueLine{Source: source, Steps: []lineStep{}}
		var steps []queue.Step
		q.Pending, steps = queues[source].Line(key)
		for _, step := range steps {
			q.Steps = append(q.Steps, lineStep{l.Taken.Add(-step.Ago), step.What})
		}
		l.Queues = append(l.Queues, q)
	}
	return l
}

// named returns what the informers have of a name.
func named(finds []finder, key string) []namedObject {
	objects := []namedObject{}
	for _, i := range finds {
		if obj, ok := i.find(key); ok {
			named := namedObject{Source: i.source, Informer: i.informer}
			if object, ok := obj.(metav1.Object); ok {
				named.Version = object.GetResourceVersion()
			}
			objects = append(objects, named)
		}
	}
	return objects
}

// String returns the line as text.
func (l keyLine) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "looked at %s\n\n", l.Taken.Format(time.RFC3339))
	if len(l.Queues) == 0 {
		b.WriteString("no queue was added that keeps what happens to its items\n")
	}
	for _, q := range l.Queues {
		b.WriteString(q.state(l.Key, l.Unsynced) + "\n")
		for _, step := range q.Steps {
			fmt.Fprintf(&b, "  %s  %s\n", step.Time.Format(time.RFC3339), clean(step.What))
		}
		if len(q.Steps) == 0 {
			b.WriteString("  nothing has happened to it since it was first asked for, which is when its steps begin\n")
		}
	}
	b.WriteString("\nobjects of that name that informers have now:\n")
	if len(l.Objects) == 0 {
		b.WriteString("  none\n")
	}
	for _, o := range l.Objects {
		fmt.Fprintf(&b, "  %s of %q, version %s\n", clean(o.Informer), o.Source,
			clean(cmp.Or(o.Version, "unknown")))
	}
	if len(l.Findings) > 0 {
		b.WriteString("\nwhat doesn't work in this program, which may be why:\n")
	}
	for _, f := range l.Findings {
		fmt.Fprintf(&b, "  %s\n", clean(f.String()))
	}
	return b.String()
}

// state says what the key waits for, or, if it isn't in the queue, which informers haven't synced.
func (q *queueLine) state(key string, unsynced []string) string {
	key, source := clean(key), clean(q.Source)
	switch {
	case q.Pending != "not added":
		return fmt.Sprintf("%s in queue %s: pending because it is %s", key, source, clean(q.Pending))
	case len(unsynced) > 0:
		return fmt.Sprintf("%s is not in queue %s, and these informers haven't synced: %s", key, source,
			clean(strings.Join(unsynced, ", ")))
	}
	return fmt.Sprintf("%s is not in queue %s: nothing has added it, or not since its last run", key, source)
}
