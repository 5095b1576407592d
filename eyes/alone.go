package eyes

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"
	"weak"

	"k8s.io/klog/v2"
)

// alone is how long there was no look when Eyes look by themselves. Else what hangs would be dated to the
// last look before, which may be of another day. It is longer than usual intervals of scrapes, a minute or
// two: what alerts are about compares these with each other.
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

// lookAlone looks if it is due, and returns the time until it is due again.
func (e *Eyes) lookAlone() time.Duration {
	e.looking.Lock()
	due := e.looked.Add(alone)
	e.looking.Unlock()
	if early := time.Until(due); early > 0 {
		return early
	}
	e.snapshot(false)
	return alone
}

// lookAt adds what the source has to a snapshot. If nobody asks for that, a source that panics doesn't end
// the program, as it wouldn't if an HTTP server called it.
func (s *source) lookAt(to *Snapshot) (goesOn bool) {
	defer func() {
		if to.asked {
			return
		}
		if reason := recover(); reason != nil {
			err, ok := reason.(error)
			if text, isText := reason.(string); !ok && isText {
				err = errors.New(text)
			}
			klog.Background().Error(err, "A source of eyes panicked", "source", s.name,
				"panic", fmt.Sprintf("%T", reason), "stack", string(debug.Stack()))
			goesOn = true
		}
	}()
	return s.look(to)
}
