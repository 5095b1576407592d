package clientsource

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/runtime/gen/client"
	"github.com/kubewright/kubewright/runtime/internal/decode"
	"github.com/kubewright/kubewright/runtime/internal/limits"
	"github.com/kubewright/kubewright/runtime/internal/observe"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/internal/transport"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// collection is how a client lists and watches a collection.
type collection struct {
	list  func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error)
	// kinds are those of the responses that are streamed, nil if none are; notStreamed is the
	// reason.
	kinds       *responseKinds
	notStreamed string
	// written is the client, if it remembers its writes.
	written client.Writing
}

// source reads a collection, as streams where possible.
type source struct {
	// collection returns the collection. It is called for each list and each watch.
	collection func() collection
	// tweak and lastTweak change the options of each request, in this order. Both may be nil.
	tweak, lastTweak func(*metav1.ListOptions)
	// lacksWatchList reports whether the client reports that it doesn't support WatchList
	// semantics.
	lacksWatchList func() bool
	// expected is what the object of an event must be. As in client-go, events with objects
	// of another type are dropped.
	expected expectation
	// itemType is the type that the items of lists must have, nil for any.
	itemType reflect.Type
	// decoding is nil in a source that never streams.
	decoding *decoding
	counts   *readingCounts
	// lag counts how old objects are when changes of them are streamed.
	lag     sources.Lag
	limiter *listwatch.Limiter
	// requested is the resource that requests were for.
	requested requested
	// paused is the slot of a list between two of its pages.
	paused atomic.Pointer[limits.Slot]
}

// decodeWith sets how objects of type t are decoded.
func (s *source) decodeWith(t reflect.Type, opts sources.Decoding) {
	s.decoding = newDecoding(t, opts, s.counts)
}

// Configure sets how the source decodes, what limits its lists, and a tweak of list options that follows the
// one it was made with, in place of what was set before. It returns false if the source is of a kind that
// never streams. Call it before the source is read.
func (s *source) Configure(
	opts sources.Decoding, limiter *listwatch.Limiter, tweak func(*metav1.ListOptions),
) (streams bool) {
	s.limiter, s.lastTweak = limiter, tweak
	if s.decoding == nil {
		return false
	}
	s.decodeWith(s.expected.goType, opts)
	return true
}

// UseCache gives the source access to the cache: lists then hand over the cached
// object if it hasn't changed. It returns false if the source doesn't stream. Call it
// before the source is read.
func (s *source) UseCache(lookUp func(decode.Identity) (any, bool)) bool {
	if s.decoding == nil || s.decoding.off != "" {
		return false
	}
	s.decoding.cached.LookUp = lookUp
	return true
}

// ShareFieldSets makes unstructured objects share the contents of their managedFields, see
// [decode.Decoder.ShareFieldSets]. Call it before the source is read.
func (s *source) ShareFieldSets() {
	if s.decoding != nil {
		s.decoding.decoder.ShareFieldSets()
	}
}

// Reading returns how the source has read its lists and watches.
func (s *source) Reading() listwatch.Reading {
	reading := s.counts.total()
	_, reading.DropSent = s.requested.get()
	return reading
}

// Lag returns what counts how old objects are when changes of them are streamed. Its user adds the objects
// that have Written; the source counts the others.
func (s *source) Lag() *sources.Lag { return &s.lag }

// Resource returns the resource that the source lists, as far as a transport has seen its requests; else it
// is empty.
func (s *source) Resource() schema.GroupVersionResource {
	resource, _ := s.requested.get()
	return resource
}

// Scope returns what the source requests, as of its last request.
func (s *source) Scope() observe.Scope { return s.requested.scoped() }

// IsWatchListSemanticsUnSupported is the method that client-go's util/watchlist looks for.
func (s *source) IsWatchListSemanticsUnSupported() bool { return s.lacksWatchList() }

// WrittenSince returns what the client remembers of its writes, see [client.Writing], without what was
// written up to the sequence number restored, if the client numbers its writes.
func (s *source) WrittenSince(namespace string, restored, after uint64) (client.Written, bool) {
	switch writing := s.collection().written.(type) {
	case nil:
		return client.Written{}, false
	case interface {
		WrittenSince(namespace string, restored, after uint64) (client.Written, bool)
	}:
		return writing.WrittenSince(namespace, restored, after)
	default:
		return writing.Written(namespace, after)
	}
}

var errNoClient = errors.New("no client to list and watch with")

// prepare applies tweak to the options of a request and returns the collection to read.
func (s *source) prepare(opts *metav1.ListOptions) (collection, error) {
	for _, tweak := range []func(*metav1.ListOptions){s.tweak, s.lastTweak} {
		if tweak != nil {
			tweak(opts)
		}
	}
	s.requested.plan(opts)
	c := s.collection()
	switch {
	case c.list == nil:
		return c, errNoClient
	case s.decoding == nil && c.notStreamed == "":
		c.kinds, c.notStreamed = nil, "the informer's list function may change objects"
	case s.decoding != nil && s.decoding.notStreamed() != "":
		c.kinds, c.notStreamed = nil, s.decoding.notStreamed()
	}
	return c, nil
}

func (s *source) List(
	ctx context.Context, opts metav1.ListOptions, to sources.Receiver,
) (sources.ListMeta, error) {
	c, err := s.prepare(&opts)
	if err != nil {
		return sources.ListMeta{}, err
	}
	slot, err := s.acquireSlot(ctx, opts.Continue != "")
	if err != nil {
		return sources.ListMeta{}, err
	}
	// The slot ends even if the receiver panics: the reflector may live on.
	kept := false
	defer func() {
		if !kept {
			slot.End()
		}
	}()
	page, err := s.list(ctx, c, opts, slot, to)
	if kept = err == nil && page.Continue != "" && slot.Pause(ctx); kept {
		s.paused.Swap(slot).End()
	}
	return page, err
}

func (s *source) list(
	ctx context.Context, c collection, opts metav1.ListOptions, slot *limits.Slot, to sources.Receiver,
) (page sources.ListMeta, err error) {
	if c.kinds == nil {
		return s.listWhole(ctx, c, opts, to, c.notStreamed)
	}
	call := &listCall{
		call: call{requested: &s.requested, drop: s.decoding.asksToDrop}, ctx: ctx, decoding: s.decoding,
		kinds: c.kinds, slot: counting(slot), to: to, page: opts.Continue,
	}
	defer func() { err = call.last.Credentials().HideInError(err) }()
	list, err := call.callListFunc(c, opts)
	switch {
	case call.several && ctx.Err() == nil:
		// The function will list several collections each time, so the client decodes all
		// further responses.
		s.decoding.giveUp(call.unread)
		if err := to.Restart(); err != nil {
			return sources.ListMeta{}, err
		}
		return s.listWhole(ctx, c, opts, to, call.unread)
	case call.accepted:
		page, err := call.result(err)
		if err == nil {
			s.counts.note(streamed, "")
			s.counts.noteBytes(call.last, opts.Continue == "")
		}
		return page, err
	case err != nil:
		return sources.ListMeta{}, explain(call.last, err, func(*transport.Answer) error { return call.broken })
	}
	s.noteLeft(call.seen, call.unread)
	s.counts.noteBytes(call.last, opts.Continue == "")
	return readList(list, s.itemType, to.Add)
}

// noteLeft counts a page or a watch that was left to the client.
func (s *source) noteLeft(seen bool, unread string) {
	switch {
	case !seen:
		s.counts.note(unseen, errUnseen)
	case unread != "":
		s.counts.note(whole, unread)
	}
	// Otherwise there was no response: client-go opens an empty watch if it can't connect.
}

// errUnseen is why a list or watch wasn't streamed: no transport saw its request.
const errUnseen = "no transport of listwatch.Wrap saw the request: the HTTP client has none, " +
	"or the list function doesn't pass on its context"

// listWhole makes the client decode a list. reason is why it isn't streamed.
func (s *source) listWhole(
	ctx context.Context, c collection, opts metav1.ListOptions, to sources.Receiver, reason string,
) (sources.ListMeta, error) {
	call := plainCall{call: call{requested: &s.requested}}
	if s.expected.isPointer() {
		call.keep = func() transport.Kept { return &head{} }
	}
	list, err := c.listWithin(transport.During(ctx, &call), opts)
	if err != nil {
		err = explain(call.answer(), err, s.brokenIn)
		return sources.ListMeta{}, call.credentials().HideInError(err)
	}
	s.counts.note(whole, reason)
	s.counts.noteBytes(call.answer(), opts.Continue == "")
	return readList(list, s.itemType, to.Add)
}

func (s *source) Watch(ctx context.Context, opts metav1.ListOptions) (sources.Stream, error) {
	c, err := s.prepare(&opts)
	if err != nil {
		return nil, err
	}
	if s.limiter == nil || !isListing(opts) {
		return s.watch(ctx, c, opts, nil)
	}
	slot, err := s.acquireSlot(ctx, false)
	if err != nil {
		return nil, err
	}
	opened := false
	defer func() {
		if !opened {
			slot.End()
		}
	}()
	stream, err := s.watch(ctx, c, opts, slot)
	if err != nil {
		return nil, err
	}
	opened = true
	slot.EndWith(ctx)
	return &limitedStream{Stream: stream, slot: slot}, nil
}

func (s *source) watch(
	ctx context.Context, c collection, opts metav1.ListOptions, slot *limits.Slot,
) (sources.Stream, error) {
	if c.kinds == nil {
		call := plainCall{call: call{requested: &s.requested}}
		if s.expected.isPointer() {
			call.keep = func() transport.Kept { return &tail{} }
		}
		w, err := c.watch(transport.During(ctx, &call), opts)
		if err != nil {
			return nil, call.credentials().HideInError(explain(call.answer(), err, nil))
		}
		s.counts.note(whole, c.notStreamed)
		return hideInStream(call.credentials(), clientStreamOf(w, s.expected, call.answer())), nil
	}
	call := &watchCall{call: call{requested: &s.requested, drop: s.decoding.asksToDrop}, decoding: s.decoding,
		kinds: c.kinds}
	w, err := c.watch(transport.During(ctx, call), opts)
	call.endCall()
	body := call.body
	switch {
	case err != nil:
		if body != nil {
			body.Close() // The watch function may have left it open.
		}
		return nil, call.last.Credentials().HideInError(explain(call.last, err, nil))
	case body == nil:
		s.noteLeft(call.seen, call.unread)
		return hideInStream(call.last.Credentials(), clientStreamOf(w, s.expected, call.last)), nil
	}
	s.counts.note(streamed, "")
	stream := &watchStream{
		body: body, kinds: c.kinds, decoding: s.decoding, answer: call.last,
		fallback: clientStreamOf(w, s.expected, call.last), lag: &s.lag,
		initial: isListing(opts) || opts.ResourceVersion == "" || opts.ResourceVersion == "0",
	}
	body.events.Want(sources.Wanted(ctx))
	if isListing(opts) {
		s.decoding.beginList()
		body.events.Begin(s.decoding.cached)
		stream.listing, stream.slot = true, counting(slot)
	}
	return hideInStream(call.last.Credentials(), stream), nil
}

// acquireSlot returns the slot of a list: that of the page before if the list continues,
// otherwise a new one. It ends the slot of an abandoned list.
func (s *source) acquireSlot(ctx context.Context, goesOn bool) (*limits.Slot, error) {
	if s.limiter == nil {
		return nil, nil
	}
	paused := s.paused.Swap(nil)
	if goesOn && paused.Resume() {
		return paused, nil
	}
	paused.End()
	return s.limiter.Enter(ctx)
}

// counting returns the slot if it has a budget, otherwise nil.
func counting(slot *limits.Slot) *limits.Slot {
	if slot.Counts() {
		return slot
	}
	return nil
}
