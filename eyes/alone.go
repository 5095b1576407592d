package eyes

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"
	"weak"

	"k8s.io/klog/v2"
)

// alone is the time without a look after which Eyes look by themselves. Otherwise, what hangs would be dated
// to the last look, perhaps days ago. It is longer than the usual intervals of scrapes, one or two minutes,
// so that alerts compare scrapes with scrapes.
const alone = 130 * time.Second

// wait makes Eyes look after a time if there was no look until then, and goes on like that while there are
// sources. The caller holds mu. The timer refers weakly to the Eyes, so that it can be collected with its
// sources.
func (e *Eyes) wait(after time.Duration) {
	if e.waits || len(e.sources) == 0 {
		return
	}
	e.waits = true
	its := weak.Make(e)
	time.AfterFunc(after, func() {
		if e := its.Value(); e != nil {
			next := e.lookAlone()
			e.mu.Lock()
			defer e.mu.Unlock()
			e.waits = false
			e.wait(next)
		}
	})
}

// lookAlone looks if it is due, and returns the time until it is due again. A panic doesn't end the program,
// as it wouldn't if an HTTP server looked.
func (e *Eyes) lookAlone() (next time.Duration) {
	next = alone
	defer func() { logPanic("all", recover()) }()
	e.looking.Lock()
	due := e.looked.Add(alone)
	e.looking.Unlock()
	if early := time.Until(due); early > 0 {
		return early
	}
	e.snapshot(false)
	return next
}

// lookAt adds what the source has to a snapshot. A source that panics neither hides the others nor ends a
// program that is scraped. It becomes a finding, and its first panic in a row is logged.
func (s *source) lookAt(to *Snapshot) (goesOn bool) {
	goesOn = true
	defer func() {
		reason := recover()
		if reason == nil {
			s.panicking = time.Time{}
			return
		}
		if s.panicking.IsZero() {
			s.panicking = to.Taken
			logPanic(s.name, reason)
		}
		to.panics = append(to.panics, Finding{
			Kind: "source panics", Source: s.name, Subject: "the status of the " + s.kind.String(),
			Cause: "it can't be read, as that panics; the log has the stack", Since: s.panicking, Earlier: true,
		})
	}()
	return s.look(to)
}

// logPanic logs a panic, if there was one.
func logPanic(source string, reason any) {
	var err error
	switch reason := reason.(type) {
	case nil:
		return
	case error:
		err = reason
	case string:
		err = errors.New(reason)
	}
	klog.Background().Error(err, "Eyes panicked while they looked", "source", source,
		"panic", fmt.Sprintf("%T", reason), "stack", string(debug.Stack()))
}
