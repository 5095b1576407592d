package conformance_test

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// write makes one write to the server. It is safe for concurrent use.
func (m *model) write() {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.chance.IntN(names)
	cm := configMap(name(n))
	cm.Labels = map[string]string{"color": []string{"red", "green", "blue"}[m.chance.IntN(3)]}
	w := &write{name: n, refused: m.kind == refuses && m.chance.IntN(12) == 0}
	if w.refused {
		cm.Labels["refused"] = "yes"
	}
	switch {
	case !m.exists[n]:
		m.server.Create(cm)
	case m.chance.IntN(3) == 0:
		// A deletion carries the last state: the transform rejects it if it rejected that state. What is in the
		// store is deleted nevertheless.
		w.deleted, w.refused = true, m.bad[n]
		m.server.Delete("ns", name(n))
	default:
		m.server.Update(cm)
	}
	m.exists[n], m.bad[n] = !w.deleted, w.refused && !w.deleted
	next, tainted := m.states[len(m.states)-1], m.tainted[len(m.tainted)-1]
	if next[n] = 0; !w.deleted {
		next[n] = m.first + len(m.states)
	}
	tainted[n] = m.bad[n]
	m.states, m.tainted, m.writes = append(m.states, next), append(m.tainted, tainted), append(m.writes, w)
}

// skip creates a version without a change to any of these objects.
func (m *model) skip() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.server.Skip(1)
	last := len(m.states) - 1
	m.states, m.tainted, m.writes = append(m.states, m.states[last]), append(m.tainted, m.tainted[last]),
		append(m.writes, nil)
}

// failures are errors that a server returns.
var failures = []error{
	apierrors.NewResourceExpired("too old"), apierrors.NewGone("gone"),
	apierrors.NewInternalError(io.ErrUnexpectedEOF),
	apierrors.NewTooManyRequests("busy", 0), apierrors.NewUnauthorized("who?"),
	apierrors.NewForbidden(schema.GroupResource{}, "", nil),
	apierrors.NewNotFound(schema.GroupResource{}, ""), io.ErrUnexpectedEOF,
	&url.Error{Op: "Get", URL: "http://server", Err: syscall.ECONNREFUSED},
}

// act performs one random action.
func (m *model) act() {
	r := m.r
	say := func(what string, do func()) {
		m.did += what + "; "
		do()
	}
	if r.IntN(3) == 0 {
		// The next action happens while this write is being processed.
		say("a write", m.write)
	}
	switch n := r.IntN(40); {
	case n < 14:
		for range 1 + r.IntN(4) {
			say("a write", m.write)
		}
	case n == 14:
		say("a bookmark", func() { m.skip(); m.server.Bookmark() })
	case n == 15:
		say("a bookmark of no news", m.server.Bookmark)
	case n == 16:
		say("the end of a watch-list", m.endStream)
	case n == 17:
		say("a cut", m.server.CloseWatches)
	case n == 18:
		err := failures[r.IntN(7)].(apierrors.APIStatus)
		say("an error on the watch", func() { m.server.FailWatches(err) })
	case n == 19:
		say("history is gone", func() { m.skip(); m.server.Compact(); m.server.CloseWatches() })
	case n == 20:
		verb := []string{"LIST", "WATCH"}[r.IntN(2)]
		say("a "+verb+" will fail", func() { m.server.Fail(verb, failures[r.IntN(len(failures))]) })
	case n == 21:
		omit := r.IntN(3) == 0
		say(fmt.Sprint("streams without an end ", omit), func() { m.server.OmitEndBookmark(omit) })
	case n == 22:
		say("pages", m.hook)
	case n == 23 && len(m.others) < 6:
		say("a handler",
			func() {
				m.others = append(m.others, m.register(time.Duration(r.IntN(3))*20*time.Second, r.IntN(3)))
			})
	case n == 24 && len(m.others) > 0:
		say("a handler leaves", func() { m.remove(r.IntN(len(m.others))) })
	case n == 25 && len(m.others) > 0:
		say("a handler goes on", func() { m.others[r.IntN(len(m.others))].release() })
	case n == 26 && len(m.others) > 0:
		o := m.others[r.IntN(len(m.others))]
		say("a handler will leave by itself", func() { o.leave.Store(true) })
	case n == 27:
		say("an index", m.subject.addIndex)
	case n == 28 && r.IntN(4) == 0:
		say("a stop and a start", func() { m.stop(); m.start() })
	case n < 33:
		d := time.Duration(r.Int64N(int64(2 * time.Second)))
		say(d.String(), func() { bubble.Pass(d) })
	case n < 36:
		d := time.Duration(r.Int64N(int64(70 * time.Second)))
		say(d.String(), func() { bubble.Pass(d) })
	}
}

// endStream sends the bookmark that ends a watch-list, if it was withheld.
func (m *model) endStream() {
	m.mu.Lock()
	m.lists++
	m.mu.Unlock()
	m.server.EndInitialEvents()
}

// hook chooses what happens before later requests.
func (m *model) hook() {
	what := m.r.IntN(6)
	m.server.OnRequest(func(_ context.Context, r runtimetest.Request) error {
		m.look()
		if r.Options.Continue == "" && what != 5 {
			return nil
		}
		switch what {
		case 1, 5:
			m.write()
		case 2:
			m.skip()
			m.server.Compact()
		case 3:
			return failures[2]
		case 4:
			return failures[0]
		}
		return nil
	})
}
