package eyes

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/queue"
)

// Eyes looks at the informers and queues that were added: when it is asked, and while it has any, also after
// two minutes without a look. New makes it. All methods are safe for concurrent use.
type Eyes struct {
	options Options

	// mu guards what was added.
	mu      sync.Mutex
	sources map[place]*source
	// waits is set while there is a timer for a look that nobody asks for.
	waits bool
	// members are those of sharded controllers.
	members map[string]member
	// lines are the queues that keep what happens to their items.
	lines map[string]lineQueue

	// looking guards what looks have seen. It is held while sources are called, mu isn't.
	looking sync.Mutex
	// looked is when the last look was.
	looked time.Time
	// last is a look, and before an earlier one, at least [spacing] earlier. Both are nil at first.
	last, before *Snapshot
	// stalled are the queues of the last look that had items ready, by their sources.
	stalled map[string]stall
	// since is since when there were the findings of the last look, by kind, source, subject and range.
	since map[[4]string]time.Time
}

// stall is how many items a queue has handed out, and since which look it has handed out no more.
type stall struct {
	handedOut uint64
	since     time.Time
}

// place is what a source replaces: one of the same kind and name.
type place struct {
	kind kind
	name string
}

// kind is what is added: informers, a queue, or a member. A controller's may all have its name.
type kind int

const (
	ofInformers kind = iota
	ofQueue
	ofMember
)

func (k kind) String() string { return [...]string{"informers", "queue", "member"}[k] }

// source is what was added by a name.
type source struct {
	place
	// look adds what the source has to a snapshot. It returns false if the source has ended: then it is
	// forgotten.
	look func(s *Snapshot) (goesOn bool)
	// panicking is the look since which it panics, zero if it doesn't. The looks' lock guards it.
	panicking time.Time
}

// Options are those of an Eyes. The zero value is valid.
type Options struct {
	// Keys shows the names of objects: those that errors and findings are about, those that field selectors have
	// for metadata.name, and the whole URLs of requests that failed, in place of those of their collections. All
	// other selectors are always shown. Queues that are added then keep what happens to some of their items, and
	// ?key= shows it. The finding of an item that fails again and again then has its last error, as the program
	// has made it.
	Keys bool
}

// New returns an Eyes that looks at nothing. Make it in the bubble in a test of testing/synctest. While it
// has sources, its timer moves the bubble's clock, so a wait for ever isn't reported as a deadlock.
func New(o Options) *Eyes {
	return &Eyes{
		options: o, sources: map[place]*source{}, members: map[string]member{}, lines: map[string]lineQueue{},
	}
}

// Statuses has the status of several informers, as Caches of contrib/controller-runtime do. It must be safe
// for concurrent use.
type Statuses interface{ Statuses() []informer.Status }

// StatusQueue is a queue that has a status: a [queue.Queue] of any type of items, which workqueue.AsQueue
// returns of a queue of runtime/workqueue, or a queue of kwctrl. It must be safe for concurrent use.
type StatusQueue interface{ Status() queue.Status }

// AddFactory looks at all informers of a factory, until all of them have stopped. It replaces informers
// that were added by that name, but no queue or member. It returns an error if the factory isn't one of
// this module.
func (e *Eyes) AddFactory(name string, f factory.Interface) error {
	if _, err := factory.Statuses(f); err != nil {
		return fmt.Errorf("eyes: add %q: %w", name, err)
	}
	e.add(name, func(s *Snapshot) bool {
		statuses, _ := factory.Statuses(f)
		return s.addInformers(name, statuses)
	})
	return nil
}

// AddCaches looks at all informers of caches, until Remove: others may be made at any time. It replaces
// informers that were added by that name.
func (e *Eyes) AddCaches(name string, c Statuses) {
	e.add(name, func(s *Snapshot) bool {
		s.addInformers(name, c.Statuses())
		return true
	})
}

// AddInformer looks at an informer until it has stopped. It replaces informers that were added by that
// name. Of an informer that isn't one of this module, only its name and whether it has synced are known.
func (e *Eyes) AddInformer(name string, i cache.SharedInformer) {
	e.add(name, func(s *Snapshot) bool {
		status, _ := informer.StatusOf(i)
		return s.addInformers(name, []informer.Status{status})
	})
}

// AddQueue looks at a queue until it is shut down and empty. It replaces a queue that was added by that
// name. It panics if the queue is nil: workqueue.AsQueue returns nil for client-go's queues, and for a
// sharding.Queue, of which the inner one is to be added.
func (e *Eyes) AddQueue(name string, q StatusQueue) {
	if v := reflect.ValueOf(q); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		panic("eyes: AddQueue of " + name + " needs a queue, got nil; workqueue.AsQueue returns nil for the " +
			"queues of other packages, and needs the inner queue of a sharding.Queue")
	}
	keeping, ok := q.(lineQueue)
	if ok = ok && e.options.Keys; ok {
		keeping.Keep()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.set(place{ofQueue, name}, func(s *Snapshot) bool { return s.addQueue(name, q.Status()) })
	if ok {
		e.lines[name] = keeping
	}
}

// AddMember looks at a member of a sharded controller, as long as look returns that it goes on. why is why
// it may begin no work: it becomes the member's Error. ownerOf returns which member owns a namespace or a
// UID. Both must be safe for concurrent use. AddMember replaces a member that was added by that name.
// Package shardingeyes calls it.
func (e *Eyes) AddMember(
	name string, look func() (m Member, goesOn bool, why error),
	ownerOf func(value string) (identity string, owned bool),
) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.set(place{ofMember, name}, func(s *Snapshot) bool {
		m, goesOn, why := look()
		m.Source = name
		m.Error, m.ErrorKey = s.textOf(why)
		s.Members = append(s.Members, m)
		return goesOn
	})
	e.members[name] = member{look, ownerOf}
}

// Remove forgets what was added by a name. A look that is under way may still call it, and show it.
func (e *Eyes) Remove(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, k := range []kind{ofInformers, ofQueue, ofMember} {
		e.forget(place{k, name})
	}
}

// forget forgets a source. The caller holds mu.
func (e *Eyes) forget(p place) {
	delete(e.sources, p)
	switch p.kind {
	case ofQueue:
		delete(e.lines, p.name)
	case ofMember:
		delete(e.members, p.name)
	}
}

// end forgets a source, unless another one has its name by now.
func (e *Eyes) end(s *source) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.sources[s.place] == s {
		e.forget(s.place)
	}
}

// add adds informers in place of those of the same name.
func (e *Eyes) add(name string, look func(*Snapshot) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.set(place{ofInformers, name}, look)
}

// set adds a source in its place. The caller holds mu.
func (e *Eyes) set(p place, look func(*Snapshot) bool) {
	e.forget(p)
	e.sources[p] = &source{place: p, look: look}
	e.wait(alone)
}

// Snapshot looks. Its Findings compare it with an earlier look, if there was one. The snapshot must not be
// modified: later looks compare with it.
func (e *Eyes) Snapshot() *Snapshot {
	s, _ := e.snapshot(true)
	return s
}

// snapshot is Snapshot that also returns what finds objects. asked is false if nobody asks for the look.
func (e *Eyes) snapshot(asked bool) (*Snapshot, []finder) {
	e.looking.Lock()
	defer e.looking.Unlock()
	e.mu.Lock()
	sources := slices.AppendSeq(make([]*source, 0, len(e.sources)), maps.Values(e.sources))
	e.mu.Unlock()
	slices.SortFunc(sources, func(a, b *source) int {
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind))
	})
	s := &Snapshot{
		Schema: Schema, Taken: time.Now(), Informers: []Informer{}, Queues: []Queue{}, Members: []Member{},
		keys: e.options.Keys, asked: asked,
	}
	if e.last != nil { // There are probably as many as before.
		s.Informers = make([]Informer, 0, len(e.last.Informers))
		s.Queues = make([]Queue, 0, len(e.last.Queues))
	}
	for _, source := range sources {
		if !source.lookAt(s) {
			e.end(source)
		}
	}
	e.looked = s.Taken
	e.noteStalled(s)
	switch {
	case e.last == nil:
		e.last = s
	case s.Taken.Sub(e.last.Taken) >= spacing:
		e.before, e.last = e.last, s
	}
	if e.before != nil {
		s.Compared = e.before.Taken
	}
	s.Findings = Findings(e.before, s)
	e.keepSince(s)
	finds := s.finds
	s.finds = nil
	return s, finds
}

// keepSince gives findings that need two looks, and that the look before had too, the time of the first one.
func (e *Eyes) keepSince(s *Snapshot) {
	since := map[[4]string]time.Time{}
	for n := range s.Findings {
		f := &s.Findings[n]
		key := [4]string{f.Kind, f.Source, f.Subject, f.span}
		if first, ok := e.since[key]; ok && f.Since.Equal(s.Compared) {
			f.Since = first
		}
		since[key] = f.Since
	}
	e.since = since
}

// noteStalled notes since when queues hand out nothing.
func (e *Eyes) noteStalled(s *Snapshot) {
	stalled := map[string]stall{}
	for n := range s.Queues {
		q := &s.Queues[n]
		if q.Ready == 0 {
			continue
		}
		q.StalledSince = s.Taken
		if was, ok := e.stalled[q.Source]; ok && was.handedOut == q.HandedOut {
			q.StalledSince = was.since
		}
		stalled[q.Source] = stall{q.HandedOut, q.StalledSince}
	}
	e.stalled = stalled
}

// spacing is the least time between two looks that are compared, whoever looks meanwhile.
const spacing = 10 * time.Second
