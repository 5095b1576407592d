package eyes

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// The headers of the handler's answers, for the command: the number of findings, and whether an earlier look
// was compared.
const (
	findingsHeader = "Kubewright-Findings"
	comparedHeader = "Kubewright-Compared"
)

// ServeHTTP answers with a snapshot, as text, or as JSON with ?format=json. It accepts GET and HEAD only, and
// changes nothing. Who may see it is up to whoever mounts it.
func (e *Eyes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "use GET or HEAD", http.StatusMethodNotAllowed)
		return
	}
	s := e.Snapshot()
	var body bytes.Buffer
	contentType := "text/plain; charset=utf-8"
	switch format := r.URL.Query().Get("format"); format {
	case "", "text":
		_ = s.WriteText(&body) // A buffer accepts everything.
	case "json":
		contentType = "application/json"
		if err := json.NewEncoder(&body).Encode(s); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	default:
		http.Error(w, "format is text or json", http.StatusBadRequest)
		return
	}
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	h.Set(findingsHeader, strconv.Itoa(len(s.Findings)))
	h.Set(comparedHeader, strconv.FormatBool(!s.Compared.IsZero()))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body.Bytes())
	}
}
