package transport

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Answer is what a transport has seen of a response. It is safe for concurrent use.
type Answer struct {
	Status      int
	ContentType string
	credentials Credentials

	mu   sync.Mutex
	body Body
	// text is the beginning of the body of a list that the client decodes, or the end of that of a watch, if it
	// is kept.
	text Kept
}

// Body is what was read of a response's body.
type Body struct {
	// Length is the number of bytes.
	Length int64
	// First is the first byte that isn't white space, HasFirst whether there is one.
	First    byte
	HasFirst bool
	// Ended means that the whole body was read.
	Ended bool
}

// Kept is text of a body.
type Kept interface {
	io.Writer
	// Take returns the text, and forgets it.
	Take() []byte
}

// answerOf returns the answer for a response, and makes its body report what is read from it.
func answerOf(resp *http.Response, used Credentials) *Answer {
	a := &Answer{credentials: used, Status: resp.StatusCode,
		ContentType: Cut(used.Hide(resp.Header.Get("Content-Type")))}
	if resp.Body != nil {
		body := &seenBody{resp.Body, a}
		resp.Body = body
		if strings.HasPrefix(a.ContentType, "text/") {
			body.readBeginning() // Clients don't read the page of a proxy in place of a watch.
		}
	}
	return a
}

// Credentials returns those of the request. a is nil if no transport saw one.
func (a *Answer) Credentials() Credentials {
	if a == nil {
		return nil
	}
	return a.credentials
}

// Body returns what was read of the body.
func (a *Answer) Body() Body {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.body
}

// longest is the length of the longest text that errors repeat from a response.
const longest = 200

// Cut returns the beginning of a text of a response, for an error.
func Cut(text string) string { return text[:min(len(text), longest)] }

// seenBody is the body of a response.
type seenBody struct {
	io.ReadCloser
	answer *Answer
}

// readBeginning reads the beginning of the body, which is read again later.
func (b *seenBody) readBeginning() {
	first := make([]byte, 512)
	n, err := b.ReadCloser.Read(first)
	var rest io.Reader = b.ReadCloser
	if err != nil {
		rest = ErrorReader(err)
	}
	b.answer.look(first[:n], err)
	b.ReadCloser = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(first[:n]), rest), b.ReadCloser}
}

func (b *seenBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.answer.see(p[:n], err)
	return n, err
}

func (a *Answer) see(text []byte, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.body.Length += int64(len(text))
	if a.text != nil {
		a.text.Write(text)
	}
	a.look(text, err)
}

// look notes how the body begins, and whether it has ended. The caller holds mu, unless
// nobody else has the answer yet.
func (a *Answer) look(text []byte, err error) {
	a.body.Ended = a.body.Ended || err == io.EOF
	if a.body.HasFirst {
		return
	}
	if begin := bytes.TrimLeft(text, " \t\r\n"); len(begin) > 0 {
		a.body.First, a.body.HasFirst = begin[0], true
	}
}

// Keep makes the answer keep text of the body.
func (a *Answer) Keep(text Kept) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.text = text
}

// TakeText returns the text that was kept.
func (a *Answer) TakeText() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.text == nil {
		return nil
	}
	return a.text.Take()
}

// ErrorReader returns a reader of which each Read returns err.
func ErrorReader(err error) io.Reader { return errorReader{err} }

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }
