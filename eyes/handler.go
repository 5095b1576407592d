package eyes

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of the handler's answers, for the command: the number of findings, and whether an earlier look
// was compared, of the last 30 seconds. What hangs for a shorter time than that isn't found.
const (
	findingsHeader = "Kubewright-Findings"
	comparedHeader = "Kubewright-Compared"
)

// ServeHTTP answers browsers with a page, and others with a snapshot as text. ?format=html, text and json say
// which it is. All have the same path, so it doesn't matter where the handler is mounted. ?owner= and a
// namespace, or a UID, asks which member of a sharded controller owns it. With Options.Keys, ?key= asks what
// a key of a queue waits for, and what has happened to it. ServeHTTP accepts GET and HEAD only, and changes
// nothing. Who may see it is up to whoever mounts it.
func (e *Eyes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "use GET or HEAD", http.StatusMethodNotAllowed)
		return
	}
	var body bytes.Buffer
	contentType, h, query := "text/plain; charset=utf-8", w.Header(), r.URL.Query()
	switch value := query.Get("owner"); {
	case value != "" && query.Get("format") == "json":
		contentType = "application/json"
		h.Set(findingsHeader, "0")
		_ = json.NewEncoder(&body).Encode(e.ownerOf(value)) // These types can be encoded.
	case value != "":
		h.Set(findingsHeader, "0")
		body.WriteString(clean(e.ownerOf(value).String()) + "\n")
	case query.Get("key") != "" && !e.options.Keys:
		http.Error(w, "names of objects aren't shown: set Options.Keys", http.StatusBadRequest)
		return
	case query.Get("key") != "" && query.Get("format") == "json":
		contentType = "application/json"
		h.Set(findingsHeader, "0")
		l := e.lineOf(query.Get("key"))
		setCompared(h, l.Taken, l.compared)
		_ = json.NewEncoder(&body).Encode(l) // These types can be encoded.
	case query.Get("key") != "":
		h.Set(findingsHeader, "0")
		l := e.lineOf(query.Get("key"))
		setCompared(h, l.Taken, l.compared)
		body.WriteString(l.String())
	case isHTML(r):
		contentType = "text/html; charset=utf-8"
		h.Set("Content-Security-Policy", policy())
		h.Set("Referrer-Policy", "no-referrer")
		body.WriteString(page)
	case query.Get("format") == "json":
		contentType = "application/json"
		if err := json.NewEncoder(&body).Encode(e.look(h)); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	case query.Get("format") == "text" || query.Get("format") == "":
		_ = e.look(h).WriteText(&body) // A buffer accepts everything.
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

// isHTML reports whether a request is for the page.
func isHTML(r *http.Request) bool {
	format := r.URL.Query().Get("format")
	return format == "html" || format == "" && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// look returns a snapshot, and describes it in the headers of an answer.
func (e *Eyes) look(h http.Header) *Snapshot {
	s := e.Snapshot()
	h.Set(findingsHeader, strconv.Itoa(len(s.Findings)))
	setCompared(h, s.Taken, s.Compared)
	return s
}

// setCompared tells the command whether it has to look again.
func setCompared(h http.Header, taken, compared time.Time) {
	h.Set(comparedHeader, strconv.FormatBool(taken.Sub(compared) <= 30*time.Second))
}
