package conformance

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
)

// lines are descriptions of events, in order.
type lines struct {
	mu   sync.Mutex
	list []string
}

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, line)
}

func (l *lines) takeLines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.list
	l.list = nil
	return list
}

// ordered takes lines that describe what happened to objects, and puts them into an order that does not
// depend on the implementation. If a list was read, that is the order of the objects' names, since lists have
// no order. Otherwise it is the order of the lines, except for the initial objects of a handler that joins
// and the objects of a resync.
func (l *lines) ordered(listed bool) []string {
	list := l.takeLines()
	if listed {
		name := func(line string) string { return strings.FieldsFunc(line, notInNames)[1] }
		slices.SortStableFunc(list, func(a, b string) int { return strings.Compare(name(a), name(b)) })
		return list
	}
	for start := 0; start < len(list); {
		kind := orderless(list[start])
		end := start + 1
		for end < len(list) && orderless(list[end]) == kind {
			end++
		}
		if kind != "" {
			slices.Sort(list[start:end])
		}
		start = end
	}
	return list
}

// notInNames reports whether a rune separates the name of an object from the text around it.
func notInNames(r rune) bool { return strings.ContainsRune(" @(/", r) }

// orderless returns the kind of unordered calls that a call belongs to, or "".
func orderless(call string) string {
	words := strings.Fields(call)
	switch {
	case words[0] == "add" && words[2] == "initial=true":
		return "initial"
	case words[0] == "update" && words[1] == words[3]:
		return "resync"
	}
	return ""
}

// Handler is a handler that a scenario adds.
type Handler struct {
	name         string
	calls        lines
	registration cache.ResourceEventHandlerRegistration
	// gate, if not nil, blocks each call until the gate is closed.
	mu   sync.Mutex
	gate chan struct{}
	// during, if not nil, is called at the end of each call.
	during func(call string)
}

// Handle adds a handler. Without resync it has the informer's resync period.
func (w *World) Handle(name string, resync ...time.Duration) *Handler {
	h := &Handler{name: name}
	w.register(h, resync...)
	return h
}

// HandleSlowly adds a handler whose calls don't return before Release.
func (w *World) HandleSlowly(name string) *Handler {
	h := &Handler{name: name, gate: make(chan struct{})}
	w.register(h)
	return h
}

// HandleAnd adds a handler that calls during at the end of each call.
func (w *World) HandleAnd(name string, during func(call string)) *Handler {
	h := &Handler{name: name, during: during}
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

// Release lets a slow handler continue. Its later calls don't block.
func (w *World) Release(h *Handler) {
	h.mu.Lock()
	close(h.gate)
	h.gate = nil
	h.mu.Unlock()
	w.Step("release " + h.name)
}

func (h *Handler) called(format string, args ...any) {
	call := fmt.Sprintf(format, args...)
	h.calls.add(call)
	h.mu.Lock()
	gate := h.gate
	h.mu.Unlock()
	if gate != nil {
		<-gate
	}
	if h.during != nil {
		h.during(call)
	}
}

// OnAdd, OnUpdate and OnDelete record the call.
func (h *Handler) OnAdd(obj any, initial bool) {
	h.called("add %s initial=%t", describe(obj), initial)
}

func (h *Handler) OnUpdate(old, new any) {
	h.called("update %s to %s", describe(old), describe(new))
}

func (h *Handler) OnDelete(obj any) { h.called("delete %s", describe(obj)) }
