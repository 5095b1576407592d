package fault

import (
	"io"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// networkFaults are the faults that happen between a server and its clients.
func networkFaults() []Fault {
	return []Fault{
		{Name: "delay", On: Reads, For: aWhile, do: delay,
			Guarantee: guarantee.Converging, About: "the request arrives late"},
		{Name: "slow-headers", On: Reads, For: aWhile, do: slowHeaders,
			Guarantee: guarantee.NoTimeTravel, About: "the response comes late, and is as old as it is late"},
		{Name: "no-answer", On: Reads, For: aWhile, do: noAnswer,
			Guarantee: guarantee.Converging, About: "no response comes; at last the connection is reset"},
		{Name: "no-headers", On: Watches, Silence: true, InitialEvents: true, do: noHeaders,
			Guarantee: guarantee.Converging, About: "the response to a watch doesn't begin"},
		{Name: "throttle", On: Reads, For: aWhile, do: throttle,
			Guarantee: guarantee.Complete, About: "the body begins to come in pieces of 64 bytes"},
		{Name: "reset", On: Reads, do: failing(errReset),
			Guarantee: guarantee.Converging, About: "the connection is reset before the response"},
		{Name: "refused", On: Reads, For: aWhile, Connection: true, do: refused,
			Guarantee: guarantee.Converging, About: "the connection is reset, and new ones are refused for a while"},
		{Name: "restart", On: Reads, For: aWhile, Connection: true, do: restart,
			Guarantee: guarantee.Converging,
			About:     "all connections are reset, and new ones are refused for a while"},
		{Name: "cut", On: Reads, For: soon, After: someBytes, do: ends(errCut),
			Guarantee: guarantee.Resumable,
			About:     "the connection ends in the middle of a list, or between two events"},
		{Name: "cut-mid-frame", On: Watches, After: fewEvents, do: editsOne(cutMidFrame),
			Guarantee: guarantee.Complete, About: "the connection ends in the middle of an event"},
		{Name: "truncated-event", On: Watches, After: fewEvents, do: editsOne(truncatedEvent),
			Guarantee: guarantee.Complete,
			About:     "the response ends in good order in the middle of an event, as if it were cut"},
		{Name: "cut-mid-rune", On: Reads, After: fewEvents, do: cutMidRune,
			Guarantee: guarantee.Complete, About: "the connection ends in the middle of a character"},
		{Name: "cut-mid-record", On: Reads, After: fewEvents, Connection: true, do: cutMidRecord,
			Guarantee: guarantee.Complete,
			About:     "the connection ends in the middle of a record of TLS and of a frame of HTTP/2"},
		{Name: "stream-reset", On: Reads, For: soon, After: someBytes, do: ends(errAborted),
			Guarantee: guarantee.Resumable, About: "the stream of HTTP/2 is reset, the connection lives on"},
		{Name: "close-early", On: Watches, For: soon, do: ends(errGoodOrder),
			Guarantee: guarantee.Resumable, About: "the watch ends in good order long before its timeout"},
		{Name: "black-hole", On: Watches, After: fewEvents, Silence: true,
			InitialEvents: true, do: editsOne(blackHole),
			Guarantee: guarantee.Converging, About: "nothing comes any more, not even a bookmark"},
		{Name: "half-open", On: Watches, For: soon, Connection: true, Silence: true,
			InitialEvents: true, do: halfOpen,
			Guarantee: guarantee.Converging,
			About:     "the connection is dead at the server's end, and the client isn't told"},
		{Name: "goaway", On: Reads, Connection: true, do: goAway,
			Guarantee: guarantee.Resumable, About: "the server sends GOAWAY; what runs goes on"},
		{Name: "goaway-cut", On: Watches, For: soon, Connection: true, do: goAwayCut,
			Guarantee: guarantee.Resumable, About: "the server sends GOAWAY, and ends the connection soon after"},
		{Name: "certificate-rotation", On: Reads, Connection: true, do: rotate,
			Guarantee: guarantee.Converging,
			About:     "the server has another certificate, of the same CA, and resets all connections"},
		{Name: "wrong-certificate", On: Reads, For: aWhile, Connection: true, do: distrusted,
			Guarantee: guarantee.Converging, About: "the server's certificate is of another CA for a while"},
	}
}

func delay(x *exchange) (*http.Response, error) {
	if err := x.wait(x.step.For); err != nil {
		return nil, err
	}
	return x.pass()
}

func slowHeaders(x *exchange) (*http.Response, error) {
	resp, err := x.pass()
	if err != nil {
		return nil, err
	}
	if err := x.wait(x.step.For); err != nil {
		resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

func noAnswer(x *exchange) (*http.Response, error) {
	if err := x.wait(x.step.For); err != nil {
		return nil, err
	}
	return nil, errReset
}

func noHeaders(x *exchange) (*http.Response, error) { return nil, x.silence() }

func throttle(x *exchange) (*http.Response, error) {
	resp, err := x.pass()
	if err != nil {
		return nil, err
	}
	resp.Body = &throttled{x: x, body: resp.Body, pieces: pieces}
	return resp, nil
}

// The first pieces of a throttled body, of pieceSize bytes each, come slowly, the rest unhindered.
const (
	pieces    = 32
	pieceSize = 64
)

type throttled struct {
	x      *exchange
	body   io.ReadCloser
	pieces int
}

func (t *throttled) Read(p []byte) (int, error) {
	if t.pieces > 0 && len(p) > 0 {
		t.pieces--
		if err := t.x.wait(t.x.step.For / pieces); err != nil {
			return 0, err
		}
		p = p[:min(len(p), pieceSize)]
	}
	return t.body.Read(p)
}

func (t *throttled) Close() error { return t.body.Close() }

func refused(x *exchange) (*http.Response, error) {
	if x.conn == nil {
		x.during(everything, failing(errRefused), nil)
		return nil, errRefused
	}
	server := x.conn.server
	server.shut()
	x.during(nothing, nil, server.reopen)
	return nil, errRefused
}

func restart(x *exchange) (*http.Response, error) {
	resp, err := refused(x)
	x.proxy.Cut()
	return resp, err
}

// breakOff makes the response of a list end after After bytes, modulo its length, and that of a watch after
// For.
func breakOff(x *exchange, with *ending) (*http.Response, error) {
	resp, err := x.pass()
	switch {
	case err != nil:
		return nil, err
	case x.request.Kind&Watches != 0:
		x.endLater(with)
		return resp, nil
	}
	body, err := whole(resp)
	if err != nil {
		return nil, err
	}
	setEnd(resp, body[:x.step.After%max(1, len(body))], with)
	return resp, nil
}

func cutMidFrame(_ *exchange, e event) (bool, []byte, error) {
	return true, e.wire[:len(e.wire)/2], errCut
}

func truncatedEvent(_ *exchange, e event) (bool, []byte, error) {
	return true, e.wire[:len(e.wire)/2], errGoodOrder
}

// midRune returns an index in the middle of a character, false if there is none.
func midRune(text []byte) (int, bool) {
	for i := range text {
		if _, size := utf8.DecodeRune(text[i:]); size > 1 {
			return i + 1, true
		}
	}
	return 0, false
}

func cutMidRune(x *exchange) (*http.Response, error) {
	if x.request.Kind&Watches != 0 {
		return editsOne(func(_ *exchange, e event) (bool, []byte, error) {
			i, ok := midRune(e.wire)
			return ok, e.wire[:i], errCut
		})(x)
	}
	resp, err := x.pass()
	if err != nil {
		return nil, err
	}
	body, err := whole(resp)
	if err != nil {
		return nil, err
	}
	i, ok := midRune(body)
	if !ok {
		i = len(body) / 2
	}
	setEnd(resp, body[:i], errCut)
	return resp, nil
}

func cutMidRecord(x *exchange) (*http.Response, error) {
	if x.request.Kind&Watches != 0 {
		return editsOne(func(x *exchange, e event) (bool, []byte, error) {
			if x.conn == nil {
				return cutMidFrame(x, e)
			}
			x.conn.cutNextWrite()
			return true, e.wire, nil
		})(x)
	}
	if x.conn == nil {
		return nil, errCut
	}
	resp, err := x.pass()
	x.conn.cutNextWrite()
	return resp, err
}

func blackHole(x *exchange, _ event) (bool, []byte, error) { return true, nil, x.silence() }

// pingPatience is how long client-go takes to notice a dead connection of HTTP/2: a ping after 30 s, and 15 s
// for its answer.
const pingPatience = 45 * time.Second

func halfOpen(x *exchange) (*http.Response, error) {
	if x.conn != nil {
		resp, err := x.pass()
		x.later(x.step.For, func() {
			if !x.calmNow() {
				x.conn.freeze()
			}
		})
		return resp, err
	}
	dead := x.begun.Add(x.step.For)
	x.later(x.step.For+pingPatience, func() {
		if x.isSilenced() {
			x.cancel(errLost)
		}
	})
	return edits(func(x *exchange, _ format) func(event, bool) ([]byte, error) {
		return func(e event, due bool) ([]byte, error) {
			if due && !time.Now().Before(dead) {
				return nil, x.silence()
			}
			return e.wire, nil
		}
	})(x)
}

func goAway(x *exchange) (*http.Response, error) {
	resp, err := x.pass()
	if err == nil {
		resp.Header.Set("Connection", "close") // net/http makes a GOAWAY of it
	}
	return resp, err
}

func goAwayCut(x *exchange) (*http.Response, error) {
	x.endLater(errGoneAway)
	return goAway(x)
}

func rotate(x *exchange) (*http.Response, error) {
	if x.conn != nil {
		x.conn.server.rotate()
	}
	x.proxy.Cut()
	return nil, errReset
}

func distrusted(x *exchange) (*http.Response, error) {
	if x.conn == nil {
		x.during(everything, failing(errUntrusted), nil)
		x.proxy.Cut()
		return nil, errUntrusted
	}
	server := x.conn.server
	server.setTrusted(false)
	x.during(nothing, nil, func() { server.setTrusted(true) })
	x.proxy.Cut()
	return nil, errUntrusted
}
