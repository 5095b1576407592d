package eyes

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// The headers of the handler's answers, for the command: the number of findings, and whether an earlier look
// was compared.
const (
	findingsHeader = "Kubewright-Findings"
	comparedHeader = "Kubewright-Compared"
)

// ServeHTTP answers browsers with a page, and others with a snapshot as text. ?format=html, text and json say
// which it is. All have the same path, so it doesn't matter where the handler is mounted. It accepts GET and
// HEAD only, and changes nothing. Who may see it is up to whoever mounts it.
func (e *Eyes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "use GET or HEAD", http.StatusMethodNotAllowed)
		return
	}
	format := "text"
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		format = "html"
	}
	var body bytes.Buffer
	var contentType string
	h := w.Header()
	switch cmp.Or(r.URL.Query().Get("format"), format) {
	case "html":
		contentType = "text/html; charset=utf-8"
		h.Set("Content-Security-Policy", policy())
		h.Set("Referrer-Policy", "no-referrer")
		body.WriteString(page)
	case "text":
		contentType = "text/plain; charset=utf-8"
		_ = e.look(h).WriteText(&body) // A buffer accepts everything.
	case "json":
		contentType = "application/json"
		if err := json.NewEncoder(&body).Encode(e.look(h)); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	default:
		http.Error(w, "format is html, text or json", http.StatusBadRequest)
		return
	}
	h.Set("Content-Type", contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept")
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body.Bytes())
	}
}

// look returns a snapshot, and describes it in the headers of an answer.
func (e *Eyes) look(h http.Header) *Snapshot {
	s := e.Snapshot()
	h.Set(findingsHeader, strconv.Itoa(len(s.Findings)))
	h.Set(comparedHeader, strconv.FormatBool(!s.Compared.IsZero()))
	return s
}
