package fault

import (
	"net/http"
	"sync"
	"time"
)

// episode is what happens to requests for a while.
type episode struct {
	until  time.Time
	covers func(Request) bool
	do     func(*exchange) (*http.Response, error)
	end    func() // of a sync.Once
}

// during applies do to all covered requests, for the time of the step. end, which may be nil, is called once,
// when the time is over or the proxy is calmed.
func (x *exchange) during(
	covers func(Request) bool, do func(*exchange) (*http.Response, error), end func(),
) {
	e := &episode{until: time.Now().Add(x.step.For), covers: covers, do: do, end: func() {}}
	if end != nil {
		e.end = sync.OnceFunc(end)
		timer := time.AfterFunc(x.step.For, e.end)
		stop := e.end
		e.end = func() {
			timer.Stop()
			stop()
		}
	}
	p := x.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	p.episodes = append(p.episodes, e)
}

// everything, nothing, sameClient and sameResource decide which requests an episode covers.
func everything(Request) bool { return true }

func nothing(Request) bool { return false }

func (x *exchange) sameClient(r Request) bool { return r.Client == x.request.Client }

func (x *exchange) sameResource(r Request) bool {
	return x.sameClient(r) && r.Resource == x.request.Resource
}

// failing returns a fault that fails a request with an ending.
func failing(with *ending) func(*exchange) (*http.Response, error) {
	return func(*exchange) (*http.Response, error) { return nil, with }
}
