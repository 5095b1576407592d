package check

import (
	"net/http"
	"sync"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
)

// mostRequests is how many requests an informer may send in a second. Lists of several namespaces in pages of
// one object take many.
const mostRequests = 100

// meter counts the requests of an informer.
type meter struct {
	subject *subject
	next    http.RoundTripper

	mu    sync.Mutex
	since time.Time
	count int
}

func (m *meter) RoundTrip(r *http.Request) (*http.Response, error) {
	if n := m.inThisSecond(); n > mostRequests {
		m.subject.world.fail(bounded, "%v sends %d requests in a second", m.subject, n)
		bubble.Pass(time.Second) // An informer that takes no time would stop the clock.
	}
	return m.next.RoundTrip(r)
}

// inThisSecond counts a request, and returns the number of those since the second began.
func (m *meter) inThisSecond() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := time.Now(); now.Sub(m.since) >= time.Second {
		m.since, m.count = now, 0
	}
	m.count++
	return m.count
}
