package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gen "github.com/kubewright/kubewright/runtime/gen/client"
)

// The functions of this file reach subresources. c is a [Resource] or a generated client. R, the type of the
// response, is a pointer to a struct. As with all clients, a request that fails returns an empty object with
// the error.

// GetAs reads a subresource of the object with that name, as scale is of a Deployment, or the object if
// subresource is empty.
func GetAs[R runtime.Object](
	ctx context.Context, c gen.Requester, name, subresource string, opts metav1.GetOptions,
) (R, error) {
	return gen.GetAs[R](ctx, c, name, subresource, opts)
}

// CreateAs posts obj to a subresource of the object with that name, as eviction is of a Pod. If subresource
// is empty, it creates obj, and ignores name.
func CreateAs[R runtime.Object](
	ctx context.Context, c gen.Requester, name, subresource string, obj runtime.Object,
	opts metav1.CreateOptions,
) (R, error) {
	return gen.CreateAs[R](ctx, c, name, subresource, obj, opts)
}

// UpdateAs replaces a subresource of the object with that name, or the object if subresource is empty, by
// obj.
func UpdateAs[R runtime.Object](
	ctx context.Context, c gen.Requester, name, subresource string, obj runtime.Object,
	opts metav1.UpdateOptions,
) (R, error) {
	return gen.UpdateAs[R](ctx, c, name, subresource, obj, opts)
}
