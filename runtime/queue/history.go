package queue

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Step is something that happened to an item, see [Queue.Line].
type Step struct {
	// Ago is how long ago it happened.
	Ago time.Duration
	// What is a word such as added or started, with what more there is to say.
	What string
}

// The limits of what is kept: 256 lines of 16 steps, whose texts are up to 1,200 bytes together with the last
// error and the first one, are 500 KB.
const (
	mostLines    = 256
	mostTroubled = 128
	mostSteps    = 16
	mostText     = 1200
	mostOfStep   = 300
	// askedFor is how long a line is kept after somebody asked for it.
	askedFor = 10 * time.Minute
	// slowRun is how long an item has to be in process to count as slow.
	slowRun = 10 * time.Second
)

// history has what happened to some items: to those that somebody asked for, and to those whose last run
// failed or was slow. It is guarded by the queue's lock, and nil until Keep.
type history[T comparable] struct{ lines map[T]*line }

// line is what happened to an item, in order.
type line struct {
	steps []step
	text  int
	// asked is when somebody last asked for it, 0 if nobody has. troubled is set if the last run failed or was
	// slow.
	asked    int64
	troubled bool
	// lastError is that of NoteError since the item has last succeeded. failing is when it began to fail after
	// that, and the first error. late is set if it may have begun earlier.
	lastError string
	failing   step
	late      bool
}

type step struct {
	at   int64
	what string
}

// Keep makes the queue remember what happens to items, for Line. It has no effect on a queue that does so.
func (q *Queue[T]) Keep() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.history.Load() == nil {
		q.history.Store(&history[T]{lines: map[T]*line{}})
	}
}

// Line returns what an item waits for, and what happened to it: its last 16 steps since somebody first
// asked for it, or since it first failed, or took 10 s in a queue with metrics. Before them is when it
// began to fail, and the first error, if that was earlier. What was asked for is kept for ten minutes,
// beside that what happened to 128 items whose last run failed or was slow: each queue keeps up to 256
// lines. The key is the item's text, or NAMESPACE/NAME or NAME of an item that consists of these. Without
// Keep there are no steps. Line looks at all ready items to tell how many come before one, which it can't
// with Config.Order.
func (q *Queue[T]) Line(key string) (pending string, steps []Step) {
	item, ok := itemOf[T](key)
	if !ok {
		if item, ok = q.itemNamed(key); !ok {
			return notAdded, nil
		}
	}
	why := ""
	if q.gate != nil && q.gate.why != nil {
		why = q.gate.why(item)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if pending = q.pending(item); pending == parked && why != "" {
		pending += " until " + why
	}
	h := q.history.Load()
	if h == nil {
		return pending, nil
	}
	now := q.base.now()
	l := q.keep(h, item, now)
	l.asked = max(now, 1)
	if len(l.steps) > 0 && l.failing.what != "" && l.failing.at < l.steps[0].at {
		steps = append(steps, Step{time.Duration(now - l.failing.at), l.failing.what})
	}
	for _, s := range l.steps {
		steps = append(steps, Step{time.Duration(now - s.at), s.what})
	}
	return pending, steps
}

// What a line can be pending for.
const (
	notAdded = "not added"
	parked   = "parked"
)

// pending says what an item waits for.
func (q *Queue[T]) pending(item T) string {
	id := q.table.find(item)
	if id == 0 {
		return notAdded
	}
	state, now := q.table.at(id).state, q.base.now()
	switch {
	case state&inProcess != 0:
		text := "in process"
		if q.metrics != nil {
			text += " for " + rounded(now-q.metrics.at(id).started)
		}
		if state&again != 0 {
			text += ", and added again"
		}
		return text
	case state&isParked != 0:
		return parked
	case state&isReady == 0 && q.delays.has(id):
		return "delayed for " + rounded(q.delays.due(id)-now)
	case state&isReady == 0: // after a panic of a function of the Config
		return notAdded
	}
	text := fmt.Sprintf("one of %d that are ready", q.ready.len())
	if n := q.ready.before(id); n >= 0 {
		text = fmt.Sprintf("ready, with %d before it", n)
	}
	if q.inProcess == 0 && len(q.waiters.parked) == 0 {
		return text + ", and no worker takes any"
	}
	return text + fmt.Sprintf(", and %d in process", q.inProcess)
}

func rounded(ns int64) string { return time.Duration(ns).Round(time.Millisecond).String() }

// itemOf returns the item with that key if it is a string, or a struct of a namespace and a name.
func itemOf[T comparable](key string) (item T, ok bool) {
	v := reflect.ValueOf(&item).Elem()
	for v.Kind() == reflect.Struct && v.NumField() == 1 && v.Type().Field(0).IsExported() {
		v = v.Field(0) // as that of controller-runtime's requests
	}
	switch {
	case v.Kind() == reflect.String:
		v.SetString(key)
		return item, true
	case v.Kind() != reflect.Struct || v.NumField() != 2:
		return item, false
	}
	var fields [2]reflect.Value
	for n, field := range []string{"Namespace", "Name"} {
		// Not one of an embedded struct: then another field is a part of the key, too.
		f, found := v.Type().FieldByName(field)
		if !found || len(f.Index) != 1 || f.Type.Kind() != reflect.String {
			return item, false
		}
		fields[n] = v.FieldByIndex(f.Index)
	}
	before, after, found := strings.Cut(key, "/")
	if !found {
		before, after = "", key
	}
	fields[0].SetString(before)
	fields[1].SetString(after)
	return item, true
}

// itemNamed looks for an item by its text.
func (q *Queue[T]) itemNamed(key string) (item T, ok bool) {
	q.mu.Lock()
	items := slices.AppendSeq(make([]T, 0, len(q.table.ids)), maps.Keys(q.table.ids))
	if h := q.history.Load(); h != nil {
		items = slices.AppendSeq(items, maps.Keys(h.lines))
	}
	q.mu.Unlock() // The items' own methods are called without it.
	for _, item := range items {
		if fmt.Sprint(item) == key {
			return item, true
		}
	}
	return item, false
}

// Kept reports whether steps of an item are kept, so that it is worth while to describe one for Note.
func (q *Queue[T]) Kept(item T) bool {
	h := q.history.Load()
	if h == nil {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return h.lines[item] != nil
}

// Note notes a step of an item, if its steps are kept. Whoever adds and processes items calls it with what
// the queue doesn't know, such as the reason or the error.
func (q *Queue[T]) Note(item T, what string) {
	h := q.history.Load()
	if h == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := h.lines[item]; l != nil {
		l.add(q.base.now(), what)
	}
}

// NoteError notes the error with which the processing of an item has ended, if the queue keeps steps. Of an
// item that fails again and again, Status has the last one. Texts of more than 300 bytes are cut.
// workqueue.Run and kwctrl.OwnWrites call it; other workers have to. Its method Error is called without the
// queue's lock. A nil err says that the item has succeeded though AddRateLimited, and not Forget, is called
// next: that isn't a failure then, and neither is what was before.
func (q *Queue[T]) NoteError(item T, err error) {
	if err == nil {
		q.pardon(item)
		q.Note(item, "succeeded, and asked for another run")
		return
	}
	h := q.history.Load()
	if h == nil {
		return
	}
	text, before := shortened(err.Error()), q.limiter.NumRequeues(item)
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.base.now()
	l := q.troubled(h, item, now)
	if l.lastError == "" {
		if l.failing.what == "" {
			l.failing.at, l.late = now, before > 0
		}
		l.failing.what = failingSince + ", at first with: " + text
		if l.late {
			l.failing.what = failingSince + orEarlier + ", with: " + text
		}
	}
	l.lastError = text
	l.add(now, "the error was: "+text)
}

// note notes a step of the item of a slot, if its steps are kept.
func (q *Queue[T]) note(id uint32, what string) {
	if s := q.table.at(id); s.state&isKept != 0 {
		q.noteKept(s.item, what)
	}
}

// noteKept is not a part of note, so that note is inlined.
func (q *Queue[T]) noteKept(item T, what string) {
	if l := q.history.Load().lines[item]; l != nil { // else it was dropped meanwhile
		l.add(q.base.now(), what)
	}
}

// noteAddition notes that the item of a slot is added after a delay.
func (q *Queue[T]) noteAddition(h *history[T], id uint32, delay time.Duration, priority int32) {
	s := q.table.at(id)
	l := h.lines[s.item]
	if l == nil {
		return
	}
	s.state |= isKept // if the slot is new
	what := "added"
	if delay > 0 {
		what += ", to be ready in " + rounded(int64(delay))
	}
	if q.ranks != nil {
		what += fmt.Sprintf(", with priority %d", priority)
	}
	l.add(q.base.now(), what)
}

// What the step begins with that says when an item began to fail. Only NoteError knows that it did.
const (
	notDoneSince = "failing, or to be tried again, since then"
	failingSince = "failing since then"
	orEarlier    = " or earlier"
)

// started is the step of an item that is handed out.
const started = "started"

// noteDone notes that the processing of the item of a slot has ended. took is how long it took, if the queue
// has metrics.
func (q *Queue[T]) noteDone(id uint32, took time.Duration) {
	h, item, now := q.history.Load(), q.table.at(id).item, q.base.now()
	if h == nil {
		return
	}
	l := h.lines[item]
	if took >= slowRun {
		l = q.troubled(h, item, now)
	}
	if l == nil {
		return
	}
	switch at := l.last(started); {
	case q.metrics != nil:
		l.add(now, "ended after "+rounded(int64(took)))
	case at != 0:
		l.add(now, "ended after "+rounded(now-at))
	default: // It began before its steps were kept.
		l.add(now, "ended")
	}
}

// last returns when a step happened for the last time, 0 if it isn't kept.
func (l *line) last(what string) int64 {
	for _, s := range slices.Backward(l.steps) {
		if s.what == what {
			return s.at
		}
	}
	return 0
}

// add appends a step, and drops the oldest ones if there are too many.
func (l *line) add(now int64, what string) {
	what = shortened(what)
	l.text += len(what)
	most := mostText - len(l.lastError) - len(l.failing.what)
	for len(l.steps) == mostSteps || l.text > most && len(l.steps) > 0 {
		l.text -= len(l.steps[0].what)
		l.steps = slices.Delete(l.steps, 0, 1)
	}
	l.steps = append(l.steps, step{now, what})
}

func shortened(text string) string {
	if len(text) > mostOfStep {
		text = strings.ToValidUTF8(text[:mostOfStep], "") + "..."
	}
	return text
}

// keep returns the line of an item, and makes room for it if there is none.
func (q *Queue[T]) keep(h *history[T], item T, now int64) *line {
	if l := h.lines[item]; l != nil {
		return l
	}
	if len(h.lines) >= mostLines {
		h.dropOne(now, 0)
	}
	l := &line{}
	h.lines[item] = l
	if id := q.table.find(item); id != 0 {
		q.table.at(id).state |= isKept
	}
	return l
}

// troubled keeps the line of an item that has failed or was slow, in place of that to which nothing has
// happened for the longest time if there are many.
func (q *Queue[T]) troubled(h *history[T], item T, now int64) *line {
	if l := h.lines[item]; l != nil && l.troubled {
		return l
	}
	others := 0
	for _, l := range h.lines {
		if l.worth(now) == inTrouble {
			others++
		}
	}
	if others >= mostTroubled {
		h.dropOne(now, inTrouble)
	}
	l := q.keep(h, item, now)
	l.troubled = true
	return l
}

func (l *line) isAsked(now int64) bool { return l.asked != 0 && now-l.asked < int64(askedFor) }

// What a line is worth: nothing, something as its last run failed or was slow, or most as somebody asks for
// it.
const (
	inTrouble = 1
	isWanted  = 2
)

func (l *line) worth(now int64) int {
	switch {
	case l.isAsked(now):
		return isWanted
	case l.troubled:
		return inTrouble
	}
	return 0
}

// newest is when the last step happened, or when somebody asked if there is none.
func (l *line) newest() int64 {
	if len(l.steps) == 0 {
		return l.asked
	}
	return l.steps[len(l.steps)-1].at
}

// dropOne drops, of the lines that are worth so much or more, one that is worth least: that to which nothing
// has happened for the longest time.
func (h *history[T]) dropOne(now int64, worth int) {
	var least *line
	var item T
	for i, l := range h.lines {
		if l.worth(now) >= worth && (least == nil || cmp.Or(cmp.Compare(l.worth(now), least.worth(now)),
			cmp.Compare(l.newest(), least.newest())) < 0) {
			least, item = l, i
		}
	}
	delete(h.lines, item)
}
