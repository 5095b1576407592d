package listwatch

import (
	"os"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/kubewright/kubewright/runtime/internal/decode"
)

// streamingVariable is the environment variable that turns streaming off for all sources
// of a process, with a value that [strconv.ParseBool] parses as false.
const streamingVariable = "KUBEWRIGHT_STREAMING"

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
	// changes others, too: a transform must not write into maps, slices or pointees. A source keeps at most
	// 2 MB of text to share.
	ShareValues bool
	// KeepUnchanged makes a list in JSON return the cached object, without decoding the listed one, if both
	// have the same resourceVersion. By default, the text of the object must also equal that in the previous
	// list. Set it only for objects that get a new version with every change. Objects whose fields the server
	// fills in don't: a new default or conversion of a CustomResourceDefinition changes the served object but
	// not its version.
	KeepUnchanged bool
	// Limiter, if not nil, bounds how many of the sources that share it read a list at a time, streamed or
	// not. With a budget it also bounds how many bytes the streaming sources may have decoded.
	Limiter *Limiter
	// MaxObject is the largest size in bytes of an object's text, in lists and watches that are streamed. Zero
	// is 64 MB (64 << 20). A list or watch with a larger object fails; so does one with an object whose values,
	// without its strings, take more than four times as much memory. Without streaming there is no such limit
	// for lists, and client-go's limit of 16 MB for the events of watches.
	MaxObject int
	// Off turns streaming off: client-go reads and decodes whole responses.
	Off bool
}

// decode returns the options of the decoder.
func (o DecodingOptions) decode() decode.Options {
	return decode.Options{Drop: o.Drop, MetadataOnly: o.MetadataOnly, ShareValues: o.ShareValues,
		MaxObject: o.MaxObject}
}

// Reading is how a source has read its lists and watches.
type Reading struct {
	// Streamed counts the pages of lists and the watches that were read as streams, Whole
	// those that the client decoded. Of these, Unseen counts those that could have been
	// streams but were not seen by a transport: [Wrap] isn't installed in the HTTP client, or
	// the list function doesn't pass on its context.
	Streamed, Whole, Unseen int
	// NotStreamed is why the last page or watch wasn't read as a stream, "" if it was.
	NotStreamed string
}

// tally counts for a source's Reading. It is safe for concurrent use.
type tally struct {
	mu sync.Mutex
	Reading
}

// How a page or a watch was read.
const (
	streamed = iota
	whole
	unseen
)

// note counts a page or a watch. notStreamed is why it wasn't streamed.
func (t *tally) note(how int, notStreamed string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.NotStreamed = notStreamed
	switch how {
	case streamed:
		t.Streamed++
	case unseen:
		t.Unseen++
		fallthrough
	case whole:
		t.Whole++
	}
}

// takeBack counts the last watch, which was to be streamed, as read in one piece.
func (t *tally) takeBack(notStreamed string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Streamed--
	t.Whole++
	t.NotStreamed = notStreamed
}

func (t *tally) total() Reading {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Reading
}

// decoding is shared by the requests of one source. It is safe for concurrent use.
type decoding struct {
	decoder *decode.Decoder
	// off is why nothing is streamed, "" if it is.
	off string
	// gaveUp is why the client decodes all further responses: the server sent something that
	// only the client understands, or the list function lists several collections. It is nil
	// until that happens.
	gaveUp atomic.Pointer[string]
	// cached makes lists return unchanged objects from the cache.
	cached decode.Cached
	tally  *tally
}

// newDecoding returns the decoding of a source of objects of type t, a pointer. It
// streams unless opts or the environment turn that off.
func newDecoding(t reflect.Type, opts DecodingOptions, tally *tally) *decoding {
	d := &decoding{decoder: decode.New(t, opts.decode()), tally: tally}
	switch on, err := strconv.ParseBool(os.Getenv(streamingVariable)); {
	case opts.Off:
		d.off = "the decoding options turn streams off"
	case err == nil && !on:
		d.off = "the environment variable " + streamingVariable + " turns streams off"
	}
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

// giveUp makes the client decode all further responses.
func (d *decoding) giveUp(reason string) { d.gaveUp.Store(&reason) }

// notStreamed returns why nothing is streamed, "" if it is.
func (d *decoding) notStreamed() string {
	if gaveUp := d.gaveUp.Load(); gaveUp != nil {
		return *gaveUp
	}
	return d.off
}
