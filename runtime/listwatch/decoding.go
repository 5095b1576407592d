package listwatch

import (
	"os"
	"reflect"
	"strconv"
	"sync/atomic"

	"github.com/kubewright/kubewright/runtime/internal/decode"
)

// StreamingVariable is the environment variable that turns streams off for all
// sources of a process, by a value that [strconv.ParseBool] takes for false.
const StreamingVariable = "KUBEWRIGHT_STREAMING"

// DecodingOptions say how a source streams. The zero value streams everything,
// where it can.
type DecodingOptions struct {
	// Drop are fields that streams skip, so that they cost next to nothing: JSON
	// names joined by dots, as in metadata.managedFields or spec.template. The
	// elements of slices and maps have no step of their own: spec.containers.env
	// drops env of every container. A name that no type has drops nothing. What
	// can't be streamed is kept as a whole.
	Drop []string
	// MetadataOnly has streams drop everything but kind, apiVersion and metadata.
	MetadataOnly bool
	// ShareValues gives fields that have the same text in several objects the
	// same maps, slices and pointers, which saves the most where objects are
	// copies of each other. Whoever then changes an object without copying it
	// first changes others, too. A source keeps at most 2 MB of text to share.
	ShareValues bool
	// KeepUnchanged has a list in JSON bring an object that is cached already,
	// with the resourceVersion that it has in the list, as it is cached, without
	// decoding it. Without this option that is done only where the text is the
	// same, too, as in the list before. It is for objects whose every change has
	// a new version. That isn't so where the server fills in what it doesn't
	// store: a new default or another conversion of a CustomResourceDefinition
	// changes what is served and not the version.
	KeepUnchanged bool
	// Limiter, if not nil, says how many sources that share it may read a list
	// at a time, streamed or not, and how much of their lists those that stream
	// may have decoded.
	Limiter *Limiter
	// Off has everything read by client-go, in one piece.
	Off bool
}

// decode returns what the decoder needs to know.
func (o DecodingOptions) decode() decode.Options {
	return decode.Options{Drop: o.Drop, MetadataOnly: o.MetadataOnly, ShareValues: o.ShareValues}
}

// Decoding is what the requests of one source have in common: a decoder, and
// whether something came up that only client-go's decoders understand. It is safe
// for concurrent use.
type Decoding struct {
	// typ is the objects' type, a pointer.
	typ     reflect.Type
	decoder *decode.Decoder
	off     bool
	unfit   atomic.Bool
	// cached has a list bring what didn't change as it is cached.
	cached decode.Cached
}

// NewDecoding returns what a source of objects of type t, a pointer, needs to
// stream, if neither opts nor the environment have anything against it.
func NewDecoding(t reflect.Type, opts DecodingOptions) *Decoding {
	on, err := strconv.ParseBool(os.Getenv(StreamingVariable))
	d := &Decoding{typ: t, decoder: decode.New(t, opts.decode()), off: opts.Off || err == nil && !on}
	if !opts.KeepUnchanged {
		d.cached.Texts = &decode.Texts{}
	}
	return d
}

// begin and end enclose a list, which may have several pages. They may be called
// for lists of which nothing is cached.
func (d *Decoding) begin() {
	if d.cached.Texts != nil {
		d.cached.Texts.Begin()
	}
}

func (d *Decoding) end() {
	if d.cached.Texts != nil {
		d.cached.Texts.End()
	}
}

func (d *Decoding) streams() bool { return !d.off }
