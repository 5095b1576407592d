package transport

import (
	"net/http"
	"runtime"
	"sync"
	"weak"
)

// Refusals are what servers have refused to a client. The zero value is empty. It is safe for concurrent use.
type Refusals struct {
	// drop has the hosts that refused a request to leave metadata.managedFields out: clients of several servers
	// may share [http.DefaultClient].
	drop sync.Map
}

func (r *Refusals) noteDrop(host string) { r.drop.Store(host, nil) }

func (r *Refusals) hasDrop(host string) bool {
	_, refused := r.drop.Load(host)
	return refused
}

// known has the refusals of HTTP clients, by weak pointers, until the clients are garbage. Generated clients
// have no transport of their own that could remember them.
var known sync.Map

// RefusalsOf returns those of an HTTP client.
func RefusalsOf(client *http.Client) *Refusals {
	key := weak.Make(client)
	found, ok := known.Load(key)
	if !ok {
		if found, ok = known.LoadOrStore(key, new(Refusals)); !ok {
			runtime.AddCleanup(client, func(key weak.Pointer[http.Client]) { known.Delete(key) }, key)
		}
	}
	return found.(*Refusals)
}
