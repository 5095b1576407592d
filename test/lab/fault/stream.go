package fault

import (
	"errors"
	"io"
	"net/http"
)

// stream is the body of a watch. It passes whole events, so that interrupts come between two events.
type stream struct {
	x       *exchange
	format  format
	frames  func() (event, error)
	backend io.Closer
	// edit returns what to send in place of an event, and an error if the stream ends then. If edit is nil,
	// events pass unchanged.
	edit func(event) ([]byte, error)

	out []byte
	err error
}

func (s *stream) Read(p []byte) (int, error) {
	for len(s.out) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		e, err := s.frames()
		switch {
		case err != nil:
			s.end(s.x.cause(err))
		case s.edit == nil:
			s.out = e.wire
		default:
			if s.out, err = s.edit(e); err != nil {
				s.end(err)
			}
		}
	}
	n := copy(p, s.out)
	s.out = s.out[n:]
	return n, nil
}

func (s *stream) end(err error) {
	s.err = err
	if e := (*ending)(nil); errors.As(err, &e) && e.seen == io.EOF {
		s.err = io.EOF
		if e.status != nil {
			s.out = append(s.out, s.format.failure(e.status).wire...)
		}
	}
}

func (s *stream) Close() error { return s.backend.Close() }

// edits returns a fault that edits the events of a watch. It leaves alone other responses, and watches whose
// format it doesn't know. begin is called for each response and returns the function that gets every event;
// due means that After events have passed and the proxy isn't calmed.
func edits(
	begin func(*exchange, format) func(e event, due bool) ([]byte, error),
) func(*exchange) (*http.Response, error) {
	return func(x *exchange) (*http.Response, error) {
		resp, err := x.pass()
		if err != nil {
			return nil, err
		}
		if s, ok := resp.Body.(*stream); ok {
			passed, edit := 0, begin(x, s.format)
			s.edit = func(e event) ([]byte, error) {
				passed++
				return edit(e, passed > x.step.After && !x.calmNow())
			}
		}
		return resp, nil
	}
}

// editsOne returns a fault that edits one event: the first that is due and for which edit returns true.
func editsOne(
	edit func(x *exchange, e event) (ok bool, wire []byte, err error),
) func(*exchange) (*http.Response, error) {
	return edits(func(x *exchange, _ format) func(event, bool) ([]byte, error) {
		over := false
		return func(e event, due bool) ([]byte, error) {
			if due && !over {
				if ok, wire, err := edit(x, e); ok {
					over = true
					return wire, err
				}
			}
			return e.wire, nil
		}
	})
}
