package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Deleter is embedded in generated interfaces. In the releases for v0.38 of client-go and later it also has
// DeleteWithResult, so that the same generated code has that method with those. upstream/v0.38 has that form
// of this file.
type Deleter interface {
	// Delete requests the deletion of the object with that name. An object with finalizers exists until they
	// have been removed.
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
}
