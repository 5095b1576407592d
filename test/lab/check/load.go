package check

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
)

// most are how many requests an informer may send in some time.
var most = []struct {
	within time.Duration
	// pages counts all requests. Lists of several namespaces in pages of one object take many. Otherwise lists
	// and watches of one namespace count: the informer pauses after those that fail, and after many short ones.
	pages    bool
	requests int
}{
	{time.Second, true, 100},
	{time.Second, false, 15},
	{time.Minute, false, 75}, // ten brief watches at once, then one a second
}

// meter counts the requests of an informer.
type meter struct {
	subject *subject
	next    http.RoundTripper

	mu sync.Mutex
	// sent are the requests of the last minute.
	sent []sent
}

// sent is a request: when it was sent, and where to. For a page the path is empty.
type sent struct {
	at   time.Time
	path string
}

// errTooMany ends a list that goes on and on, whatever its context.
var errTooMany = errors.New("the informer sends too many requests")

func (m *meter) RoundTrip(r *http.Request) (*http.Response, error) {
	now := sent{time.Now(), r.URL.Path}
	if r.URL.Query().Get("continue") != "" {
		now.path = ""
	}
	for i, n := range m.count(now) {
		if n > most[i].requests {
			m.subject.world.fail(bounded, "%v sends %d requests in %v", m.subject, n, most[i].within)
			bubble.Pass(time.Second) // An informer that takes no time would stop the clock.
			return nil, errTooMany
		}
	}
	return m.next.RoundTrip(r)
}

// count returns how many requests count for each row of most, with this one.
func (m *meter) count(now sent) (counts []int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.sent) > 0 && now.at.Sub(m.sent[0].at) >= time.Minute {
		m.sent = m.sent[1:]
	}
	m.sent = append(m.sent, now)
	for _, row := range most {
		n := 0
		for _, s := range m.sent {
			if now.at.Sub(s.at) < row.within && (row.pages || now.path != "" && s.path == now.path) {
				n++
			}
		}
		counts = append(counts, n)
	}
	return counts
}
