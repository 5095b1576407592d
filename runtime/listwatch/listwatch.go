// Package listwatch configures how informers read lists and watches, and reports it. [Wrap] and [Streamed]
// let them read the responses to clients that kubewright didn't generate as streams. [Limiter] bounds the
// memory of lists that are read. [Reading] reports how an informer has read its lists and watches,
// [DecodingError] what is wrong with a response.
//
// To stream means to decode a response while it arrives, be it a list or a watch. It has nothing to do with
// WatchList, the list in form of a watch.
//
// Informers stream if only a client is between the server and them. That is so for generated clients, for
// client-go's typed clients, for the lister-watchers that [Streamed] returns, and for dynamic and metadata
// clients, if their HTTP client has the transport of [Wrap]. Other lists are read in one piece; their items
// are copied out of the list, so that an item that is kept doesn't keep all others in memory.
package listwatch

import (
	"net/http"

	"github.com/kubewright/kubewright/runtime/internal/transport"
)

// Wrap returns a transport that reads lists and watches as streams for informers,
// whatever client sends their requests. Install it with
// [k8s.io/client-go/rest.Config.Wrap], before the clients are made:
//
//	config.Wrap(listwatch.Wrap)
//
// It is then used by the informers of packages dynamicinformer and metadatainformer, and by
// the lister-watchers that [Streamed] returns. Generated clients and client-go's typed clients
// need no call: their informers install the transport.
//
// The transport recognises a request of an informer by a value in its context, and passes every
// other request and its response on unchanged. It reads the body of a successful list
// item by item, and gives the client the same list without its items. It reads the events of
// a watch, and gives the client a body that is silent until the watch is stopped. So the
// client still handles authentication, limits, retries, warnings, errors and pages. Responses
// that it can't read are passed on: those of other kinds than the expected ones, in other
// encodings than JSON and protobuf, compressed ones that next has not decompressed, and those
// that are logged with their bodies (klog's level 8). If a request passes two such transports,
// the first one reads the response.
//
// To the requests of an informer that drops only metadata.managedFields, the transport adds a parameter that
// asks the server not to send them. A request that is refused for that is sent again without it.
//
// A nil next is [http.DefaultTransport].
func Wrap(next http.RoundTripper) http.RoundTripper { return transport.Wrap(next) }
