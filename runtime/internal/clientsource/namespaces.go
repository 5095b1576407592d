package clientsource

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubewright/kubewright/runtime/internal/decode"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/internal/transport"
)

// countedPage is how many objects a page of Namespaces has.
const countedPage = 500

// Namespaces lists the objects once, in pages, and calls each with the namespace of each object. It keeps no
// object. Where lists are streamed, the pages have only metadata.
func (s *source) Namespaces(ctx context.Context, each func(namespace string)) error {
	opts := metav1.ListOptions{Limit: countedPage}
	for {
		page, err := s.namespaces(ctx, opts, each)
		switch {
		case err != nil || page.Continue == "":
			return err
		case page.Continue == opts.Continue:
			return errors.New("the server sends the same page again")
		}
		opts.Continue = page.Continue
	}
}

func (s *source) namespaces(
	ctx context.Context, opts metav1.ListOptions, each func(namespace string),
) (page sources.ListMeta, err error) {
	c, err := s.prepare(&opts)
	if err != nil {
		return page, err
	}
	count := func(obj any) error {
		accessor, err := meta.Accessor(obj)
		if err == nil {
			each(accessor.GetNamespace())
		}
		return err
	}
	call := &metadataCall{add: count, whole: c.kinds == nil}
	call.drop = c.kinds != nil && s.decoding.asksToDrop
	defer func() { err = call.credentials().HideInError(err) }()
	list, err := c.listWithin(transport.During(ctx, call), opts)
	call.endCall()
	switch {
	case call.read:
		return call.page, call.err // The function has got an empty response.
	case err != nil:
		return page, err
	}
	return readList(list, s.itemType, count)
}

// metadataCall is one call of a list function for a page of metadata. A transport changes what the request
// accepts, and reads the response.
type metadataCall struct {
	plainCall
	// whole means that the client decodes whole objects.
	whole bool
	add   func(obj any) error

	// The lock of call guards these. read means that a response was read, page and err are the result.
	read bool
	page sources.ListMeta
	err  error
}

// Prepare makes a request accept a list of metadata, or whole objects if the server can't make one.
func (c *metadataCall) Prepare(req *http.Request) (drop bool) {
	if !c.whole {
		req.Header = req.Header.Clone()
		req.Header.Set("Accept",
			"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"+runtime.ContentTypeJSON)
	}
	return c.call.Prepare(req)
}

func (c *metadataCall) Take(_ *http.Request, contentType string, body io.ReadCloser) io.ReadCloser {
	if mediaType, _, err := mime.ParseMediaType(contentType); c.whole || err != nil ||
		mediaType != runtime.ContentTypeJSON {
		return nil
	}
	defer body.Close()
	decoder := decode.New(reflect.TypeFor[*metav1.PartialObjectMetadata](),
		decode.Options{Drop: []string{"metadata.managedFields", "metadata.annotations"}})
	page, err := decoder.List(body, decode.ListVisitor{Item: func(obj any) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.ended {
			return errEnded
		}
		return c.add(obj)
	}})
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ended:
	case c.read:
		c.err = errors.New("the list function lists several collections")
	default:
		c.read, c.err = true, err
		c.page = sources.ListMeta{ResourceVersion: page.ResourceVersion, Continue: page.Continue}
	}
	return io.NopCloser(strings.NewReader("{}"))
}
