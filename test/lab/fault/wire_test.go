package fault_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/test/lab/fault"
)

// shown is a fault that happened to a request, and the result of the same request without one.
type shown struct {
	*rig
	kind        fault.Kind
	step        fault.Step
	got, normal result
}

// lasts and after are the parameters of the test's steps.
const (
	lasts = 3500 * time.Millisecond
	after = 2
)

// onTheWire has a check for each fault: how it shows on the wire.
var onTheWire = map[string]func(shown){
	"delay": func(s shown) {
		s.complete()
		s.took(s.normal.took + lasts)
		if requests := s.api.requests(); requests[1].at.Sub(requests[0].at) < lasts {
			s.Error("the server has seen it at once")
		}
	},
	"slow-headers": func(s shown) {
		s.complete()
		if s.kind&fault.Lists != 0 {
			s.took(lasts)
		}
	},
	"no-answer":    func(s shown) { s.fails(0); s.took(lasts) },
	"no-headers":   func(s shown) { s.fails(0); s.took(time.Minute) },
	"throttle":     func(s shown) { s.complete(); s.tookAtLeast(lasts / 32) },
	"reset":        func(s shown) { s.fails(0); s.took(0) },
	"refused":      func(s shown) { s.fails(0); s.refusedFor(lasts) },
	"restart":      func(s shown) { s.fails(0); s.refusedFor(lasts) },
	"cut":          func(s shown) { s.breaksOff(); s.atEventIfWatch() },
	"stream-reset": func(s shown) { s.breaksOff(); s.atEventIfWatch(); s.sameConnectionIfHTTP2() },
	"cut-mid-frame": func(s shown) {
		s.breaksOff()
		s.midEvent()
	},
	"cut-mid-rune": func(s shown) {
		s.breaksOff()
		if r, _ := utf8.DecodeLastRune(s.got.body); r != utf8.RuneError {
			s.Errorf("the last character is %q", r)
		}
	},
	"cut-mid-record": func(s shown) {
		if s.got.err == nil || !bytes.HasPrefix(s.normal.body, s.got.body) {
			s.Errorf("%d of %d bytes, %v", len(s.got.body), len(s.normal.body), s.got.err)
		}
	},
	"close-early": func(s shown) { s.endsWith(io.EOF, 3); s.took(lasts) },
	"black-hole": func(s shown) {
		s.breaksOff()
		s.events(after)
		s.took(time.Minute)
	},
	"half-open": func(s shown) {
		s.events(s.initial() + 3)
		if s.way == "HTTP/1.1" {
			s.gaveUp()
		} else if s.breaksOff(); s.got.took < 40*time.Second || s.got.took > 80*time.Second {
			s.Errorf("noticed after %v", s.got.took)
		}
	},
	"goaway":     func(s shown) { s.complete(); s.anotherConnection() },
	"goaway-cut": func(s shown) { s.breaksOff(); s.atEventIfWatch(); s.took(lasts); s.anotherConnection() },
	"certificate-rotation": func(s shown) {
		s.fails(0)
		again := s.get(paths[s.kind])
		if again.err != nil || s.server != nil && again.certificate == s.normal.certificate {
			s.Errorf("the certificate is %q, it was %q: %v", again.certificate, s.normal.certificate, again.err)
		}
	},
	"wrong-certificate": func(s shown) {
		s.fails(0)
		if again := s.get(paths[s.kind]); again.err == nil || !strings.Contains(again.err.Error(), "certificate") {
			s.Errorf("with the wrong certificate: %v", again.err)
		}
		bubble.Pass(lasts + second)
		if again := s.get(paths[s.kind]); again.err != nil {
			s.Error(again.err)
		}
	},

	"410-list":          func(s shown) { s.refused(http.StatusGone, "Expired") },
	"410-watch":         func(s shown) { s.refused(http.StatusGone, "Gone") },
	"410-event":         func(s shown) { s.endsWith(io.EOF, 3, "ERROR 410"); s.took(lasts) },
	"expired-token":     func(s shown) { s.refused(http.StatusGone, "Expired") },
	"too-large-version": func(s shown) { s.refused(http.StatusGatewayTimeout, "ResourceVersionTooLarge") },
	"429": func(s shown) {
		s.refused(http.StatusTooManyRequests, "TooManyRequests")
		if s.got.header.Get("Retry-After") != "" {
			s.Error("with Retry-After")
		}
	},
	"429-retry-after": func(s shown) {
		s.refused(http.StatusTooManyRequests, "TooManyRequests")
		if after := s.got.header.Get("Retry-After"); after != "3" {
			s.Errorf("Retry-After is %q", after)
		}
	},
	"500":       func(s shown) { s.refused(http.StatusInternalServerError, "InternalError") },
	"500-event": func(s shown) { s.endsWith(io.EOF, 3, "ERROR 500"); s.took(lasts) },
	"502-html":  func(s shown) { s.refused(http.StatusBadGateway, "<html>") },
	"503":       func(s shown) { s.refused(http.StatusServiceUnavailable, "ServiceUnavailable") },
	"504":       func(s shown) { s.refused(http.StatusGatewayTimeout, "Timeout") },
	"401-while": func(s shown) { s.refused(http.StatusUnauthorized, "Unauthorized"); s.lifted(401) },
	"403-while": func(s shown) { s.refused(http.StatusForbidden, "Forbidden"); s.lifted(403) },
	"404-while": func(s shown) { s.refused(http.StatusNotFound, "NotFound"); s.lifted(404) },
	"close-at-once": func(s shown) {
		s.endsWithEvents(io.EOF, nil)
		s.took(0)
		bubble.Pass(lasts / 2)
		if again := s.get(paths[s.kind]); len(again.body) > 0 || again.status != http.StatusOK || again.err != nil {
			s.Errorf("soon after: %d, %d bytes, %v", again.status, len(again.body), again.err)
		}
		bubble.Pass(lasts)
		if again := s.get(paths[s.kind]); len(again.body) == 0 {
			s.Error("nothing comes later")
		}
	},
	"missing-bookmarks": func(s shown) {
		want := s.decode(s.normal)
		s.endsWithEvents(io.EOF, want[:len(want)-1])
	},

	"wrong-content-type": func(s shown) {
		if s.got.status != 200 || s.got.header.Get("Content-Type") != "text/html" || s.got.err != nil {
			s.Errorf("%d, %v, %v", s.got.status, s.got.header, s.got.err)
		}
	},
	"html-while": func(s shown) {
		html := func(r result) bool { return r.status == 200 && r.header.Get("Content-Type") == "text/html" }
		if again := s.get(watchPath); !html(s.got) || !html(again) {
			s.Errorf("%d %v, then %d %v", s.got.status, s.got.header, again.status, again.header)
		}
		bubble.Pass(lasts + second)
		if again := s.get(paths[s.kind]); html(again) {
			s.Error("it isn't lifted")
		}
	},
	"html-undeclared": func(s shown) {
		s.unusable()
		if got, want := s.got.header.Get("Content-Type"), s.normal.header.Get("Content-Type"); got != want {
			s.Errorf("the content type is %q", got)
		}
	},
	"repeated-page": func(s shown) {
		s.complete()
		if again := s.get(pagePath); !bytes.Equal(again.body, s.got.body) {
			s.Errorf("another page: %q", again.body)
		}
		bubble.Pass(lasts + second)
		if again := s.get(pagePath); bytes.Equal(again.body, s.got.body) || again.err != nil {
			s.Errorf("later the page comes again, or %v", again.err)
		}
	},
	"empty-body": func(s shown) { s.unusable(); s.bytes(0, 0) },
	"status-200": func(s shown) {
		if s.got.status != 200 || !bytes.Contains(s.got.body, []byte(`"Failure"`)) {
			s.Errorf("%d %s", s.got.status, s.got.body)
		}
	},
	"truncated-list": func(s shown) { s.unusable(); s.bytes(1, len(s.normal.body)-1) },
	"truncated-event": func(s shown) {
		s.midEvent()
		s.unusable()
	},
	"corrupt-list":    func(s shown) { s.unusable() },
	"corrupt-event":   func(s shown) { s.unusable() },
	"corrupt-framing": func(s shown) { s.unusable() },
	"gzip-ends-early": func(s shown) {
		if s.got.err == nil || !errors.Is(s.got.err, io.ErrUnexpectedEOF) {
			s.Errorf("the body ends with %v", s.got.err)
		}
	},
	"no-end-bookmark": func(s shown) {
		want := s.decode(s.normal)
		s.endsWithEvents(io.EOF, slices.Concat(want[:5], want[6:]))
	},
	"unknown-event": func(s shown) {
		want := s.decode(s.normal)
		unknown := "SURPRISE" + want[after][strings.Index(want[after], " "):]
		s.endsWithEvents(io.EOF, slices.Insert(want, after, unknown))
	},

	"duplicate-events": func(s shown) {
		var want []string
		for i, e := range s.decode(s.normal) {
			want = append(want, e)
			if i >= after && !strings.HasPrefix(e, "BOOKMARK") {
				want = append(want, e)
			}
		}
		s.endsWithEvents(io.EOF, want)
	},
	"repeated-events": func(s shown) {
		want := s.decode(s.normal)
		s.endsWithEvents(io.EOF, slices.Concat(want[:after+1], want[:after+1], want[after+1:]))
	},
	"older-events": func(s shown) {
		// Each object changes again after five events, see api; among the initial events there is also a bookmark.
		want := s.decode(s.normal)
		again := 5
		if s.kind == fault.WatchList {
			again = 6
		}
		old := strings.Replace(want[0], "ADDED", "MODIFIED", 1)
		s.endsWithEvents(io.EOF, slices.Insert(want, again+1, old))
	},
	"lost-event": func(s shown) {
		s.endsWithEvents(io.EOF, slices.Delete(s.decode(s.normal), after, after+1))
	},
	"swapped-events": func(s shown) {
		want := s.decode(s.normal)
		want[after], want[after+1] = want[after+1], want[after]
		s.endsWithEvents(io.EOF, want)
	},
	"stale-list": func(s shown) {
		// The list is that of the first request; a watch goes on from there.
		if got, old := s.got.body, s.normal.body; s.kind == fault.List && !bytes.Equal(got, old) {
			s.Errorf("the list is\n%s\nthe first one was\n%s", got, old)
		}
		if s.kind == fault.WatchList {
			s.complete()
			last := s.api.requests()[1].query
			if strings.Contains(last, "sendInitialEvents") || !strings.Contains(last, "resourceVersion=100&") {
				s.Errorf("the watch went on with %s", last)
			}
		}
	},
}

// TestOnTheWire makes each fault happen, in each way, to each kind of request that it can happen to.
func TestOnTheWire(t *testing.T) {
	if len(fault.All()) < 30 {
		t.Errorf("there are %d faults", len(fault.All()))
	}
	for _, f := range fault.All() {
		shows := onTheWire[f.Name]
		if shows == nil {
			t.Errorf("%s: the test doesn't say how it shows", f.Name)
			continue
		}
		for kind, path := range paths {
			if f.On&kind == 0 {
				continue
			}
			step := fault.Step{Request: fault.Request{Kind: kind, Nth: 2}, Fault: f.Name, After: after, For: lasts}
			t.Run(fmt.Sprint(f.Name, " ", kind), func(t *testing.T) {
				everyWay(t, fault.Script{step}, func(r *rig) {
					s := shown{rig: r, kind: kind, step: step, normal: r.get(path)}
					if s.normal.err != nil || s.normal.status != http.StatusOK {
						t.Fatalf("without a fault: %d, %v", s.normal.status, s.normal.err)
					}
					r.forgetConnections()
					s.got = r.get(path)
					shows(s)
					if trace := r.proxy.Trace(); len(trace) != 1 || trace[0].Fault != f.Name {
						t.Errorf("the trace is %v", trace)
					}
					synctest.Wait()
					if open := r.proxy.Open(); len(open) != 0 {
						t.Errorf("still open: %v", open)
					}
				})
			})
		}
	}
}

// complete checks that the response is the normal one, except for the versions of lists.
func (s shown) complete() {
	s.Helper()
	if s.got.err != nil || s.got.status != http.StatusOK || len(s.got.body) != len(s.normal.body) {
		s.Errorf("%d, %d bytes instead of %d, %v", s.got.status, len(s.got.body), len(s.normal.body), s.got.err)
	}
}

// took checks how long the response took, with some slack for TLS's closing messages.
func (s shown) took(want time.Duration) {
	s.Helper()
	if took := s.got.took; took < want || took > want+second {
		s.Errorf("took %v, want %v", took, want)
	}
}

func (s shown) tookAtLeast(want time.Duration) {
	s.Helper()
	if s.got.took < want {
		s.Errorf("took %v, want %v at least", s.got.took, want)
	}
}

// fails checks that there is an error in place of a response, or after size bytes of it.
func (s shown) fails(size int) {
	s.Helper()
	if s.got.err == nil || len(s.got.body) != size {
		s.Errorf("%d, %d bytes, %v", s.got.status, len(s.got.body), s.got.err)
	}
}

// breaksOff checks that the response ends with an error, before it is complete.
func (s shown) breaksOff() {
	s.Helper()
	if s.got.err == nil || len(s.got.body) >= len(s.normal.body) {
		s.Errorf("%d of %d bytes, %v", len(s.got.body), len(s.normal.body), s.got.err)
	}
}

// refusedFor checks that requests fail until d has passed.
func (s shown) refusedFor(d time.Duration) {
	s.Helper()
	bubble.Pass(d / 2)
	if again := s.get(listPath); again.err == nil {
		s.Error("a request is answered at once")
	}
	bubble.Pass(d)
	if again := s.get(listPath); again.err != nil {
		s.Errorf("a request isn't answered: %v", again.err)
	}
}

// lifted checks that the next request gets the same code, and that later ones succeed.
func (s shown) lifted(code int) {
	s.Helper()
	if again := s.get(watchPath); again.status != code {
		s.Errorf("%d soon after", again.status)
	}
	bubble.Pass(lasts + second)
	if again := s.get(paths[s.kind]); again.status != http.StatusOK {
		s.Errorf("%d later", again.status)
	}
}

func (s shown) refused(code int, text string) {
	s.Helper()
	if s.got.status != code || !strings.Contains(string(s.got.body), text) {
		s.Errorf("%d %s", s.got.status, s.got.body)
	}
}

// decode returns the events of a whole watch.
func (s shown) decode(res result) []string {
	s.Helper()
	events, err := s.encoding.events(bytes.NewReader(res.body))
	if err != io.EOF {
		s.Errorf("after %v: %v", events, err)
	}
	return events
}

// initial returns how many events come at once.
func (s shown) initial() int {
	if s.kind == fault.WatchList {
		return 6
	}
	return 0
}

// endsWith checks that the watch has the initial events, n further ones, one a second, then more, and ends
// with end.
func (s shown) endsWith(end error, n int, more ...string) {
	s.Helper()
	s.endsWithEvents(end, slices.Concat(s.decode(s.normal)[:s.initial()+n], more))
}

func (s shown) endsWithEvents(end error, want []string) {
	s.Helper()
	events, err := s.encoding.events(bytes.NewReader(s.got.body))
	if err != end || s.got.err != nil {
		s.Errorf("the watch ends with %v and %v, want %v", s.got.err, err, end)
	}
	if s.kind == fault.WatchList {
		events, want = withoutVersion(events), withoutVersion(want)
	}
	if !slices.Equal(events, want) {
		s.Errorf("the events are\n%v\nwant\n%v", events, want)
	}
}

// withoutVersion drops the version of the bookmark that ends the initial events, which differs in each watch.
func withoutVersion(events []string) []string {
	events = slices.Clone(events)
	for i, e := range events {
		if strings.HasPrefix(e, "BOOKMARK @10") {
			events[i] = "BOOKMARK"
		}
	}
	return events
}

// events checks that n events came.
func (s shown) events(n int) {
	s.Helper()
	if got := s.decode(s.got); len(got) != n {
		s.Errorf("%d events came, want %d: %v", len(got), n, got)
	}
}

func (s shown) atEventIfWatch() {
	s.Helper()
	if s.kind&fault.Watches != 0 {
		s.events(s.initial() + 3)
	}
}

// midEvent checks that the body ends in the middle of an event.
func (s shown) midEvent() {
	s.Helper()
	events, err := s.encoding.events(bytes.NewReader(s.got.body))
	if len(events) != after || err == io.EOF || len(s.got.body) >= len(s.normal.body) {
		s.Errorf("%d events, then %v", len(events), err)
	}
}

// bytes checks the length of the body.
func (s shown) bytes(least, most int) {
	s.Helper()
	if n := len(s.got.body); n < least || n > most {
		s.Errorf("%d bytes, want %d to %d", n, least, most)
	}
}

// unusable checks that the response is complete for HTTP, and can't be decoded.
func (s shown) unusable() {
	s.Helper()
	var err error
	switch {
	case s.got.err != nil || s.got.status != http.StatusOK:
		s.Errorf("%d, %v", s.got.status, s.got.err)
	case s.kind&fault.Lists != 0:
		_, err = s.encoding.list(s.got.body)
	default:
		if _, err = s.encoding.events(bytes.NewReader(s.got.body)); err == io.EOF {
			err = nil
		}
	}
	if err == nil {
		s.Errorf("decoded: %q", s.got.body)
	}
}

func (s shown) gaveUp() {
	s.Helper()
	if !errors.Is(s.got.err, errGaveUp) {
		s.Errorf("noticed after %v: %v", s.got.took, s.got.err)
	}
}

// sameConnectionIfHTTP2 and anotherConnection check whether the connection is used again.
func (s shown) sameConnectionIfHTTP2() {
	s.Helper()
	s.connections(s.way == "HTTP/2")
}

func (s shown) anotherConnection() {
	s.Helper()
	s.connections(false)
}

func (s shown) connections(same bool) {
	s.Helper()
	if s.server == nil {
		return
	}
	if again := s.get(listPath); again.err != nil {
		s.Errorf("the next request: %v", again.err)
	}
	if _, accepted := s.server.Connections(); (accepted == 1) != same {
		s.Errorf("%d connections", accepted)
	}
}
