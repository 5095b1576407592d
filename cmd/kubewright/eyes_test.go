package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/runtime/queue"
)

// TestEyes checks what the command prints and its exit status, with real pages and others.
func TestEyes(t *testing.T) {
	fine, stuck := eyes.New(eyes.Options{}), queue.New(queue.Config[string]{})
	fine.AddQueue("bakeries", queue.New(queue.Config[string]{}))
	found := eyes.New(eyes.Options{})
	found.AddQueue("bakeries", stuck)
	named := eyes.New(eyes.Options{Keys: true})
	named.AddQueue("bakeries", queue.New(queue.Config[string]{}))
	var looks atomic.Int32
	mux := http.NewServeMux()
	mux.Handle("/fine", fine)
	mux.Handle("/named", named)
	mux.HandleFunc("/found", func(w http.ResponseWriter, r *http.Request) {
		looks.Add(1)
		w.Header().Set("Kubewright-Compared", map[bool]string{true: "false", false: "true"}[looks.Load() == 1])
		w.Header().Set("Kubewright-Findings", "1")
		_, _ = w.Write([]byte("no worker " + r.URL.RawQuery + "\n"))
	})
	mux.HandleFunc("/other", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) })
	mux.HandleFunc("/closed", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer sesame" {
			http.Error(w, "who?", http.StatusUnauthorized)
			return
		}
		fine.ServeHTTP(w, r)
	})
	server, secured := httptest.NewServer(mux), httptest.NewUnstartedServer(mux)
	defer server.Close()
	secured.Config.ErrorLog = log.New(io.Discard, "", 0) // It complains of clients that don't trust it.
	secured.StartTLS()
	defer secured.Close()
	ca := filepath.Join(t.TempDir(), "ca.crt")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secured.Certificate().Raw})
	if err := os.WriteFile(ca, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args        []string
		status      int
		out, stderr string
	}{
		{[]string{server.URL + "/fine"}, 0, "bakeries", "looking again"},
		{[]string{server.URL + "/fine", "--json"}, 0, `"schema":1`, "looking again"},
		{[]string{server.URL + "/fine", "--owner", "oslo"}, 0, "no member of a sharded controller was added", ""},
		{[]string{server.URL + "/fine", "--owner", "oslo", "--json"}, 0, `"value":"oslo","owners":[]`, ""},
		{[]string{server.URL + "/named", "--key", "oslo/one"}, 0, "oslo/one is not in queue bakeries", ""},
		{[]string{server.URL + "/fine", "--key", "oslo/one"}, 2, "", "set Options.Keys"},
		{[]string{server.URL + "/named", "--key", "a", "--owner", "b"}, 2, "", "give one of them"},
		{[]string{server.URL + "/named", "--key", ""}, 2, "", "--key is empty"},
		{[]string{server.URL + "/found"}, 1, "no worker", "looking again"},
		{[]string{server.URL + "/found", "--json"}, 1, "no worker format=json", ""},
		{[]string{server.URL + "/other"}, 2, "", "isn't a page of package eyes"},
		{[]string{server.URL + "/missing"}, 2, "", "404"},
		{[]string{server.URL + "/closed"}, 2, "", "--token-file"},
		{[]string{server.URL + "/closed", "--token-file", token}, 0, "bakeries", ""},
		{[]string{server.URL + "/closed", "--token-file", token + "s"}, 2, "", "read the token"},
		{[]string{server.URL + "/fine", "--ca-file", token}, 2, "", "no certificate"},
		{[]string{secured.URL + "/fine"}, 2, "", "certificate"},
		{[]string{secured.URL + "/fine", "--ca-file", ca}, 0, "bakeries", ""},
		{[]string{secured.URL + "/closed", "--ca-file", ca, "--token-file", token}, 0, "bakeries", ""},
		{[]string{secured.URL + "/fine", "--insecure-skip-tls-verify"}, 0, "bakeries", ""},
		{[]string{"http://127.0.0.1:1/"}, 2, "", "can't be reached"},
		{[]string{"localhost/debug"}, 2, "", "give one such as"},
	} {
		var stdout, stderr bytes.Buffer
		status := executeEyes(t, c.args, &stdout, &stderr)
		if status != c.status || !strings.Contains(stdout.String(), c.out) ||
			!strings.Contains(stderr.String(), c.stderr) {
			t.Errorf("%s: exit status %d, %q, %q", c.args, status, &stdout, &stderr)
		}
		if failed := strings.Contains(stderr.String(), "kubewright:"); failed != (status == statusFailed) {
			t.Errorf("%s: exit status %d, and an error: %q", c.args, status, &stderr)
		}
	}
}

// executeEyes runs the command without a pause between its looks.
func executeEyes(t *testing.T, args []string, stdout, stderr *bytes.Buffer) int {
	t.Helper()
	before := eyesPause
	eyesPause = 0
	defer func() { eyesPause = before }()
	return execute(context.Background(), append([]string{"eyes"}, args...), stdout, stderr)
}
