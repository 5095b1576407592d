package fault

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/informer"
)

// Class is how much of the contract between a server and its clients a fault leaves intact.
type Class int

const (
	// Kept: the network and the server stay within their contract. All laws hold.
	Kept Class = iota
	// Unusable: the contract is broken, and no client can mistake what comes for an answer. None of it gets into
	// a cache, so all laws hold. The informer reports it in its status or log.
	Unusable
	// Wrong: the contract is broken by answers that can be decoded. There is no panic and no hang. The informer
	// reports it, and after the next list, which [Proxy.Expire] causes, the cache is right again.
	Wrong
)

// String returns "contract kept", "unusable" or "wrong".
func (c Class) String() string { return [...]string{"contract kept", "unusable", "wrong"}[c] }

// Fault is one kind of fault. All of them are rows of [All].
type Fault struct {
	Name string
	// About is a phrase: what happens on the wire.
	About string
	// Guarantee is the one that the fault tries most.
	Guarantee guarantee.Guarantee
	Class     Class
	// On is the set of kinds of requests that the fault can happen to.
	On Kind
	// Connection marks a fault of a connection, which happens as in About only behind [Proxy.Listen].
	// Proxy.RoundTrip approximates it by the errors that a client would see.
	Connection bool
	// Silence and InitialEvents mark faults that an informer recovers from by its SilenceTimeout or its
	// InitialEventsTimeout. Without that option it waits for the watch's timeout.
	Silence, InitialEvents bool
	// Unseen marks a fault that nothing on the wire shows, so that no client can report it.
	Unseen bool
	// After and For are the ranges from which Draw draws a step's After and For. Zero means that the fault has
	// no such parameter.
	After [2]int
	For   [2]time.Duration

	do func(*exchange) (*http.Response, error)
}

// The times that bounds consist of.
const (
	// longestBackOff is the longest pause of client-go's reflectors and of ours: 30 s, up to doubled at random.
	longestBackOff = time.Minute
	// watchTimeout is the longest timeout that informers request for a watch. After it, the proxy ends a request
	// that a fault has silenced.
	watchTimeout = 10 * time.Minute
)

// Bound is how long an informer with this tuning may take, from [Proxy.Calm], until it has what the server
// has and follows its changes. For a fault of class Wrong the time counts from [Proxy.Expire].
func (f Fault) Bound(t informer.Options) time.Duration {
	bound := longestBackOff
	if f.Silence {
		bound += orWatchTimeout(t.SilenceTimeout)
	}
	if f.InitialEvents {
		bound += orWatchTimeout(t.InitialEventsTimeout)
	}
	return bound
}

func orWatchTimeout(d time.Duration) time.Duration {
	if d == 0 {
		return watchTimeout
	}
	return d
}

// Draw returns a step that makes the fault happen to a request, with parameters drawn from r.
func (f Fault) Draw(r *rand.Rand, request Request) Step {
	step := Step{Request: request, Fault: f.Name, After: f.After[0], For: f.For[0]}
	if n := f.After[1] - f.After[0]; n > 0 {
		step.After += r.IntN(n + 1)
	}
	if d := f.For[1] - f.For[0]; d > 0 {
		step.For += time.Duration(r.Int64N(int64(d) + 1))
	}
	return step
}

// ByName returns the fault of that name. It panics if there is none.
func ByName(name string) Fault {
	for _, f := range rows() {
		if f.Name == name {
			return f
		}
	}
	panic(fmt.Sprintf("fault: no fault is named %q", name))
}
