package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestVulnerabilities: if the database can't be reached, the error names it, and nothing runs.
func TestVulnerabilities(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	t.Chdir("../..")
	t.Setenv("GOVULNDB", server.URL)
	for range 2 {
		steps, err := vulnerabilities()
		if len(steps) > 0 || err == nil || !strings.Contains(err.Error(), "nothing was checked") ||
			!strings.Contains(err.Error(), server.URL) {
			t.Errorf("%d steps, %v", len(steps), err)
		}
		server.Close()
	}
	t.Setenv("GOVULNDB", "file:///copy")
	if steps, err := vulnerabilities(); len(steps) == 0 || err != nil {
		t.Errorf("%d steps, %v", len(steps), err)
	}
}
