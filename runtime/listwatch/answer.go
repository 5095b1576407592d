package listwatch

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
)

// answer is what a transport has seen of a response. It is safe for concurrent use.
type answer struct {
	credentials credentials
	status      int
	contentType string

	mu     sync.Mutex
	length int64
	// first is the first byte that isn't white space, hasFirst whether there is one. ended means that the whole
	// body was read.
	first    byte
	hasFirst bool
	ended    bool
	// text is the beginning of the body of a list that the client decodes, or the end of that of a watch, if it
	// is kept.
	text kept
}

// kept is text of a body.
type kept interface {
	io.Writer
	// take returns the text, and forgets it.
	take() []byte
}

// answerOf returns the answer for a response, and makes its body report what is read from it.
func answerOf(resp *http.Response, used credentials) *answer {
	a := &answer{credentials: used, status: resp.StatusCode,
		contentType: cut(used.hide(resp.Header.Get("Content-Type")))}
	if resp.Body != nil {
		body := &seenBody{resp.Body, a}
		resp.Body = body
		if strings.HasPrefix(a.contentType, "text/") {
			body.begin() // Clients don't read the page of a proxy in place of a watch.
		}
	}
	return a
}

// used returns the credentials of the request.
func (a *answer) used() credentials {
	if a == nil {
		return nil
	}
	return a.credentials
}

// longestName is the length of the longest name that an error repeats from a response.
const longestName = 200

func cut(text string) string { return text[:min(len(text), longestName)] }

// seenBody is the body of a response.
type seenBody struct {
	io.ReadCloser
	answer *answer
}

// begin reads the beginning of the body, which is read again later.
func (b *seenBody) begin() {
	first := make([]byte, 512)
	n, err := b.ReadCloser.Read(first)
	var rest io.Reader = b.ReadCloser
	if err != nil {
		rest = failingReader{err}
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

func (a *answer) see(text []byte, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.length += int64(len(text))
	if a.text != nil {
		a.text.Write(text)
	}
	a.lookAt(text, err)
}

// look looks at text that is read again later.
func (a *answer) look(text []byte, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lookAt(text, err)
}

// lookAt notes how the body begins, and whether it has ended. The caller holds mu.
func (a *answer) lookAt(text []byte, err error) {
	a.ended = a.ended || err == io.EOF
	for i := 0; i < len(text) && !a.hasFirst; i++ {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
		default:
			a.first, a.hasFirst = text[i], true
		}
	}
}

// keep makes the answer keep text.
func (a *answer) keep(text kept) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.text = text
}

// takeText returns the text that was kept.
func (a *answer) takeText() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.text == nil {
		return nil
	}
	return a.text.take()
}

// head keeps the beginning of a body, if the whole body isn't larger.
type head struct {
	text []byte
	lost bool
}

func (h *head) Write(text []byte) (int, error) {
	if h.lost = h.lost || len(h.text)+len(text) > mostRecorded; h.lost {
		h.text = nil
		return len(text), nil
	}
	h.text = append(h.text, text...)
	return len(text), nil
}

func (h *head) take() []byte {
	text := h.text
	h.text = nil
	return text
}

// tail keeps the end of a body.
type tail struct{ text []byte }

// mostTail is the length of the end that is kept: most events are shorter.
const mostTail = 16 << 10

func (t *tail) Write(text []byte) (int, error) {
	if t.text = append(t.text, text...); len(t.text) > 2*mostTail {
		t.text = append([]byte(nil), t.text[len(t.text)-mostTail:]...)
	}
	return len(text), nil
}

func (t *tail) take() []byte {
	text := t.text
	t.text = nil
	return text
}
