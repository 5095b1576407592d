package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// Deleter is embedded in generated interfaces. In the releases for v0.38 of client-go and later it also has
// DeleteWithResult, so that the same generated code has that method with those.
type Deleter interface {
	// Delete requests the deletion of the object with that name. An object with finalizers exists until they
	// have been removed.
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
	// DeleteWithResult is like Delete. Its result has the server's response, from which Get decodes the object
	// or a Status.
	DeleteWithResult(ctx context.Context, name string, opts metav1.DeleteOptions) (metav1.APIResult, error)
}

// DeleteWithResult is like Delete. Its result has the server's response, from which Get decodes the object
// or a Status.
func (c *untyped) DeleteWithResult(
	ctx context.Context, name string, opts metav1.DeleteOptions,
) (metav1.APIResult, error) {
	result := c.at.delete(ctx, name, &opts)
	return rest.APIResultAdapter{Result: result}, result.Error()
}
