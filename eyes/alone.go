package eyes

import (
	"fmt"
	"runtime/debug"
	"time"
	"weak"

	"k8s.io/klog/v2"
)

// alone is how long nobody has looked when Eyes look by themselves: what hangs then is dated to that time,
// and not to that of the last look, which may be of another day. It is more than the minute that is common
// between scrapes: these are compared with each other.
const alone = time.Minute + spacing

// wait makes Eyes look after a time if nobody has looked, and goes on like that while there are sources. The
// caller holds mu. The timer doesn't keep an Eyes, and with it its sources, that nothing else refers to.
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

// lookAlone looks if nobody has for a time, and returns when it is due again. A source that panics doesn't
// end the program, as it wouldn't if an HTTP server called it.
func (e *Eyes) lookAlone() (next time.Duration) {
	defer func() {
		if reason := recover(); reason != nil {
			err, _ := reason.(error)
			klog.Background().Error(err, "Eyes couldn't look: a source panicked",
				"panic", fmt.Sprintf("%T", reason), "stack", string(debug.Stack()))
		}
	}()
	next = alone
	if early := alone - e.unseen(); early > 0 {
		return early
	}
	e.snapshot(false)
	return next
}

// unseen returns how long nobody has looked.
func (e *Eyes) unseen() time.Duration {
	e.looking.Lock()
	defer e.looking.Unlock()
	if e.last == nil {
		return alone
	}
	return time.Since(e.last.Taken)
}
