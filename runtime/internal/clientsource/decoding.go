package clientsource

import (
	"errors"
	"os"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/kubewright/kubewright/runtime/internal/decode"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/internal/transport"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// streamingVariable is the environment variable that turns streaming off for all sources
// of a process, with a value that [strconv.ParseBool] parses as false.
const streamingVariable = "KUBEWRIGHT_STREAMING"

// readingCounts counts for a source's Reading. It is safe for concurrent use.
type readingCounts struct {
	mu sync.Mutex
	listwatch.Reading
}

// How a page or a watch was read.
const (
	streamed = iota
	whole
	unseen
)

// note counts a page or a watch. notStreamed is why it wasn't streamed.
func (t *readingCounts) note(how int, notStreamed string) {
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

// unnamed returns the text of an error of decoding without the name of the object, for listwatch.Reading:
// that is shown where names may not be. Errors have it in a field.
func unnamed(err error) string {
	var broken *decode.Error
	if !errors.As(err, &broken) {
		return err.Error()
	}
	without := *broken
	without.Namespace, without.Name = "", ""
	return without.Error()
}

// noteBytes counts the bytes of a page that was read. The first page is that of another list.
func (t *readingCounts) noteBytes(answer *transport.Answer, first bool) {
	if answer == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if first {
		t.ListBytes = 0
	}
	t.ListBytes += answer.Body().Length
}

// takeBack counts the last watch, which was to be streamed, as read in one piece.
func (t *readingCounts) takeBack(notStreamed string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Streamed--
	t.Whole++
	t.NotStreamed = notStreamed
}

func (t *readingCounts) total() listwatch.Reading {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Reading
}

// decoding is shared by the requests of one source. It is safe for concurrent use.
type decoding struct {
	decoder *decode.Decoder
	// off is why nothing is streamed, "" if it is.
	off string
	// asksToDrop means that servers are asked to leave metadata.managedFields out. The decoder skips it in any
	// case, because they need not.
	asksToDrop bool
	// gaveUp is why the client decodes all further responses: the server sent something that
	// only the client understands, or the list function lists several collections. It is nil
	// until that happens.
	gaveUp atomic.Pointer[string]
	// cached makes lists return unchanged objects from the cache.
	cached decode.Cached
	counts *readingCounts
}

// newDecoding returns the decoding of a source of objects of type t, a pointer. It
// streams unless opts or the environment turn that off.
func newDecoding(t reflect.Type, opts sources.Decoding, counts *readingCounts) *decoding {
	d := &decoding{counts: counts, decoder: decode.New(t, decode.Options{Drop: opts.Drop,
		MetadataOnly: opts.MetadataOnly, ShareValues: opts.ShareValues, MaxObject: opts.MaxObject}),
		asksToDrop: !opts.NoServerDrop && dropsOnlyManagedFields(opts)}
	switch on, err := strconv.ParseBool(os.Getenv(streamingVariable)); {
	case opts.Off:
		d.off = "the option NoStreams turns streams off"
	case err == nil && !on:
		d.off = "the environment variable " + streamingVariable + " turns streams off"
	}
	if !opts.KeepUnchanged {
		d.cached.Texts = &decode.Texts{}
	}
	return d
}

// dropsOnlyManagedFields reports whether metadata.managedFields is all that is dropped.
func dropsOnlyManagedFields(opts sources.Decoding) bool {
	return len(opts.Drop) > 0 && !opts.MetadataOnly && !slices.ContainsFunc(opts.Drop, func(field string) bool {
		return field != "metadata.managedFields"
	})
}

// beginList and endList enclose a list, which may have several pages.
func (d *decoding) beginList() {
	if d.cached.Texts != nil {
		d.cached.Texts.Begin()
	}
}

func (d *decoding) endList() {
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
