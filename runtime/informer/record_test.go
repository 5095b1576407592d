package informer_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// Logs of the errors that the tests provoke would hide those of failures.
	klog.SetLogger(logr.Discard())
	// The rate limit of errors mixes the clocks of different tests.
	utilruntime.ErrorHandlers = nil
	goleak.VerifyTestMain(m)
}

// recorder records every call of a handler.
type recorder struct {
	mu    sync.Mutex
	calls []string
	// before is called at the beginning of each call.
	before func(call string)
}

func (r *recorder) record(format string, args ...any) {
	call := fmt.Sprintf(format, args...)
	if r.before != nil {
		r.before(call)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
}

// take returns the calls since the last take.
func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

func describe(obj any) string {
	m, ok := obj.(metav1.Object)
	if !ok {
		return fmt.Sprintf("%T", obj)
	}
	return fmt.Sprintf("%s/%s@%s", m.GetNamespace(), m.GetName(), m.GetResourceVersion())
}

func (r *recorder) OnAdd(obj any, initial bool) {
	if initial {
		r.record("initial %s", describe(obj))
	} else {
		r.record("add %s", describe(obj))
	}
}

func (r *recorder) OnUpdate(oldObj, newObj any) {
	if describe(oldObj) == describe(newObj) {
		r.record("same %s", describe(newObj))
	} else {
		r.record("update %s -> %s", describe(oldObj), describe(newObj))
	}
}

func (r *recorder) OnDelete(obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		r.record("missed %s %s", tombstone.Key, describe(tombstone.Obj))
	} else {
		r.record("delete %s", describe(obj))
	}
}

// typedRecorder is a recorder as a typed handler.
type typedRecorder struct{ *recorder }

func (r typedRecorder) OnAdd(obj *configMap, initial bool) { r.recorder.OnAdd(obj, initial) }
func (r typedRecorder) OnUpdate(oldObj, newObj *configMap) { r.recorder.OnUpdate(oldObj, newObj) }
func (r typedRecorder) OnDelete(gone cache.DeletedObject[*configMap]) {
	if gone.FinalStateUnknown != nil {
		if gone.FinalStateUnknown.Obj != gone.OptionalObj {
			r.record("tombstone of another object")
		}
		r.recorder.OnDelete(*gone.FinalStateUnknown)
	} else {
		r.recorder.OnDelete(gone.OptionalObj)
	}
}

// inOrder sorts the calls whose order neither informer promises: the initial objects of a handler that joins,
// the objects that a relist lacks, and those of a resync.
func inOrder(calls []string) []string {
	kind := func(call string) string { return strings.Fields(call)[0] }
	for start := 0; start < len(calls); {
		end := start + 1
		for end < len(calls) && kind(calls[end]) == kind(calls[start]) {
			end++
		}
		switch kind(calls[start]) {
		case "initial", "missed", "same":
			slices.Sort(calls[start:end])
		}
		start = end
	}
	return calls
}
