package listwatch

import (
	"os"
	"strconv"
	"sync/atomic"

	"github.com/kubewright/kubewright/runtime/decode"
)

// StreamingVariable is the environment variable that turns streams off for all
// sources of a process, by a value that [strconv.ParseBool] takes for false.
const StreamingVariable = "KUBEWRIGHT_STREAMING"

// DecodingOptions say how a source streams. The zero value streams everything,
// where it can.
type DecodingOptions struct {
	// Options say what streams keep and share. What can't be streamed is kept
	// as a whole.
	decode.Options
	// KeepUnchanged has a list in JSON bring an object that is cached already,
	// with the resourceVersion that it has in the list, as it is cached, without
	// decoding it. It is for objects whose every change has a new version. That
	// isn't so where the server fills in what it doesn't store: a new default
	// or another conversion of a CustomResourceDefinition changes what is served
	// and not the version.
	KeepUnchanged bool
	// Limiter, if not nil, says how many sources that share it may read a list
	// at a time, streamed or not.
	Limiter *Limiter
	// Off has everything read by client-go, in one piece.
	Off bool
}

// Decoding is what the requests of one source have in common: a decoder, and
// whether something came up that only client-go's decoders understand. T is a
// pointer to the objects' type. It is safe for concurrent use.
type Decoding[T any] struct {
	decoder *decode.Decoder[T]
	off     bool
	unfit   atomic.Bool
	// keep says to ask known for what is cached, once that is set.
	keep  bool
	known func(decode.Identity) (T, bool)
}

// NewDecoding returns what a source needs to stream, if neither opts nor the
// environment have anything against it.
func NewDecoding[T any](opts DecodingOptions) *Decoding[T] {
	on, err := strconv.ParseBool(os.Getenv(StreamingVariable))
	return &Decoding[T]{decoder: decode.New[T](opts.Options), off: opts.Off || err == nil && !on, keep: opts.KeepUnchanged}
}

func (d *Decoding[T]) streams() bool { return !d.off }
