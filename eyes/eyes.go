package eyes

import (
	"fmt"
	"maps"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"time"
	"weak"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/queue"
)

// Eyes looks at the informers and queues that were added: when it is asked, and once a minute while it has
// any. New makes it. All methods are safe for concurrent use.
type Eyes struct {
	options Options
	mu      sync.Mutex
	sources map[string]source
	// repeats is set while there is a timer for the next look that nobody asks for.
	repeats bool
	// owners tell who owns a namespace or a UID.
	owners map[string]func(value string) (identity string, owned bool)
	// lines are the queues that keep what happens to their items.
	lines map[string]lineQueue
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

// source adds what it has to a snapshot. It returns false if it has ended: then it is forgotten.
type source func(s *Snapshot) (goesOn bool)

// Options are those of an Eyes. The zero value is valid.
type Options struct {
	// Keys shows the names of objects: those that errors and findings are about, those that field selectors have
	// for metadata.name, and the whole URLs of requests that failed, in place of those of their collections. All
	// other selectors are always shown. Queues that are added then keep what happens to some of their items, and
	// ?key= shows it. The finding of an item that fails again and again then has its last error, as the program
	// has made it.
	Keys bool
}

// New returns an Eyes that looks at nothing.
func New(o Options) *Eyes {
	return &Eyes{
		options: o, sources: map[string]source{}, owners: map[string]func(string) (string, bool){},
		lines: map[string]lineQueue{},
	}
}

// Statuses has the status of several informers, as Caches of contrib/controller-runtime do.
type Statuses interface{ Statuses() []informer.Status }

// StatusQueue is a queue that has a status: a [queue.Queue] of any type of items, which workqueue.AsQueue
// returns of a queue of runtime/workqueue, or a queue of kwctrl.
type StatusQueue interface{ Status() queue.Status }

// AddFactory looks at all informers of a factory, until all of them have stopped. It replaces what was added
// by that name. It returns an error if the factory isn't one of this module.
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

// AddCaches looks at all informers of caches, until Remove: others may be made at any time. It replaces what
// was added by that name.
func (e *Eyes) AddCaches(name string, c Statuses) {
	e.add(name, func(s *Snapshot) bool {
		s.addInformers(name, c.Statuses())
		return true
	})
}

// AddInformer looks at an informer until it has stopped. It replaces what was added by that name. Of an
// informer that isn't one of this module, only its name and whether it has synced are known.
func (e *Eyes) AddInformer(name string, i cache.SharedInformer) {
	e.add(name, func(s *Snapshot) bool {
		status, _ := informer.StatusOf(i)
		return s.addInformers(name, []informer.Status{status})
	})
}

// AddQueue looks at a queue until it is shut down and empty. It replaces what was added by that name. It
// panics if the queue is nil: workqueue.AsQueue returns nil for client-go's queues, and for a sharding.Queue,
// of which the inner one is to be added.
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
	e.set(name, func(s *Snapshot) bool { return s.addQueue(name, q.Status()) })
	if ok {
		e.lines[name] = keeping
	}
}

// AddMember looks at a member of a sharded controller, as long as look returns that it goes on. why is why it
// may begin no work: it becomes the member's Error. ownerOf returns which member owns a namespace or a UID.
// AddMember replaces what was added by that name. Package shardingeyes calls it.
func (e *Eyes) AddMember(
	name string, look func() (m Member, goesOn bool, why error),
	ownerOf func(value string) (identity string, owned bool),
) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.set(name, func(s *Snapshot) bool {
		m, goesOn, why := look()
		m.Source = name
		m.Error, m.ErrorKey = s.textOf(why)
		s.Members = append(s.Members, m)
		return goesOn
	})
	e.owners[name] = ownerOf
}

// Remove forgets what was added by a name.
func (e *Eyes) Remove(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.forget(name)
}

// forget forgets a source. The caller holds mu.
func (e *Eyes) forget(name string) {
	delete(e.sources, name)
	delete(e.owners, name)
	delete(e.lines, name)
}

// add adds a source in place of that of the same name.
func (e *Eyes) add(name string, s source) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.set(name, s)
}

// set is add for a caller that holds mu.
func (e *Eyes) set(name string, s source) {
	e.forget(name)
	e.sources[name] = s
	e.repeat()
}

// repeat makes Eyes look in a minute, again and again, while there are sources. The caller holds mu. The
// timer doesn't keep an Eyes, and with it all of its sources, that nothing else refers to.
func (e *Eyes) repeat() {
	if e.repeats || len(e.sources) == 0 {
		return
	}
	e.repeats = true
	its := weak.Make(e)
	time.AfterFunc(period, func() {
		if e := its.Value(); e != nil {
			e.lookAlone()
		}
	})
}

// lookAlone is a look that nobody asks for. If a source panics, which must not end the program, it is the
// last.
func (e *Eyes) lookAlone() {
	defer func() {
		if reason := recover(); reason != nil {
			klog.Background().Error(nil, "Eyes look no more by themselves: a source panicked",
				"panic", fmt.Sprintf("%T", reason), "stack", string(debug.Stack()))
		}
	}()
	e.Snapshot()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.repeats = false
	e.repeat()
}

// Snapshot looks. Its Findings compare it with an earlier look, if there was one. The snapshot must not be
// modified: later looks compare with it.
func (e *Eyes) Snapshot() *Snapshot {
	s, _ := e.snapshot()
	return s
}

// snapshot is Snapshot that also returns what finds objects.
func (e *Eyes) snapshot() (*Snapshot, []finder) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := &Snapshot{
		Schema: Schema, Taken: time.Now(), Informers: []Informer{}, Queues: []Queue{}, Members: []Member{},
		keys: e.options.Keys,
	}
	if e.last != nil { // There are probably as many as before.
		s.Informers = make([]Informer, 0, len(e.last.Informers))
		s.Queues = make([]Queue, 0, len(e.last.Queues))
	}
	for _, name := range slices.Sorted(maps.Keys(e.sources)) {
		if !e.sources[name](s) {
			e.forget(name)
		}
	}
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

const (
	// spacing is the least time between two looks that are compared, whoever looks meanwhile.
	spacing = 10 * time.Second
	// period is the time between looks that nobody asks for. Without them, a hang would be as old as the last
	// look before it, which may be that of another day.
	period = time.Minute
)
