package clientsource

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/kubewright/kubewright/runtime/internal/decode"
	"github.com/kubewright/kubewright/runtime/internal/limits"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/internal/transport"
)

// listCall is one call of a list function. A transport gives it the bodies of the function's
// responses. It reads the lists of one collection, in any number of pages. If the function
// retries, it reads them again, from the first page on.
type listCall struct {
	call
	ctx      context.Context
	decoding *decoding
	kinds    *responseKinds
	// slot is that of the list, nil without a budget.
	slot *limits.Slot
	to   sources.Receiver
	// page is the continue token with which the function was called.
	page string

	// The lock of call guards what follows. After its end, objects that the function still reads are dropped.

	// unread is why a response was left to the client.
	unread string
	// broken is what can't be decoded in a response that was left to the client.
	broken error
	// several means that the function read more than one collection. Its list is read
	// again, in one piece.
	several bool
	// current is the body that is being read.
	current *listBody
	// accepted means that a list of collection was read, or is being read. complete, meta
	// and err are the result.
	accepted   bool
	collection string
	complete   bool
	meta       metav1.ListMeta
	err        error
}

// callListFunc calls the list function. During the call, transports hand its responses to c.
func (c *listCall) callListFunc(from collection, opts metav1.ListOptions) (runtime.Object, error) {
	defer c.endCall()
	return from.listWithin(transport.During(c.ctx, c), opts)
}

func (c *listCall) Left(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.leaveToClient(reason)
	}
}

// giveUp makes the client decode all further responses.
func (c *listCall) giveUp(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.decoding.giveUp(c.last.Credentials().Hide(reason))
}

// leaveToClient notes that a response is left to the client. The caller holds mu.
func (c *listCall) leaveToClient(reason string) {
	c.unread = c.last.Credentials().Hide(reason)
	c.several = c.several || c.accepted
}

func (c *listCall) Take(req *http.Request, contentType string, body io.ReadCloser) io.ReadCloser {
	collection, page := collectionOf(req.URL)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ended || c.unread != "":
		return nil
	case c.current != nil || c.accepted && !c.goesOn(collection, page):
		c.leaveToClient("the list function lists several collections")
		return nil
	}
	b := &listBody{
		call: c, real: body, collection: collection, first: c.isFirst(page),
	}
	switch mediaType, params, err := mime.ParseMediaType(contentType); {
	case err == nil && params["stream"] == "" && mediaType == runtime.ContentTypeJSON:
		b.decode, b.encode = c.decoding.decoder.List, encodeJSON
	case err == nil && params["stream"] == "" && mediaType == runtime.ContentTypeProtobuf &&
		c.kinds.protobuf && c.decoding.decoder.HasProtobuf():
		b.decode, b.encode = c.decoding.decoder.ListProtobuf, encodeProtobuf
	default:
		c.leaveToClient("the response is of type " + contentType)
		return nil
	}
	c.current = b
	return b
}

// isFirst reports whether a page is the first that the function is to read.
func (c *listCall) isFirst(page string) bool { return page == "" || page == c.page }

// goesOn reports whether a request continues the list: it is for the page after the last
// one that was read, or for the first page again.
func (c *listCall) goesOn(collection, page string) bool {
	return collection == c.collection && (c.isFirst(page) || c.err == nil && page == c.meta.Continue)
}

// collectionOf returns what identifies the collection of a request, and its continue token.
func collectionOf(u *url.URL) (collection, page string) {
	query := u.Query()
	page = query.Get("continue")
	for _, of := range []string{"continue", "limit", "resourceVersion", "resourceVersionMatch"} {
		query.Del(of)
	}
	return u.Host + u.Path + "?" + query.Encode(), page
}

// acceptBody notes that a body has the list of the source's objects.
func (c *listCall) acceptBody(b *listBody) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return errEnded
	}
	// If a response was left to the client before this one was read, the function has two lists.
	c.several = c.several || c.unread != ""
	again := c.accepted && b.first
	c.accepted, c.collection, c.complete, c.err = true, b.collection, false, nil
	if b.first && c.page == "" {
		c.decoding.beginList()
	}
	if again {
		return c.to.Restart()
	}
	return nil
}

// add hands over an object.
func (c *listCall) add(obj any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return errEnded
	}
	return c.to.Add(obj)
}

// end notes that a body is no longer read, unless another one is or the call has ended.
func (c *listCall) end(b *listBody, note func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == b && !c.ended {
		c.current = nil
		note()
	}
}

// finish notes the end of a body.
func (c *listCall) finish(b *listBody, meta metav1.ListMeta, err error) {
	c.end(b, func() { c.complete, c.meta, c.err = err == nil, meta, err })
}

// breaks notes what can't be decoded in a body that is left to the client.
func (c *listCall) breaks(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.broken = err
	}
}

// fail notes that a body can neither be read nor be left to the client.
func (c *listCall) fail(b *listBody, err error) {
	c.end(b, func() { c.accepted, c.collection, c.complete, c.err = true, b.collection, false, err })
}

// result returns the result of a list that was accepted. err is the function's.
func (c *listCall) result(err error) (sources.ListMeta, error) {
	var failure *readFailure
	switch {
	case errors.As(c.err, &failure) && err == nil:
		return sources.ListMeta{}, failure.error
	case c.err != nil && failure == nil:
		return sources.ListMeta{}, brokenError(c.last, c.err)
	case err != nil:
		return sources.ListMeta{}, explain(c.last, err, nil)
	case !c.complete:
		return sources.ListMeta{}, errAbandoned
	}
	if c.meta.Continue == "" {
		c.decoding.endList()
	}
	return sources.ListMeta{ResourceVersion: c.meta.ResourceVersion, Continue: c.meta.Continue}, nil
}

var (
	errEnded     = errors.New("the list function has returned")
	errAbandoned = errors.New("the list function didn't read the list to its end")
	errRefused   = errors.New("left to the client")
)

// listBody is the body of a list. The first Read decodes the whole list while it arrives; the
// client then reads the same list without items. A list of another kind is passed to the client
// unchanged.
type listBody struct {
	call *listCall
	real io.ReadCloser
	// recorder keeps what was read until the list is accepted, so that it can still be left to the client.
	recorder   head
	collection string
	// first means that the body has the first page.
	first  bool
	decode func(io.Reader, decode.ListVisitor) (metav1.ListMeta, error)
	encode func(runtime.Object) ([]byte, error)
	// accepted means that the list is of the expected kind. refused is why it isn't.
	accepted bool
	refused  string
	// decoded means that the next item was decoded, and not found in the cache.
	decoded bool
	typ     metav1.TypeMeta
	// rest is what the client reads.
	rest io.Reader
}

func (b *listBody) Close() error {
	b.call.end(b, func() {})
	return b.real.Close()
}

func (b *listBody) Read(p []byte) (int, error) {
	if b.rest == nil {
		b.rest = b.read()
	}
	return b.rest.Read(p)
}

// read decodes the list, and returns what the client reads in its place.
func (b *listBody) read() io.Reader {
	visitor := decode.ListVisitor{
		Type:    b.listType,
		Decoded: b.charge,
		Item:    b.item,
		Cached:  b.call.decoding.cached,
	}
	if slot := b.call.slot; slot != nil {
		visitor.Before = func() error { return slot.Wait(b.call.ctx) }
	}
	visitor.Wanted = sources.Wanted(b.call.ctx)
	meta, err := b.decode(failureReader{io.TeeReader(b.real, &b.recorder)}, visitor)
	var failure *readFailure
	switch {
	case errors.As(err, &failure) && !b.accepted:
		return io.MultiReader(bytes.NewReader(b.recorder.text), transport.ErrorReader(failure.error))
	case !b.accepted && isHostile(err):
		b.call.fail(b, err)
		return b.failed(err)
	case !b.accepted:
		why := errors.New(b.refused)
		if b.refused == "" {
			b.refused, why = "the list isn't understood: "+unnamed(err), err
			b.call.breaks(err)
		}
		if b.recorder.lost {
			b.call.giveUp(b.refused)
			err = fmt.Errorf("%w; the client decodes from now on", why)
			b.call.fail(b, err)
			return b.failed(err)
		}
		b.call.end(b, func() { b.call.leaveToClient(b.refused) })
		return io.MultiReader(bytes.NewReader(b.recorder.text), b.real)
	}
	b.call.finish(b, meta, err)
	switch {
	case failure != nil:
		return transport.ErrorReader(failure.error)
	case err != nil:
		return b.failed(err)
	}
	// Every list without items has this shape.
	return b.send(&metav1.PartialObjectMetadataList{
		TypeMeta: b.typ, ListMeta: meta, Items: []metav1.PartialObjectMetadata{},
	})
}

// isHostile reports whether a response was refused because it takes too much memory. Then the client must not
// read it either.
func isHostile(err error) bool {
	return errors.Is(err, decode.ErrTooLarge) || errors.Is(err, decode.ErrTooDeep)
}

// failed returns what the client reads in place of a list that failed: a Status, which makes
// the list function fail. An error of Read would do that, too, but client-go would log it.
func (b *listBody) failed(err error) io.Reader {
	return b.send(&metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure,
		Reason:   metav1.StatusReasonInternalError,
		Code:     http.StatusInternalServerError,
		Message:  err.Error(),
	})
}

func (b *listBody) send(obj runtime.Object) io.Reader {
	text, err := b.encode(obj)
	if err != nil {
		return transport.ErrorReader(err)
	}
	return bytes.NewReader(text)
}

// listType receives the kind of the list. In lists of custom resources, servers write it
// after the items; by then the list was accepted by the kind of its first item.
func (b *listBody) listType(typ metav1.TypeMeta) error {
	b.typ = typ
	if b.call.kinds.list(typ) {
		return b.acceptOnce()
	}
	if b.accepted {
		if typ == (metav1.TypeMeta{}) {
			return nil
		}
		b.call.giveUp(fmt.Sprintf("the server sent a list of kind %s", name(typ)))
		return fmt.Errorf("the server sent a list of an unexpected kind, %s; "+
			"the client decodes from now on", name(typ))
	}
	b.refused = fmt.Sprintf("the server sent a list of kind %s", name(typ))
	return errRefused
}

// name returns a kind for messages, cut off if it is too long.
func name(typ metav1.TypeMeta) string { return transport.Cut(typ.GroupVersionKind().String()) }

func (b *listBody) charge(size int) {
	b.decoded = true
	if b.call.slot != nil {
		b.call.slot.Charge(size)
	}
}

func (b *listBody) item(obj any) error {
	if !b.accepted {
		// A cached item needs no check: it came from this source before.
		if o, ok := obj.(runtime.Object); b.decoded && (!ok || !b.call.kinds.object(kindOf(o))) {
			b.refused = "the server sent a list whose kind isn't known before its items"
			return errRefused
		}
		if err := b.acceptOnce(); err != nil {
			return err
		}
	}
	if b.decoded { // Cached objects are shared and must not be changed.
		b.call.kinds.listed(obj)
	}
	b.decoded = false
	return b.call.add(obj)
}

func (b *listBody) acceptOnce() error {
	if b.accepted {
		return nil
	}
	b.accepted = true
	b.recorder.stop()
	return b.call.acceptBody(b)
}

// encodeJSON and encodeProtobuf encode what the client reads in place of a list.
func encodeJSON(obj runtime.Object) ([]byte, error) { return json.Marshal(obj) }

func encodeProtobuf(obj runtime.Object) ([]byte, error) {
	var text bytes.Buffer
	err := protobuf.NewSerializer(nil, nil).Encode(obj, &text)
	return text.Bytes(), err
}

// mostRecorded is how much is kept of a response until it is known whether it is left to the client.
const mostRecorded = 4 << 20

// readFailure marks an error of reading the response. The decoder may return an equal error for another
// cause.
type readFailure struct{ error }

func (f *readFailure) Unwrap() error { return f.error }

// failureReader wraps the errors of a reader in readFailure.
type failureReader struct{ from io.Reader }

func (r failureReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && err != io.EOF {
		err = &readFailure{err}
	}
	return n, err
}
