package fake

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/testing"
)

// DeleteWithResult records a delete. Its result has the reactors' answer, which is a Status unless one of
// them returns another object.
func (c *untyped) DeleteWithResult(
	_ context.Context, name string, opts metav1.DeleteOptions,
) (metav1.APIResult, error) {
	answer, err := c.at.fake.Invokes(
		testing.NewDeleteActionWithOptions(c.at.resource, c.at.namespace, name, opts), &metav1.Status{})
	result := testing.FakeAPIResult{Obj: answer, Err: err}
	status, isStatus := answer.(*metav1.Status)
	var failure apierrors.APIStatus
	switch {
	case errors.As(err, &failure):
		result.Code = int(failure.Status().Code)
	case err != nil || answer == nil:
	case isStatus:
		result.Code = int(status.Code)
	default:
		result.Code = http.StatusOK
	}
	return result, err
}
