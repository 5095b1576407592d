package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// World is the environment of a scenario's script. Each of its methods that changes something waits until
// all goroutines block, and adds to the transcript what has happened: the requests to the server, the calls
// of each handler (in order, if there is one), the contents of the store, and what has synced.
type World struct {
	T        *testing.T
	Server   *ConfigMaps
	Informer cache.SharedIndexInformer

	requests   lines // with the reported errors
	handlers   []*Handler
	transcript []string
	stop       func()
	// newInformer makes another informer of the same implementation.
	newInformer func(*ConfigMaps, InformerOptions) cache.SharedIndexInformer
}

// Namespace is the namespace of the scenarios' config maps.
const Namespace = "ns"

// LongEnough is longer than any back-off of a reflector.
const LongEnough = 61 * time.Second

// Start runs the informer.
func (w *World) Start() {
	w.run()
	w.Step("start")
}

func (w *World) run() {
	ctx, cancel := context.WithCancel(w.T.Context())
	var running sync.WaitGroup
	running.Go(func() { w.Informer.RunWithContext(ctx) })
	w.stop = func() {
		cancel()
		running.Wait()
	}
}

// Stop stops the informer if it runs, and waits until it has ended.
func (w *World) Stop() {
	if w.stop != nil {
		w.stop()
		w.stop = nil
		w.Step("stop")
	}
}

// Put creates or updates config maps.
func (w *World) Put(names ...string) {
	for _, name := range names {
		w.put(name)
	}
	w.Step("put " + strings.Join(names, " "))
}

func (w *World) put(name string) { w.store(configMap(name)) }

func (w *World) store(cm *corev1.ConfigMap) {
	if slices.ContainsFunc(w.Server.Objects(), func(o *corev1.ConfigMap) bool { return o.Name == cm.Name }) {
		w.Server.Update(cm)
	} else {
		w.Server.Create(cm)
	}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name}}
}

// putLabelled creates or updates a config map with a label.
func (w *World) putLabelled(name, on string) { w.store(labelled(name, on)) }

func labelled(name, on string) *corev1.ConfigMap {
	cm := configMap(name)
	cm.Labels = map[string]string{"on": on}
	return cm
}

// check fails the test if err isn't nil.
func (w *World) check(err error) {
	if err != nil {
		w.T.Error(err)
	}
}

func yesNo(yes bool) string {
	if yes {
		return " yes"
	}
	return " no"
}

// Remove deletes config maps.
func (w *World) Remove(names ...string) {
	for _, name := range names {
		w.Server.Delete(Namespace, name)
	}
	w.Step("remove " + strings.Join(names, " "))
}

// startUnended starts with a handler, while the server streams a list of the named objects and withholds its
// end until endInitialEvents is called.
func (w *World) startUnended(names ...string) {
	w.Put(names...)
	w.Server.OmitEndBookmark(true)
	w.Handle("h")
	w.Start()
}

func (w *World) endInitialEvents() {
	w.Server.EndInitialEvents()
	w.Step("end")
}

// Relist ends the watches as expired and lets the informer list again. In between it calls missing, which
// changes objects on the server: the informer gets no events of these changes.
func (w *World) Relist(missing func()) {
	once := sync.OnceFunc(missing)
	// This is between the end of the watch and the list that follows.
	w.Server.OnRequest(func(context.Context, runtimetest.Request) error { once(); return nil })
	w.Server.FailWatches(expired())
	bubble.Pass(LongEnough)
	w.Server.OnRequest(nil)
	w.Step("relist")
}

// Missed creates, updates and deletes without recording a step, for use in Relist.
func (w *World) Missed(put, remove []string) {
	for _, name := range put {
		w.put(name)
	}
	for _, name := range remove {
		w.Server.Delete(Namespace, name)
	}
}

// Advance moves the clock.
func (w *World) Advance(d time.Duration) {
	bubble.Pass(d)
	w.Step("advance " + d.String())
}

// HandleErrors records the errors that the informer reports.
func (w *World) HandleErrors() {
	err := w.Informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		w.requests.add("error " + reasonOf(err))
	})
	if err != nil {
		w.Note("no error handler is taken")
	}
}

// reasonOf returns the reason of an error, since the texts differ.
func reasonOf(err error) string {
	var short *cache.VeryShortWatchError
	switch reason := apierrors.ReasonForError(err); {
	case reason != metav1.StatusReasonUnknown:
		return string(reason)
	case errors.As(err, &short):
		return "a very short watch"
	case utilnet.IsConnectionRefused(err):
		return "connection refused"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "unexpected EOF"
	case errors.Is(err, io.EOF):
		return "EOF"
	}
	return "of no known kind"
}

// OnPage makes the server call f before each page of a list after the first.
func (w *World) OnPage(f func() error) {
	w.Server.OnRequest(func(_ context.Context, r runtimetest.Request) error {
		if r.Options.Continue == "" {
			return nil
		}
		return f()
	})
}

// Fill creates n config maps, named n000 and so on.
func (w *World) Fill(n int) {
	for i := range n {
		w.Server.Create(configMap(fmt.Sprintf("n%03d", i)))
	}
}

// Inject sends an event about a config map on all open watches.
func (w *World) Inject(kind watch.EventType, name, version string) {
	w.Server.Inject(watch.Event{Type: kind, Object: &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name, ResourceVersion: version},
	}})
	w.Step(fmt.Sprintf("inject %s %s@%s", kind, name, version))
}

// Step waits until all goroutines block and records what has happened since the last step.
func (w *World) Step(what string) {
	synctest.Wait()
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", what)
	listed := false
	for _, r := range w.requests.takeLines() {
		fmt.Fprintf(&b, "\n  %s", r)
		listed = listed || strings.HasPrefix(r, "LIST") || strings.Contains(r, " initial=")
	}
	for _, h := range w.handlers {
		for _, call := range h.calls.ordered(listed) {
			fmt.Fprintf(&b, "\n  %s: %s", h.name, call)
		}
		if h.registration != nil {
			fmt.Fprintf(&b, "\n  %s has synced: %t %t", h.name, h.registration.HasSynced(),
				cache.IsDone(h.registration.HasSyncedChecker()))
		}
	}
	keys := w.Informer.GetStore().ListKeys()
	slices.Sort(keys)
	for i, key := range keys {
		obj, _, _ := w.Informer.GetStore().GetByKey(key)
		keys[i] = describe(obj)
	}
	fmt.Fprintf(&b, "\n  store %v at %q, synced %t, stopped %t, last %q", keys,
		w.Informer.GetStore().LastStoreSyncResourceVersion(), w.Informer.HasSynced(), w.Informer.IsStopped(),
		w.Informer.LastSyncResourceVersion())
	w.transcript = append(w.transcript, b.String())
}

// Note adds a line of the script's own to the transcript.
func (w *World) Note(format string, args ...any) {
	w.transcript = append(w.transcript, fmt.Sprintf(format, args...))
}

// describe formats an object as name@version, and a tombstone with its key.
func describe(obj any) string {
	switch obj := obj.(type) {
	case cache.DeletedFinalStateUnknown:
		return fmt.Sprintf("%s (missed, %s)", describe(obj.Obj), obj.Key)
	case metav1.Object:
		return obj.GetName() + "@" + obj.GetResourceVersion()
	}
	return fmt.Sprint(obj)
}

// byLetter indexes objects by the letters of their names.
func byLetter(obj any) ([]string, error) {
	return strings.Split(obj.(metav1.Object).GetName(), ""), nil
}

// notOfBad indexes all objects except one, for which it fails.
func notOfBad(obj any) ([]string, error) {
	if obj.(metav1.Object).GetName() == "bad" {
		return nil, errors.New("no value")
	}
	return []string{"good"}, nil
}
