package client

import (
	"reflect"

	"github.com/kubewright/kubewright/runtime/listwatch"
)

// streamer adds the source that informers read from, see
// [listwatch.Streaming].
type streamer struct {
	at *endpoint
	// list is the type of lists, a pointer.
	list reflect.Type
}

// ListWatchSource returns a source that decodes objects as they arrive. It is
// for informers; those of one collection share a decoding.
func (s *streamer) ListWatchSource(decoding *listwatch.Decoding) listwatch.Source[any] {
	return listwatch.FromREST(listwatch.RESTResource{Client: s.at.rest, Request: s.at.collection, List: s.list}, decoding)
}
