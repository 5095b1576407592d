package ownwrites_test

import (
	"context"
	"sync"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/internal/bubble"
)

// lagging is a client of a server, whose watches are held up: while hold is on, or as long as delay says.
type lagging struct {
	mu     sync.Mutex
	server *server
	held   chan struct{} // closed when events flow
	delay  func() time.Duration
	// steps has an element for each event that may pass.
	steps chan struct{}
}

func newLagging(s *server) *lagging {
	l := &lagging{server: s, held: make(chan struct{}), steps: make(chan struct{}, 1000)}
	close(l.held)
	return l
}

// step lets n events pass, while events are held up.
func (l *lagging) step(n int) {
	for range n {
		l.steps <- struct{}{}
	}
	synctest.Wait()
}

// hold holds up the events that follow, until flow is called.
func (l *lagging) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = make(chan struct{})
}

func (l *lagging) flow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.held)
}

func (l *lagging) gate() chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held
}

func (l *lagging) current() *server {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.server
}

func (l *lagging) List(ctx context.Context, o metav1.ListOptions) (*corev1.ConfigMapList, error) {
	return l.current().List(ctx, o)
}

func (l *lagging) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	s := l.current()
	inner, err := s.Watch(ctx, o)
	if err != nil {
		return nil, err
	}
	if s != l.current() { // It was replaced meanwhile, and doesn't end this watch any more.
		inner.Stop()
		return l.Watch(ctx, o)
	}
	w := &laggingWatch{inner: inner, events: make(chan watch.Event), stopped: make(chan struct{})}
	context.AfterFunc(ctx, w.Stop)
	go w.pass(l)
	return w, nil
}

type laggingWatch struct {
	inner   watch.Interface
	events  chan watch.Event
	stop    sync.Once
	stopped chan struct{}
}

func (w *laggingWatch) ResultChan() <-chan watch.Event { return w.events }

func (w *laggingWatch) Stop() {
	w.stop.Do(func() { close(w.stopped) })
	w.inner.Stop()
}

func (w *laggingWatch) pass(l *lagging) {
	defer close(w.events)
	for e := range w.inner.ResultChan() {
		select {
		case <-l.gate():
		case <-l.steps:
		case <-w.stopped:
			return
		}
		if l.delay != nil {
			bubble.Pass(l.delay())
		}
		select {
		case w.events <- e:
		case <-w.stopped:
			return
		}
	}
}
