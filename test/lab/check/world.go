package check

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
	"github.com/kubewright/kubewright/test/lab/cluster"
	"github.com/kubewright/kubewright/test/lab/fault"
)

// Result is the result of a script.
type Result struct {
	// Violation is the first one, nil if all laws hold.
	Violation *Violation
	// Trace has a line for each operation. Faults are those that happened.
	Trace  []string
	Faults fault.Script
	// Calls is the number of events that the handlers recorded, Informers that of informers.
	Calls, Informers int
}

// world is the state of a script that is being played.
type world struct {
	implementation Implementation
	wrong          bool
	plan           fault.Plan
	ctx            context.Context
	start          time.Time

	cluster  *cluster.Cluster
	proxy    *fault.Proxy
	limiter  *listwatch.Limiter
	subjects []*subject
	made     int
	calls    int
	op       int

	mu        sync.Mutex
	violation *Violation
	trace     []string
}

// Play plays a script in a bubble of its own.
func Play(t *testing.T, i Implementation, s Script) (result Result) {
	defer func() {
		// If goroutines are left, the bubble panics at its end.
		if reason := recover(); reason != nil && result.Violation == nil {
			result.Violation = &Violation{Hangs, fmt.Sprint(reason)}
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t.Context(), i, s)
		defer func() { result = w.result() }()
		w.play(s.Ops)
	})
	return result
}

func newWorld(ctx context.Context, i Implementation, s Script) *world {
	c := cluster.New()
	return &world{
		implementation: i, wrong: s.Wrong, plan: s.Faults, ctx: ctx, start: time.Now(),
		cluster: c, proxy: fault.New(fault.Handler(c), s.Faults),
		limiter: listwatch.NewLimiter(2).WithBudget(2000),
	}
}

func (w *world) result() Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	return Result{Violation: w.violation, Trace: w.trace, Faults: w.proxy.Trace(), Calls: w.calls,
		Informers: w.made}
}

// fail records a broken law, if it is the first. It is safe for concurrent use.
func (w *world) fail(law Law, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.violation == nil {
		w.violation = &Violation{law, fmt.Sprintf("operation %d, %v: ", w.op, time.Since(w.start)) +
			fmt.Sprintf(format, args...)}
	}
}

// law is fail for the laws that don't hold after faults of class Wrong.
func (w *world) law(law Law, format string, args ...any) {
	if !w.wrong {
		w.fail(law, format, args...)
	}
}

// failed reports whether a law was broken.
func (w *world) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.violation != nil
}

// say adds a line to the trace.
func (w *world) say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trace = append(w.trace, fmt.Sprintf("%3d %9s ", w.op, time.Since(w.start).Round(time.Millisecond))+
		fmt.Sprintf(format, args...))
}

// play does the operations and then what every script ends with: a time of quiet, and the stop of everything.
func (w *world) play(ops []Op) {
	ctx, stop := context.WithCancel(w.ctx)
	var running sync.WaitGroup
	running.Go(func() { w.cluster.Run(ctx) })
	for i, op := range ops {
		w.mu.Lock()
		w.op = i
		w.mu.Unlock()
		w.do(op)
		if w.failed() {
			break
		}
	}
	if !w.failed() {
		w.quiet()
	}
	w.proxy.Calm()
	w.cluster.Calm()
	for len(w.subjects) > 0 {
		w.end(0)
	}
	stop()
	running.Wait()
	if w.failed() {
		bubble.Pass(aMoment) // for the requests that a meter delays
	}
	w.checkNothingLeft()
	w.proxy.Close()
}

// do does an operation. A handler's panic must not reach it.
func (w *world) do(op Op) {
	defer func() {
		if reason := recover(); reason != nil {
			w.fail(survives, "%s panics: %v\n%s", op.Do, reason, debug.Stack())
		}
	}()
	doing(op.Do)(w, rand.New(rand.NewPCG(op.N, 2)))
	for _, s := range w.subjects {
		s.look("meanwhile")
	}
}

// end stops an informer.
func (w *world) end(i int) {
	s := w.subjects[i]
	w.subjects = append(w.subjects[:i:i], w.subjects[i+1:]...)
	for _, b := range s.observers {
		w.calls += len(b.Events())
	}
	s.end()
}

// settle waits until all goroutines wait, and checks all laws.
func (w *world) settle() {
	synctest.Wait()
	for _, s := range w.subjects {
		s.check()
	}
}

// The times that quiet allows beside the bounds of faults.
const (
	// untilTold is longer than slow and panicking handlers need for their backlog.
	untilTold = 10 * time.Minute
	// untilListed is longer than it takes to list again after the last failed list.
	untilListed = 2 * time.Minute
	// aMoment is how long requests take.
	aMoment = 10 * time.Second
)

// quiet ends all faults. Then each informer must have what the server has, within the bounds of its faults,
// and must follow further changes.
func (w *world) quiet() {
	r := rand.New(rand.NewPCG(uint64(w.op), 3))
	w.proxy.Calm()
	w.cluster.Calm()
	for range 10 { // a silent watch must have missed something
		w.write(r)
	}
	bounds := w.bounds()
	slices.SortFunc(bounds, func(a, b bound) int { return cmp.Compare(a.by, b.by) })
	passed := time.Duration(0)
	for _, b := range bounds {
		bubble.Pass(b.by - passed)
		passed = b.by
		if synctest.Wait(); !w.wrong {
			b.subject.checkEqual()
		}
	}
	if w.wrong {
		w.proxy.Expire()
		bubble.Pass(untilListed)
	}
	w.settle()
	w.checkOpen()
	w.checkEqual()
	for range 3 {
		w.write(r)
	}
	bubble.Pass(time.Second)
	w.settle()
	w.checkEqual()
	listed := w.lists()
	bubble.Pass(untilTold)
	synctest.Wait()
	for i, s := range w.subjects {
		s.checkTold()
		if n := w.lists()[i] - listed[i]; n > 0 {
			w.law(goesOn, "%v has listed %d times without need%s", s, n, s.status())
		}
	}
	w.checkMemory()
	w.proxy.Plan(w.plan)
}

// lists returns how often each informer has listed.
func (w *world) lists() (lists []int) {
	for _, s := range w.subjects {
		lists = append(lists, w.proxy.Count(fault.Request{Client: s.client(), Kind: fault.List | fault.WatchList}))
	}
	return lists
}

func (w *world) checkEqual() {
	for _, s := range w.subjects {
		s.checkEqual()
	}
}

// checkOpen checks that an informer has at most one response open for each namespace that it lists.
func (w *world) checkOpen() {
	type place struct{ client, namespace string }
	open := map[place]int{}
	for _, r := range w.proxy.Open() {
		if open[place{r.Client, r.Namespace}]++; open[place{r.Client, r.Namespace}] > 1 {
			w.fail(Left, "%s has several responses open: %v", r.Client, w.proxy.Open())
		}
	}
}

// bound is how long an informer may take to recover from its faults.
type bound struct {
	subject *subject
	by      time.Duration
}

// bounds returns the bounds of all informers. Informers that share the limiter may have to wait for each
// other.
func (w *world) bounds() (bounds []bound) {
	met := map[string]fault.Script{}
	for _, step := range w.proxy.Trace() {
		met[step.Client] = append(met[step.Client], step)
	}
	limited := time.Duration(0)
	for _, s := range w.subjects {
		b := bound{s, untilListed}
		for _, step := range met[s.client()] {
			tuning := s.tuning
			if step.Kind == fault.Watch {
				tuning.InitialEventsTimeout = aMoment // it has no initial events
			}
			b.by = max(b.by, fault.ByName(step.Fault).Bound(tuning)+aMoment)
		}
		if s.options.limited {
			limited += b.by
		}
		bounds = append(bounds, b)
	}
	for i, b := range bounds {
		if b.subject.options.limited {
			bounds[i].by = limited
		}
	}
	return bounds
}

// status describes the state of an informer of ours.
func (s *subject) status() string {
	status, ok := informer.StatusOf(s.informer)
	if !ok {
		return ""
	}
	return fmt.Sprintf("; it is %s since %v at %s, its last error is %v", status.State, status.Since,
		status.ResourceVersion, status.LastError)
}

// checkNothingLeft checks that the informers have left nothing behind.
func (w *world) checkNothingLeft() {
	synctest.Wait()
	if n := w.cluster.Watches(); n > 0 {
		w.fail(Left, "%d watches are open at the server", n)
	}
	if open := w.proxy.Open(); len(open) > 0 {
		w.fail(Left, "responses aren't closed: %v", open)
	}
	if stacks := bubbleStacks(); stacks != "" {
		w.fail(Left, "goroutines run:\n%s", stacks)
	}
}

// Text describes a result for people.
func (r Result) Text() string {
	var b strings.Builder
	for _, line := range r.Trace {
		fmt.Fprintln(&b, line)
	}
	for _, step := range r.Faults {
		fmt.Fprintln(&b, "   ", step)
	}
	if r.Violation != nil {
		fmt.Fprintln(&b, r.Violation)
	}
	return b.String()
}
