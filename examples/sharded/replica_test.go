package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/sharding"
)

// TestNotReady checks that a replica which hasn't joined the others reports that it isn't ready, and why.
// test/e2e/demo-sharded tests how replicas share the work.
func TestNotReady(t *testing.T) {
	r, err := newReplica(t.Context(), &rest.Config{}, options{
		leases: "default", share: sharding.Config{Group: "bakers", Identity: "a"},
	})
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	readiness(r.member)(answer, httptest.NewRequest(http.MethodGet, "/readyz", nil))
	if why := r.member.Health().Error(); answer.Code != http.StatusServiceUnavailable ||
		!strings.Contains(answer.Body.String(), why) {
		t.Errorf("answer %d, %s, want that it isn't ready because of %s", answer.Code, answer.Body, why)
	}
}
