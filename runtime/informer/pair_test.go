package informer_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/gen/informer"
)

// pair is one of our informers and one of client-go's over one server, with equal handlers. After each step
// both sides' handlers must have received the same calls.
type pair struct {
	t      *testing.T
	server *server
	ours   made
	theirs cache.SharedIndexInformer
	// handlers has all handlers by number. Removed ones stay, to check that they receive nothing.
	handlers []*handlerPair
	// calls counts the calls of handlers.
	calls int
	stop  func()
}

type handlerPair struct {
	number             int
	ours, theirs       *recorder
	oursReg, theirsReg cache.ResourceEventHandlerRegistration
}

func newPair(t *testing.T, opts informer.Options) *pair {
	s := newServer()
	return &pair{t: t, server: s, ours: s.ours(opts), theirs: s.theirs(opts)}
}

func (p *pair) start() {
	ctx, cancel := context.WithCancel(p.t.Context())
	done := make(chan struct{}, 2)
	go func() { p.ours.RunWithContext(ctx); done <- struct{}{} }()
	go func() { p.theirs.RunWithContext(ctx); done <- struct{}{} }()
	p.stop = func() { cancel(); <-done; <-done; p.stop = nil }
}

// handle adds a handler. A negative period means the default. Every other one of our handlers is typed.
func (p *pair) handle(resync time.Duration) *handlerPair {
	p.t.Helper()
	h := &handlerPair{number: len(p.handlers), ours: &recorder{}, theirs: &recorder{}}
	var options cache.HandlerOptions
	if resync >= 0 {
		options.ResyncPeriod = &resync
	}
	var err, theirErr error
	if h.number%2 == 0 {
		h.oursReg, err = p.ours.AddEventHandlerWithOptions(h.ours, options)
	} else {
		h.oursReg, err = p.ours.AddTypedEventHandler(typedRecorder{h.ours}, options)
	}
	h.theirsReg, theirErr = p.theirs.AddEventHandlerWithOptions(h.theirs, options)
	if (err == nil) != (theirErr == nil) {
		p.t.Fatalf("adding a handler: ours says %v, theirs %v", err, theirErr)
	}
	p.handlers = append(p.handlers, h)
	return h
}

func (p *pair) unhandle(h *handlerPair) {
	p.t.Helper()
	if err := p.ours.RemoveEventHandler(h.oursReg); err != nil {
		p.t.Fatal(err)
	}
	if err := p.theirs.RemoveEventHandler(h.theirsReg); err != nil {
		p.t.Fatal(err)
	}
}

// recover waits until both sides watch again after their watches ended, and for one second more: a watch that
// ends within its first second is followed by a list.
func (p *pair) recover() {
	p.server.awaitWatches(2)
	bubble.Pass(time.Second)
}

// check waits until all goroutines block and compares.
func (p *pair) check(step string) {
	p.t.Helper()
	synctest.Wait()
	for _, h := range p.handlers {
		ours, theirs := inOrder(h.ours.take()), inOrder(h.theirs.take())
		p.calls += len(theirs)
		if !slices.Equal(ours, theirs) {
			p.t.Fatalf("%s: after %s, handler %d:\nours   %q\ntheirs %q", guarantee.Complete, step, h.number,
				ours, theirs)
		}
		if h.oursReg != nil && h.oursReg.HasSynced() != h.theirsReg.HasSynced() {
			p.t.Fatalf("%s: after %s, handler %d has synced: ours %v, theirs %v", guarantee.SyncedMeansDelivered,
				step, h.number,
				h.oursReg.HasSynced(), h.theirsReg.HasSynced())
		}
	}
	if p.ours.HasSynced() != p.theirs.HasSynced() || p.ours.IsStopped() != p.theirs.IsStopped() {
		p.t.Fatalf("%s: after %s: synced %v and %v, stopped %v and %v", guarantee.SyncedMeansDelivered, step,
			p.ours.HasSynced(), p.theirs.HasSynced(), p.ours.IsStopped(), p.theirs.IsStopped())
	}
	if ours, theirs := p.ours.LastSyncResourceVersion(), p.theirs.LastSyncResourceVersion(); ours != theirs {
		p.t.Fatalf("%s: after %s: last version %q and %q", guarantee.NoTimeTravel, step, ours, theirs)
	}
	ourKeys, theirKeys := p.ours.GetStore().ListKeys(), p.theirs.GetStore().ListKeys()
	slices.Sort(ourKeys)
	slices.Sort(theirKeys)
	if !slices.Equal(ourKeys, theirKeys) {
		p.t.Fatalf("%s: after %s: store has %q, theirs %q", guarantee.Complete, step, ourKeys, theirKeys)
	}
	// An object without a version makes client-go's store forget its own.
	if ours, theirs := p.ours.GetStore().LastStoreSyncResourceVersion(),
		p.theirs.GetStore().LastStoreSyncResourceVersion(); ours != theirs && theirs != "" {
		p.t.Fatalf("%s: after %s: the store's version is %q, theirs %q", guarantee.NoTimeTravel, step, ours, theirs)
	}
}
