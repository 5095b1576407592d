package runtimetest

import (
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
)

// stream is one open watch. Events wait in it, without bound, until they are
// read.
type stream struct {
	bookmarks bool
	selected  selection
	from      int64 // events up to this version aren't sent
	onEnd     func(*stream)

	result  chan watch.Event
	wake    chan struct{} // has one slot: something changed
	stopped chan struct{}
	stop    sync.Once

	mu     sync.Mutex
	queue  []watch.Event
	closed bool // by the server, after the events in queue
	timer  *time.Timer
}

func newStream(from int64, selected selection, bookmarks bool, onEnd func(*stream)) *stream {
	return &stream{
		from: from, selected: selected, bookmarks: bookmarks, onEnd: onEnd,
		result: make(chan watch.Event), wake: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
}

func (w *stream) ResultChan() <-chan watch.Event { return w.result }

func (w *stream) Stop() { w.stop.Do(func() { close(w.stopped) }) }

// push sends the event of a write, unless the watch began after it.
func (w *stream) push(version int64, e watch.Event) {
	if version > w.from {
		w.send(e)
	}
}

func (w *stream) send(e watch.Event) {
	w.change(func() {
		if !w.closed {
			w.queue = append(w.queue, e)
		}
	})
}

// close ends the stream in good order, after the events that were sent.
func (w *stream) close() { w.change(func() { w.closed = true }) }

// fail ends the stream with an error event.
func (w *stream) fail(err apierrors.APIStatus) {
	status := err.Status()
	w.send(watch.Event{Type: watch.Error, Object: &status})
	w.close()
}

func (w *stream) closeAfter(d time.Duration) {
	w.change(func() { w.timer = time.AfterFunc(d, w.close) })
}

func (w *stream) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// sendEvents moves events from the queue to the reader until either side ends the stream.
func (w *stream) sendEvents() {
	defer w.onEnd(w)
	defer close(w.result)
	defer w.change(func() {
		w.closed = true
		if w.timer != nil {
			w.timer.Stop()
		}
	})
	for {
		event, ready, closed := w.next()
		switch {
		case ready:
			select {
			case w.result <- event:
			case <-w.stopped:
				return
			}
		case closed:
			return
		default:
			select {
			case <-w.wake:
			case <-w.stopped:
				return
			}
		}
	}
}

func (w *stream) next() (event watch.Event, ready, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		return watch.Event{}, false, w.closed
	}
	event, w.queue = w.queue[0], w.queue[1:]
	return event, true, false
}
