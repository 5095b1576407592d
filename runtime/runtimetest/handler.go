package runtimetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// lines are what happened, in order.
type lines struct {
	mu   sync.Mutex
	list []string
}

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, line)
}

func (l *lines) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.list
	l.list = nil
	return list
}

// byObject takes lines that begin with the name of an object, in the order of the
// names: what happens to different ones has no order.
func (l *lines) byObject() []string {
	list := l.take()
	name := func(line string) string { first, _, _ := strings.Cut(line, " "); return first }
	slices.SortStableFunc(list, func(a, b string) int { return strings.Compare(name(a), name(b)) })
	return list
}

// Handler is a handler that a scenario registered.
type Handler struct {
	name         string
	calls        lines
	registration cache.ResourceEventHandlerRegistration
	// gate, if not nil, keeps each call until it is closed.
	mu   sync.Mutex
	gate chan struct{}
}

// Handle registers a handler. Without a resync period it gets the informer's.
func (w *World) Handle(name string, resync ...time.Duration) *Handler {
	h := &Handler{name: name}
	w.register(h, resync...)
	return h
}

// HandleSlowly registers a handler whose calls don't return before Release.
func (w *World) HandleSlowly(name string) *Handler {
	h := &Handler{name: name, gate: make(chan struct{})}
	w.register(h)
	return h
}

func (w *World) register(h *Handler, resync ...time.Duration) {
	var options cache.HandlerOptions
	if len(resync) > 0 {
		options.ResyncPeriod = &resync[0]
	}
	registration, err := w.Informer.AddEventHandlerWithOptions(h, options)
	if err != nil {
		w.Note("handle %s: an error", h.name)
		return
	}
	h.registration = registration
	w.handlers = append(w.handlers, h)
	w.Step("handle " + h.name)
}

// Unhandle removes a handler.
func (w *World) Unhandle(h *Handler) {
	if err := w.Informer.RemoveEventHandler(h.registration); err != nil {
		w.Note("unhandle %s: an error", h.name)
	}
	w.Step("unhandle " + h.name)
}

// Release lets a slow handler go on, and be fast from now on.
func (w *World) Release(h *Handler) {
	h.mu.Lock()
	close(h.gate)
	h.gate = nil
	h.mu.Unlock()
	w.Step("release " + h.name)
}

func (h *Handler) called(obj any, format string, args ...any) {
	name := ""
	switch obj := obj.(type) {
	case metav1.Object:
		name = obj.GetName()
	case cache.DeletedFinalStateUnknown:
		_, name, _ = strings.Cut(obj.Key, "/")
	}
	h.calls.add(name + " " + fmt.Sprintf(format, args...))
	h.mu.Lock()
	gate := h.gate
	h.mu.Unlock()
	if gate != nil {
		<-gate
	}
}

// OnAdd, OnUpdate and OnDelete write down the call.
func (h *Handler) OnAdd(obj any, initial bool) {
	h.called(obj, "add %s initial=%t", describe(obj), initial)
}

func (h *Handler) OnUpdate(old, new any) {
	h.called(new, "update %s to %s", describe(old), describe(new))
}

func (h *Handler) OnDelete(obj any) { h.called(obj, "delete %s", describe(obj)) }
