package listwatch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/decode"
)

func (s *restSource) Watch(ctx context.Context, opts metav1.ListOptions) (Stream, error) {
	if !s.streams(ctx) {
		return s.plain.Watch(ctx, opts)
	}
	opts.Watch = true
	var body *watchBody
	var events *decode.Events
	w, err := s.resource.Request(
		intercept(s.client, func(mediaType string, real io.ReadCloser) io.ReadCloser {
			switch {
			case mediaType == runtime.ContentTypeJSON:
				events = s.decoding.decoder.Events(real)
			case mediaType == runtime.ContentTypeProtobuf && s.protobuf:
				events = s.decoding.decoder.EventsProtobuf(real)
			default:
				return nil
			}
			body = &watchBody{real: real, closed: make(chan struct{})}
			return body
		}), &opts).Watch(ctx)
	if err != nil {
		return nil, err
	}
	if body == nil {
		return newStream(w, expectation{goType: s.decoding.typ}), nil
	}
	stream := &restStream{watch: w, events: events, body: body, kind: s.kind, decoding: s.decoding}
	if isListing(opts) {
		s.decoding.begin()
		events.Begin(s.decoding.cached)
		stream.listing, stream.lease = true, s.lease
	}
	return stream, nil
}

// watchBody is what client-go's own watcher reads in place of the response: it blocks
// until it is closed, and then closes the real body. The watcher is kept because a
// client's timeout ends with the body that it was given.
type watchBody struct {
	real   io.ReadCloser
	closed chan struct{}
	close  sync.Once
}

func (b *watchBody) Read([]byte) (int, error) {
	<-b.closed
	return 0, io.EOF
}

func (b *watchBody) Close() error {
	var err error
	b.close.Do(func() {
		close(b.closed)
		err = b.real.Close()
	})
	return err
}

// restStream reads the events of a watch as they arrive.
type restStream struct {
	watch    watch.Interface
	events   *decode.Events
	body     *watchBody
	kind     schema.GroupVersionKind
	decoding *decoding
	// listing means that the initial events haven't ended.
	listing bool
	// lease is that of the initial events, nil without a budget.
	lease *lease
	// done is of the context that stops the stream; unwatch takes that back. Only
	// the reader uses both.
	done    <-chan struct{}
	unwatch func() bool
}

func (s *restStream) Stop() { s.watch.Stop() }

func (s *restStream) Next(ctx context.Context) (Event, error) {
	s.endWith(ctx)
	if err := ctx.Err(); err != nil {
		return Event{}, err
	}
	if s.lease != nil {
		if err := s.lease.wait(ctx); err != nil {
			return Event{}, err
		}
	}
	raw, err := s.events.Next()
	if err != nil {
		s.endWith(context.Background())
		return Event{}, s.failure(ctx, err)
	}
	if raw.Type == watch.Error {
		return Event{}, s.serverError(raw)
	}
	if raw.Known {
		return Event{Type: raw.Type, Object: raw.Object, ResourceVersion: raw.Version}, nil
	}
	if s.lease != nil && raw.Type != watch.Bookmark && raw.Type != watch.Deleted {
		s.lease.charge(raw.Size)
	}
	return s.convert(raw)
}

// endWith stops the stream when ctx is done. That is nearly always the context of the
// call before, for which there is nothing to do.
func (s *restStream) endWith(ctx context.Context) {
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

// failure returns the error of a stream that can't be read: io.EOF where client-go takes
// it for the end of the connection, else the error that client-go makes.
func (s *restStream) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	select {
	case <-s.body.closed:
		return io.EOF
	default:
	}
	logger := klog.FromContext(ctx)
	switch {
	case err == io.EOF:
		return err
	case err == io.ErrUnexpectedEOF:
		logger.V(1).Info("Unexpected EOF during watch stream event decoding", "err", err)
		return io.EOF
	case utilnet.IsProbableEOF(err) || utilnet.IsTimeout(err):
		logger.V(5).Info("Unable to decode an event from the watch stream", "err", err)
		return io.EOF
	}
	return undecodable(err)
}

func undecodable(err error) error {
	const status, reason = http.StatusInternalServerError, "ClientWatchDecoding"
	err = fmt.Errorf("unable to decode an event from the watch stream: %w", err)
	return apierrors.FromObject(apierrors.NewClientErrorReporter(status, http.MethodGet,
		reason).AsObject(err))
}

// serverError returns the error of an Error event.
func (s *restStream) serverError(raw decode.Event) error {
	if raw.Status != nil {
		raw.Status.TypeMeta = metav1.TypeMeta{}
		return apierrors.FromObject(raw.Status)
	}
	obj, err := s.object(raw.Object)
	if err != nil {
		return err
	}
	return apierrors.FromObject(obj)
}

// object is an API object of the resource.
type object interface {
	runtime.Object
	metav1.Object
}

// object returns the object of an event. It clears the object's kind, as client-go does
// with watched objects.
func (s *restStream) object(decoded any) (object, error) {
	obj, ok := decoded.(object)
	if ok && s.isExpected(obj) {
		return obj, nil
	}
	s.decoding.fallback.Store(true)
	kind := "nothing"
	if ok {
		kind = obj.GetObjectKind().GroupVersionKind().String()
	}
	return nil, undecodable(
		fmt.Errorf("an object of kind %s, not %v; client-go decodes from now on", kind, s.kind))
}

func (s *restStream) convert(raw decode.Event) (Event, error) {
	obj, err := s.object(raw.Object)
	if err != nil {
		return Event{}, err
	}
	event := Event{Type: raw.Type, ResourceVersion: obj.GetResourceVersion()}
	if raw.Type == watch.Bookmark {
		event.InitialEventsEnd = obj.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
		if s.listing && event.InitialEventsEnd {
			s.listing, s.lease = false, nil
			s.events.End()
			s.decoding.end()
		}
		return event, nil
	}
	event.Object = raw.Object
	return event, nil
}

// isExpected reports whether an object is of the resource's kind, and clears its kind
// then.
func (s *restStream) isExpected(obj runtime.Object) bool {
	if typ, ok := obj.GetObjectKind().(*metav1.TypeMeta); ok {
		if !isKind(*typ, s.kind) {
			return false
		}
		*typ = metav1.TypeMeta{}
		return true
	}
	if obj.GetObjectKind().GroupVersionKind() != s.kind {
		return false
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return true
}
