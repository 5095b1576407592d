package clientsource

import (
	"context"
	"io"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/internal/transport"
)

// expectation is the type and the kind that the object of an event must have.
type expectation struct {
	goType reflect.Type             // nil accepts every type
	gvk    *schema.GroupVersionKind // nil accepts every kind
}

// isPointer reports whether objects have one type that can be decoded.
func (e expectation) isPointer() bool { return e.goType != nil && e.goType.Kind() == reflect.Pointer }

// check returns what is wrong with obj, "" if nothing is. The wording and the order are
// those of client-go's log lines, which people search for.
func (e expectation) check(obj runtime.Object) (complaint string, details []any) {
	if actual := reflect.TypeOf(obj); e.goType != nil && e.goType != actual {
		return "Unexpected watch event object type", []any{"expectedType", e.goType, "actualType", actual}
	}
	if e.gvk != nil {
		if actual := obj.GetObjectKind().GroupVersionKind(); actual != *e.gvk {
			return "Unexpected watch event object gvk", []any{"expectedGVK", *e.gvk, "actualGVK", actual}
		}
	}
	if u, ok := obj.(*unstructured.Unstructured); ok && isTable(u.GroupVersionKind()) {
		return "Unsupported watch event object gvk", []any{"actualGVK", u.GroupVersionKind()}
	}
	return "", nil
}

// clientStream reads a watch.Interface: the client decodes the events.
type clientStream struct {
	watch    watch.Interface
	expected expectation
	// answer is the response, nil if no transport saw it.
	answer *transport.Answer
	// broken is what our decoder couldn't decode in the next event, nil if that isn't known.
	broken  error
	stopped chan struct{}
	stop    sync.Once
}

func clientStreamOf(w watch.Interface, expected expectation, answer *transport.Answer) *clientStream {
	return &clientStream{watch: w, expected: expected, answer: answer, stopped: make(chan struct{})}
}

func (s *clientStream) Stop() {
	s.stop.Do(func() {
		s.stopWatch()
		s.drain()
	})
}

// stopWatch stops the watcher. Call it once.
func (s *clientStream) stopWatch() {
	close(s.stopped)
	s.watch.Stop()
}

// drainFor is how long a watcher may take to close its channel after Stop. Most have closed it by then.
const drainFor = 100 * time.Millisecond

// drain receives events until the watcher closes its channel, as the contract of [watch.Interface] demands:
// a watcher that is blocked in a send, such as that of [watch.Filter], would never end. After drainFor it
// gives up: [watch.ProxyWatcher] doesn't close the channel, nor does [watch.MockWatcher] unless its functions
// do.
func (s *clientStream) drain() {
	patience := time.NewTimer(drainFor)
	defer patience.Stop()
	for {
		select {
		case _, open := <-s.watch.ResultChan():
			if !open {
				return
			}
		case <-patience.C:
			return
		}
	}
}

// Next logs and skips events whose object isn't of the resource's type. The logger of ctx names the
// reflector.
func (s *clientStream) Next(ctx context.Context) (sources.Event, error) {
	for {
		raw, err := s.receive(ctx)
		if err != nil {
			return sources.Event{}, err
		}
		if raw.Type == watch.Error {
			return sources.Event{}, errorOf(s.answer, raw.Object, s.brokenEvent)
		}
		s.broken = nil
		if event, ok := s.convert(ctx, raw); ok {
			return event, nil
		}
	}
}

// brokenEvent returns what our decoder can't decode in the last event, nil if it finds nothing.
func (s *clientStream) brokenEvent() error {
	if s.broken != nil || s.answer == nil || !s.expected.isPointer() {
		return s.broken
	}
	return brokenEvent(s.answer.TakeText(), s.expected.goType)
}

// receive takes the next event. If ctx has ended, it returns ctx's error even if an event
// is ready.
func (s *clientStream) receive(ctx context.Context) (watch.Event, error) {
	if err := ctx.Err(); err != nil {
		return watch.Event{}, err
	}
	var raw watch.Event
	open := true
	// While events keep coming there is no need to wait for three channels,
	// which takes several times as long as receiving from one.
	select {
	case raw, open = <-s.watch.ResultChan():
	default:
		select {
		case <-ctx.Done():
			return watch.Event{}, ctx.Err()
		case <-s.stopped:
			open = false
		case raw, open = <-s.watch.ResultChan():
		}
	}
	if !open {
		return watch.Event{}, io.EOF
	}
	return raw, nil
}

func (s *clientStream) convert(ctx context.Context, raw watch.Event) (sources.Event, bool) {
	if complaint, details := s.expected.check(raw.Object); complaint != "" {
		utilruntime.HandleErrorWithContext(ctx, nil, complaint, details...)
		return sources.Event{}, false
	}
	m, err := meta.Accessor(raw.Object)
	if err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "Unable to understand watch event",
			"eventType", raw.Type, "objectType", reflect.TypeOf(raw.Object))
		return sources.Event{}, false
	}
	event := sources.Event{Type: raw.Type, ResourceVersion: m.GetResourceVersion()}
	if raw.Type == watch.Bookmark {
		event.InitialEventsEnd = m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
		return event, true
	}
	event.Object = raw.Object
	return event, true
}
