package eyes_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/internal/bubble"
)

// TestHandler checks the answers.
func TestHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.start()
		r.lack()
		get := func(method, target string) (*http.Response, string) {
			w := httptest.NewRecorder()
			r.eyes.ServeHTTP(w, httptest.NewRequest(method, target, nil))
			resp := w.Result()
			text, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			return resp, string(text)
		}
		resp, text := get(http.MethodGet, "/debug/eyes")
		for _, part := range []string{
			"nothing to compare with yet", "configmaps", "Watching", "bakeries", "no findings",
		} {
			if !strings.Contains(text, part) {
				t.Errorf("the text lacks %q:\n%s", part, text)
			}
		}
		if got := resp.Header.Get("Kubewright-Compared"); got != "false" {
			t.Errorf("compared: %s", got)
		}
		bubble.Pass(time.Minute)
		resp, text = get(http.MethodGet, "/debug/eyes?format=json")
		var s eyes.Snapshot
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if len(s.Findings) != 1 || s.Schema != eyes.Schema || len(s.Informers) != 1 || !s.Informers[0].Synced ||
			s.Queues[0].Ready != 1 || s.Queues[0].OldestWaitingSeconds != nil {
			t.Errorf("%+v", s)
		}
		if got := resp.Header.Get("Kubewright-Findings"); got != "1" {
			t.Errorf("%s findings", got)
		}
		for _, c := range []struct {
			method, target string
			status, length int
		}{
			{http.MethodHead, "/", 200, 0}, {http.MethodPost, "/", 405, -1}, {http.MethodDelete, "/", 405, -1},
			{http.MethodHead, "/?format=html", 200, 0}, {http.MethodGet, "/?format=xml", 400, -1},
		} {
			resp, text := get(c.method, c.target)
			if resp.StatusCode != c.status || c.length >= 0 && len(text) != c.length {
				t.Errorf("%s %s: status %d, %q", c.method, c.target, resp.StatusCode, text)
			}
		}
	})
}

// TestPage checks that browsers get the page wherever it is mounted, and that its policy allows its own
// script and style, and no other.
func TestPage(t *testing.T) {
	e := eyes.New(eyes.Options{})
	mux := http.NewServeMux()
	mux.Handle("/exact", e)
	mux.Handle("/below/", e)
	mux.Handle("/proxy/", http.StripPrefix("/proxy", e))
	for _, path := range []string{"/exact", "/below/", "/below/more", "/proxy/", "/exact?format=html"} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		if !strings.Contains(path, "?") {
			r.Header.Set("Accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8")
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		body, h := w.Body.String(), w.Header()
		if w.Code != http.StatusOK || !strings.HasPrefix(body, "<!doctype html>") ||
			h.Get("Content-Type") != "text/html; charset=utf-8" || h.Get("X-Content-Type-Options") != "nosniff" ||
			h.Get("Cache-Control") != "no-store" || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: status %d, %v, %.40q", path, w.Code, h, body)
		}
		policy := h.Get("Content-Security-Policy")
		for _, element := range []string{"script", "style"} {
			pattern := regexp.MustCompile("(?s)<" + element + "[^>]*>(.*?)</" + element + ">")
			found := pattern.FindAllStringSubmatch(body, -1)
			if len(found) != 1 {
				t.Fatalf("%d elements %s", len(found), element)
			}
			sum := sha256.Sum256([]byte(found[0][1]))
			want := element + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "';"
			if !strings.Contains(policy, want) {
				t.Errorf("the policy lacks %s: %s", want, policy)
			}
		}
		if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") {
			t.Errorf("policy %s", policy)
		}
	}
}
