package listwatch

import (
	"os"
	"reflect"
	"strconv"
	"sync/atomic"

	"github.com/kubewright/kubewright/runtime/internal/decode"
)

// StreamingVariable is the environment variable that turns streaming off for all sources
// of a process, with a value that [strconv.ParseBool] parses as false.
const StreamingVariable = "KUBEWRIGHT_STREAMING"

// DecodingOptions configure how a source streams. The zero value streams where possible
// and keeps all fields.
type DecodingOptions struct {
	// Drop lists fields that streaming skips, at almost no cost: JSON names joined by dots, such as
	// metadata.managedFields or spec.template. Elements of slices and maps have no step of their own:
	// spec.containers.env drops env of every container. A name that a type doesn't have drops nothing.
	// Objects that can't be streamed keep all fields.
	Drop []string
	// MetadataOnly drops everything but kind, apiVersion and metadata when streaming.
	MetadataOnly bool
	// ShareValues gives fields with the same text in several objects the same maps, slices and pointers,
	// which saves the most if objects resemble each other. Changing an object that wasn't copied first then
	// changes others, too. A source keeps at most 2 MB of text to share.
	ShareValues bool
	// KeepUnchanged makes a list in JSON return the cached object, without decoding it, if the list has it
	// with the same resourceVersion. By default, its text must also equal that in the previous list. Set it
	// only for objects that get a new version with every change. Objects whose fields the server fills in
	// don't: a new default or conversion of a CustomResourceDefinition changes the served object but not its
	// version.
	KeepUnchanged bool
	// Limiter, if not nil, bounds how many of the sources that share it read a list at a time, streamed or
	// not, and how many bytes those that stream may have decoded.
	Limiter *Limiter
	// Off turns streaming off: client-go reads and decodes whole responses.
	Off bool
}

// decode returns the options of the decoder.
func (o DecodingOptions) decode() decode.Options {
	return decode.Options{Drop: o.Drop, MetadataOnly: o.MetadataOnly, ShareValues: o.ShareValues}
}

// decoding is what the requests of one source have in common. It is safe for
// concurrent use.
type decoding struct {
	// typ is the objects' type, a pointer.
	typ     reflect.Type
	decoder *decode.Decoder
	off     bool
	// fallback is set when the server sends what only client-go's decoders understand:
	// they read everything from then on.
	fallback atomic.Bool
	// cached has a list bring what didn't change as it is cached.
	cached decode.Cached
}

// newDecoding returns the decoding of a source of objects of type t, a pointer. It
// streams unless opts or the environment turn that off.
func newDecoding(t reflect.Type, opts DecodingOptions) *decoding {
	on, err := strconv.ParseBool(os.Getenv(StreamingVariable))
	d := &decoding{typ: t, decoder: decode.New(t, opts.decode()), off: opts.Off || err == nil && !on}
	if !opts.KeepUnchanged {
		d.cached.Texts = &decode.Texts{}
	}
	return d
}

// begin and end enclose a list, which may have several pages.
func (d *decoding) begin() {
	if d.cached.Texts != nil {
		d.cached.Texts.Begin()
	}
}

func (d *decoding) end() {
	if d.cached.Texts != nil {
		d.cached.Texts.End()
	}
}

func (d *decoding) streams() bool { return !d.off }
