package listwatch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The errors of client-go's decoders quote the offending values, which may be those of a Secret.

// undecoded returns err, the error of a client that got a successful response, with a text that doesn't quote
// the content.
func undecoded(err error) error {
	var status apierrors.APIStatus
	var network net.Error
	switch {
	case err == nil, errors.As(err, &status), errors.As(err, &network), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &hidingError{"the client can't decode the list", err}
}

// watchDecoding is the cause that clients give for an event that they can't decode.
const watchDecoding = "ClientWatchDecoding"

var errClientDecoding = errors.New("the client can't decode it")

// errorOf returns the error for the object of an Error event.
func errorOf(obj runtime.Object) error {
	if _, ok := obj.(*metav1.Status); !ok {
		return &hidingError{fmt.Sprintf("unexpected object of type %T", obj), apierrors.FromObject(obj)}
	}
	err := apierrors.FromObject(obj)
	if apierrors.HasStatusCause(err, watchDecoding) {
		return undecodable(errClientDecoding)
	}
	return err
}
