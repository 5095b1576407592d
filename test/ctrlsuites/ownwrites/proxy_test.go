package ownwrites

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// lagging returns the configuration of clients of a server behind a proxy, which sends everything in watches
// later.
func lagging(t *testing.T, config *rest.Config, by time.Duration) *rest.Config {
	t.Helper()
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := r.Clone(r.Context())
		out.URL.Scheme, out.URL.Host, out.Host, out.RequestURI = target.Scheme, target.Host, "", ""
		resp, err := transport.RoundTrip(out)
		if err != nil {
			panic(http.ErrAbortHandler) // The client gets no answer, as the proxy got none.
		}
		defer func() { _ = resp.Body.Close() }()
		for key, values := range resp.Header {
			w.Header()[key] = values
		}
		w.WriteHeader(resp.StatusCode)
		if watch := r.URL.Query().Get("watch"); watch == "" || watch == "false" {
			_, _ = io.Copy(w, resp.Body)
			return
		}
		flush := http.NewResponseController(w).Flush
		_ = flush()
		for piece := range pieces(resp.Body) {
			select {
			case <-time.After(time.Until(piece.read.Add(by))):
			case <-r.Context().Done():
				return
			}
			if _, err := w.Write(piece.text); err != nil {
				return
			}
			_ = flush()
		}
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, QPS: -1}
}

// piece is a part of a response, and when it came.
type piece struct {
	text []byte
	read time.Time
}

// pieces reads a response until it ends, whether or not the pieces are taken at once.
func pieces(body io.Reader) <-chan piece {
	all := make(chan piece, 100_000)
	go func() {
		defer close(all)
		text := make([]byte, 16<<10)
		for {
			n, err := body.Read(text)
			all <- piece{bytes.Clone(text[:n]), time.Now()}
			if err != nil {
				return
			}
		}
	}()
	return all
}
