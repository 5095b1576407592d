package client_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/gentype"
	"k8s.io/utils/ptr"
)

// TestDeleteWithResult compares the request and the result with those of upstream's generic client.
func TestDeleteWithResult(t *testing.T) {
	c, seen := connect(t)
	opts := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](3)}
	theirs := gentype.NewClient("deployments", c, codec, "ns", func() *appsv1.Deployment {
		return &appsv1.Deployment{}
	})
	got, err := newDeployments(c, "ns").DeleteWithResult(t.Context(), "d", opts)
	want, wantErr := theirs.DeleteWithResult(t.Context(), "d", opts)
	if err != nil || wantErr != nil {
		t.Fatal(err, wantErr)
	}
	if seen.requests[0] != seen.requests[1] {
		t.Errorf("%+v, want %+v", seen.requests[0], seen.requests[1])
	}
	code, err := got.StatusCode()
	if wantCode, wantErr := want.StatusCode(); code != wantCode || err != wantErr {
		t.Errorf("%d, %v, want %d, %v", code, err, wantCode, wantErr)
	}
}
