package clientsource

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/decode"
	"github.com/kubewright/kubewright/runtime/internal/limits"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/internal/transport"
)

// watchCall is one call of a watch function. A transport gives it the body of the watch.
type watchCall struct {
	call
	decoding *decoding
	kinds    *responseKinds

	// The lock of call guards these. After its end, requests are left to the client, such as those of a
	// watcher that watches again by itself. unread is why a response was left to the client.
	unread string
	body   *watchBody
}

func (c *watchCall) Left(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.unread = c.last.Credentials().Hide(reason)
	}
}

func (c *watchCall) Take(req *http.Request, contentType string, real io.ReadCloser) io.ReadCloser {
	if watches, _ := strconv.ParseBool(req.URL.Query().Get("watch")); !watches {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ended || c.unread != "":
		return nil
	case c.body != nil:
		// Nothing was read yet.
		c.body.release()
		c.body, c.unread = nil, "the watch function opens several watches"
		return nil
	}
	body := &watchBody{real: real, closed: make(chan struct{}), released: make(chan struct{})}
	recorded := io.TeeReader(real, &body.recorder)
	switch mediaType, _, err := mime.ParseMediaType(contentType); {
	case err == nil && mediaType == runtime.ContentTypeJSON:
		body.events = c.decoding.decoder.Events(recorded)
	case err == nil && mediaType == runtime.ContentTypeProtobuf &&
		c.kinds.protobuf && c.decoding.decoder.HasProtobuf():
		body.events = c.decoding.decoder.EventsProtobuf(recorded)
	default:
		c.unread = c.last.Credentials().Hide("the response is of type " + contentType)
		return nil
	}
	c.body = body
	return body
}

// watchBody is what the client's own watcher reads in place of the response. A Read blocks until
// the body is closed, which also closes the real body, or released: then it reads what was
// recorded and the rest. The client's watcher stays open because closing its body would end the
// timeout of the HTTP client.
type watchBody struct {
	real     io.ReadCloser
	recorder head
	events   *decode.Events
	closed   chan struct{}
	close    sync.Once
	// released is closed when rest is set.
	released chan struct{}
	rest     io.Reader
}

func (b *watchBody) Read(p []byte) (int, error) {
	select {
	case <-b.closed:
		return 0, io.EOF
	case <-b.released:
		return b.rest.Read(p)
	}
}

// release lets the client read the whole body. Call it once, and not while the events are read.
func (b *watchBody) release() {
	b.rest = io.MultiReader(bytes.NewReader(b.recorder.text), b.real)
	close(b.released)
}

func (b *watchBody) Close() error {
	var err error
	b.close.Do(func() {
		close(b.closed)
		err = b.real.Close()
	})
	return err
}

// watchStream reads the events of a watch as they arrive.
type watchStream struct {
	body     *watchBody
	kinds    *responseKinds
	decoding *decoding
	// answer is the response.
	answer *transport.Answer
	// accepted means that the first event was of the expected kind. If it wasn't, fellBack is
	// set, and events come from the client, through fallback.
	accepted, fellBack bool
	fallback           *clientStream
	// listing means that the initial events haven't ended.
	listing bool
	// lag counts how old objects are. initial means that they may have existed before the watch: a watch from
	// no version begins with the existing objects, too, as if they were added. timed means that the last event
	// was read with its times.
	lag            *sources.Lag
	initial, timed bool
	// slot is that of the initial events, nil without a budget.
	slot *limits.Slot
	// done is that of the context that stops the stream; unwatch ends this link. Only the
	// reader uses both.
	done    <-chan struct{}
	unwatch func() bool
	stop    sync.Once
}

func (s *watchStream) Stop() {
	s.stop.Do(func() {
		s.fallback.stopWatch()
		// A wrapped watcher may not close the body, and blocks in Read until it is closed.
		s.body.Close()
		s.fallback.drain()
	})
}

func (s *watchStream) Next(ctx context.Context) (sources.Event, error) {
	if s.fellBack {
		return s.fallback.Next(ctx)
	}
	s.endWith(ctx)
	if err := ctx.Err(); err != nil {
		return sources.Event{}, err
	}
	if s.slot != nil {
		if err := s.slot.Wait(ctx); err != nil {
			return sources.Event{}, err
		}
	}
	s.body.events.Wait()
	return s.read(ctx)
}

// read returns the next event, which has begun to arrive.
func (s *watchStream) read(ctx context.Context) (sources.Event, error) {
	s.timed = s.lag.Started() && !s.initial
	s.body.events.ReadTimes(s.timed)
	raw, err := s.body.events.Next()
	if err != nil {
		return s.failed(ctx, err)
	}
	return s.event(ctx, raw)
}

// failed returns the event or the error that an error of reading becomes.
func (s *watchStream) failed(ctx context.Context, err error) (sources.Event, error) {
	if s.ends(ctx, err) {
		s.endWith(context.Background())
		return sources.Event{}, s.endError(ctx, err)
	}
	if !s.accepted && !isHostile(err) {
		reason := "the first event isn't understood: " + unnamed(err)
		if !s.body.recorder.lost {
			s.fallback.broken = err
			return s.fallBack(ctx, reason)
		}
		s.decoding.giveUp(s.answer.Credentials().Hide(reason))
	}
	s.endWith(context.Background())
	return sources.Event{}, undecodable(s.answer, err)
}

// event returns the event that was read.
func (s *watchStream) event(ctx context.Context, raw decode.Event) (sources.Event, error) {
	if raw.Type == watch.Error && raw.Status != nil {
		raw.Status.TypeMeta = metav1.TypeMeta{}
		return sources.Event{}, apierrors.FromObject(raw.Status)
	}
	if raw.Skipped {
		return sources.Event{Type: watch.Bookmark, ResourceVersion: raw.Version}, nil
	}
	if raw.FromCache {
		s.acceptOnce()
		return sources.Event{Type: raw.Type, Object: raw.Object, ResourceVersion: raw.Version}, nil
	}
	obj, ok := raw.Object.(object)
	if !ok || !s.kinds.object(kindOf(obj)) {
		kind := "unknown"
		if ok {
			kind = name(kindOf(obj))
		}
		reason := fmt.Sprintf("the server sent an event with an object of kind %s", kind)
		if !s.accepted && !s.body.recorder.lost {
			return s.fallBack(ctx, reason)
		}
		s.decoding.giveUp(s.answer.Credentials().Hide(reason))
		return sources.Event{}, undecodable(s.answer,
			fmt.Errorf("an object of an unexpected kind, %s; the client decodes from now on", kind))
	}
	s.acceptOnce()
	s.kinds.watched(obj)
	if raw.Type == watch.Error {
		return sources.Event{}, errorOf(s.answer, obj, nil)
	}
	if s.slot != nil && raw.Type != watch.Bookmark && raw.Type != watch.Deleted {
		s.slot.Charge(raw.Size)
	}
	return s.convert(raw, obj), nil
}

// acceptOnce notes that the events are of the expected kind.
func (s *watchStream) acceptOnce() {
	if !s.accepted {
		s.accepted = true
		s.body.recorder.stop()
	}
}

// fallBack makes the client read the watch, from its first event on.
func (s *watchStream) fallBack(ctx context.Context, reason string) (sources.Event, error) {
	s.endWith(context.Background())
	s.decoding.counts.takeBack(s.answer.Credentials().Hide(reason))
	s.fellBack = true
	s.body.release()
	return s.fallback.Next(ctx)
}

// endWith stops the stream when ctx is done. ctx is nearly always that of the previous
// call; then there is nothing to do.
func (s *watchStream) endWith(ctx context.Context) {
	if ctx.Done() == s.done {
		return
	}
	if s.unwatch != nil {
		s.unwatch()
		s.unwatch = nil
	}
	if s.done = ctx.Done(); s.done != nil {
		s.unwatch = context.AfterFunc(ctx, s.Stop)
	}
}

// ends reports whether an error is the end of the stream, and not one of its content.
func (s *watchStream) ends(ctx context.Context, err error) bool {
	select {
	case <-s.body.closed:
		return true
	default:
	}
	return ctx.Err() != nil || err == io.EOF || err == io.ErrUnexpectedEOF ||
		utilnet.IsProbableEOF(err) || utilnet.IsTimeout(err)
}

// endError returns the error for an end of the stream: ctx's, or io.EOF where client-go
// takes an error for the end of the connection.
func (s *watchStream) endError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	select {
	case <-s.body.closed:
		return io.EOF
	default:
	}
	switch logger := klog.FromContext(ctx); err {
	case io.EOF:
	case io.ErrUnexpectedEOF:
		logger.V(1).Info("Unexpected EOF during watch stream event decoding", "err", err)
	default:
		logger.V(5).Info("Unable to decode an event from the watch stream", "err", err)
	}
	return io.EOF
}

// object is an API object.
type object interface {
	runtime.Object
	metav1.Object
}

// noteLag sets Written of an event. It leaves out objects that are being deleted: the request for that
// doesn't change their managedFields, so they would be as old as their last change.
func (s *watchStream) noteLag(event *sources.Event, written int64) {
	if !s.timed || event.Type == watch.Deleted {
		return
	}
	switch deleted, known := decode.IsBeingDeleted(event.Object); {
	case deleted:
	case written == 0 || !known:
		s.lag.AddUntimed()
	default:
		event.Written = written
	}
}

func (s *watchStream) convert(raw decode.Event, obj object) sources.Event {
	event := sources.Event{Type: raw.Type, ResourceVersion: obj.GetResourceVersion()}
	if raw.Type != watch.Bookmark {
		event.Object = raw.Object
		s.noteLag(&event, raw.Written)
		s.initial = s.initial && (s.listing || raw.Type == watch.Added)
		return event
	}
	s.initial = s.initial && s.listing
	event.InitialEventsEnd = raw.InitialEventsEnd
	if s.listing && event.InitialEventsEnd {
		s.listing, s.initial, s.slot = false, false, nil
		s.decoding.counts.noteBytes(s.answer, true)
		s.body.events.End()
		s.decoding.endList()
	}
	return event
}
