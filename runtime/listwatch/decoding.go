package listwatch

import (
	"os"
	"strconv"
	"sync/atomic"

	"github.com/kubewright/kubewright/runtime/decode"
)

// StreamingVariable is the environment variable that turns streams on for all
// sources of a process, by a value that [strconv.ParseBool] takes for true.
const StreamingVariable = "KUBEWRIGHT_STREAMING"

// Decoding is what the requests of one source have in common: a decoder, and
// whether something came up that only client-go's decoders understand. T is a
// pointer to the objects' type. It is safe for concurrent use.
type Decoding[T any] struct {
	decoder *decode.Decoder[T]
	off     bool
	unfit   atomic.Bool
}

// NewDecoding returns what a source needs to stream, if off isn't set and the
// environment asks for streams.
func NewDecoding[T any](opts decode.Options, off bool) *Decoding[T] {
	set, _ := strconv.ParseBool(os.Getenv(StreamingVariable))
	return &Decoding[T]{decoder: decode.New[T](opts), off: off || !set}
}

func (d *Decoding[T]) streams() bool { return !d.off }
