package listwatch

import (
	"context"
	"errors"
	"io"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/decode"
)

// RESTResource describes how to request a resource with client-go's REST client.
type RESTResource struct {
	// Client sends the requests.
	Client rest.Interface
	// Request makes the request of a list, or of a watch if opts.Watch is set.
	Request func(client rest.Interface, opts *metav1.ListOptions) *rest.Request
	// List is the type of the resource's lists, a pointer.
	List reflect.Type
}

// plain returns the resource's client without streaming.
func (r RESTResource) plain() untypedClient {
	return untypedClient{r, func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		list := reflect.New(r.List.Elem()).Interface().(runtime.Object)
		err := r.Request(r.Client, &opts).Do(ctx).Into(list)
		return list, err
	}}
}

// Watch opens a stream of changes.
func (r RESTResource) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return r.Request(r.Client, &opts).Watch(ctx)
}

// fromREST returns a source that decodes responses into the type of decoding, see
// [Streaming]. lease is that of the list to be read, nil without a budget.
func fromREST(resource RESTResource, decoding *decoding, lease *lease) Source {
	plain := &clientSource{
		resource: resource.plain,
		expected: expectation{goType: decoding.typ},
	}
	item, list := decoding.typ.Elem(), resource.List
	client, ok := resource.Client.(*rest.RESTClient)
	if !ok || !decoding.streams() || !decodesAsIs(client) || !isList(list, item) {
		return plain
	}
	return &restSource{
		resource: resource,
		client:   client,
		plain:    plain,
		decoding: decoding,
		lease:    lease,
		kind:     client.APIVersion().WithKind(item.Name()),
		listKind: client.APIVersion().WithKind(list.Elem().Name()),
		protobuf: decoding.decoder.HasProtobuf() && isProtobufList(list.Elem()),
	}
}

// isProtobufList reports whether a list has its metadata and its items where lists
// in protobuf have them.
func isProtobufList(list reflect.Type) bool {
	metadata, ok := list.FieldByName("ListMeta")
	items, _ := list.FieldByName("Items")
	return ok && len(items.Index) == 1 && strings.HasPrefix(metadata.Tag.Get("protobuf"), "bytes,1,opt,") &&
		strings.HasPrefix(items.Tag.Get("protobuf"), "bytes,2,rep,")
}

// isList reports whether a list has items of a type where lists have them.
func isList(list, item reflect.Type) bool {
	if list.Kind() != reflect.Pointer || list.Elem().Kind() != reflect.Struct {
		return false
	}
	items, ok := list.Elem().FieldByName("Items")
	if !ok || items.Type.Kind() != reflect.Slice {
		return false
	}
	name, _, _ := strings.Cut(items.Tag.Get("json"), ",")
	elem := items.Type.Elem()
	return name == "items" && (elem == item || elem == reflect.PointerTo(item))
}

type restSource struct {
	resource RESTResource
	client   *rest.RESTClient
	plain    Source
	decoding *decoding
	// kind and listKind are expected in objects and lists. Servers that send another
	// one, and types that are registered under another name than their own, are
	// left to client-go, which has a scheme.
	kind, listKind schema.GroupVersionKind
	// protobuf means that both have a protobuf encoding.
	protobuf bool
	// lease is that of the list to be read, nil without a budget.
	lease *lease
}

// streams reports whether to stream now.
func (s *restSource) streams(ctx context.Context) bool {
	return !s.decoding.fallback.Load() && !klog.FromContext(ctx).V(8).Enabled()
}

// errUnknownKind ends a list of another kind than the one that was requested.
var errUnknownKind = errors.New("the server sent a list of an unexpected kind")

func (s *restSource) List(
	ctx context.Context, opts metav1.ListOptions, item func(any) error,
) (ListMeta, error) {
	if !s.streams(ctx) {
		return s.plain.List(ctx, opts, item)
	}
	body := &listBody{decoder: s.decoding.decoder, protobuf: s.protobuf}
	begun := false
	body.visitor = decode.ListVisitor{
		Type: func(typ metav1.TypeMeta) error {
			if !isKind(typ, s.listKind) && typ != (metav1.TypeMeta{}) {
				s.decoding.fallback.Store(true)
				return errUnknownKind
			}
			return nil
		},
		Item: func(obj any) error {
			begun = true
			return item(obj)
		},
		Cached: s.decoding.cached,
	}
	if s.lease != nil {
		body.visitor.Before = func() error { return s.lease.wait(ctx) }
		body.visitor.Decoded = s.lease.charge
	}
	if opts.Continue == "" {
		s.decoding.begin()
	}
	result := s.resource.Request(intercept(s.client, body.of), &opts).Do(ctx)
	if !body.streamed {
		list := reflect.New(s.resource.List.Elem()).Interface().(runtime.Object)
		if err := result.Into(list); err != nil {
			return ListMeta{}, err
		}
		return readList(list, s.decoding.typ, item)
	}
	if errors.Is(body.err, errUnknownKind) && !begun {
		return s.plain.List(ctx, opts, item)
	}
	if body.err != nil {
		return ListMeta{}, body.err
	}
	if err := result.Error(); err != nil {
		return ListMeta{}, err
	}
	if body.meta.Continue == "" {
		s.decoding.end()
	}
	return ListMeta{ResourceVersion: body.meta.ResourceVersion, Continue: body.meta.Continue}, nil
}

func isKind(typ metav1.TypeMeta, kind schema.GroupVersionKind) bool {
	version, name := kind.ToAPIVersionAndKind()
	return typ.Kind == name && typ.APIVersion == version
}

// listBody is the body of a response. It decodes the list while client-go reads it, and
// appears empty to client-go.
type listBody struct {
	io.ReadCloser
	decoder *decode.Decoder
	visitor decode.ListVisitor
	// protobuf means that protobuf can be streamed as well as JSON.
	protobuf bool
	decode   func(io.Reader, decode.ListVisitor) (metav1.ListMeta, error)
	streamed bool
	read     bool
	// meta and err are the result. What failed while it was read isn't in err:
	// client-go reports that.
	meta metav1.ListMeta
	err  error
}

// of is the replacement of a response's body, see intercept.
func (b *listBody) of(mediaType string, body io.ReadCloser) io.ReadCloser {
	switch {
	case mediaType == runtime.ContentTypeJSON:
		b.decode = b.decoder.List
	case mediaType == runtime.ContentTypeProtobuf && b.protobuf:
		b.decode = b.decoder.ListProtobuf
	default:
		return nil
	}
	b.ReadCloser, b.streamed = body, true
	return b
}

func (b *listBody) Read([]byte) (int, error) {
	if b.read {
		return 0, io.EOF
	}
	b.read = true
	b.meta, b.err = b.decode(failureReader{b.ReadCloser}, b.visitor)
	if failure, ok := b.err.(*readFailure); ok {
		b.err = nil
		return 0, failure.error
	}
	return 0, io.EOF
}

// readFailure is an error of reading, whatever else may be the same error.
type readFailure struct{ error }

// failureReader marks the error that reading failed with.
type failureReader struct{ from io.Reader }

func (r failureReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && err != io.EOF {
		err = &readFailure{err}
	}
	return n, err
}
