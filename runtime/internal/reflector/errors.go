package reflector

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// LogError logs the error that ended a round of the named reflector: not at all for a
// watch that was closed in good order, at level 4 for an expired version, at level 1 for
// a stream that broke off, as an error otherwise.
func LogError(ctx context.Context, name, typeDescription string, err error) {
	switch {
	case isExpired(err):
		klog.FromContext(ctx).V(4).Info("Watch closed", "reflector", name,
			"type", typeDescription, "err", err)
	case err == io.EOF: // The error of a failed list wraps it, and is logged as an error.
	case err == io.ErrUnexpectedEOF:
		klog.FromContext(ctx).V(1).Info("Watch closed with unexpected EOF",
			"reflector", name, "type", typeDescription, "err", err)
	default:
		utilruntime.HandleErrorWithContext(ctx, err, "Failed to watch", "reflector", name,
			"type", typeDescription)
	}
}

// nameOf returns the namespace and name of an object, or its type if it has none. Logs must not contain the
// object itself: it may be a Secret.
func nameOf(obj any) string {
	m, err := meta.Accessor(obj)
	if err != nil {
		return fmt.Sprintf("%T", obj)
	}
	return klog.KObj(m).String()
}

// isExpired reports whether the server no longer has the history since the requested version:
// 410 Gone, with the reason Expired or, from servers before 1.18, Gone.
func isExpired(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// isTooLarge reports whether the server hasn't reached the requested version yet: the version
// came from another replica.
func isTooLarge(err error) bool {
	if apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		return true
	}
	// Servers before 1.18.6 report it only by the message: those since 1.17 in a
	// cause, older ones in the status itself.
	const message = "Too large resource version"
	status, ok := err.(apierrors.APIStatus)
	if !ok || !apierrors.IsTimeout(err) || status.Status().Details == nil {
		return false
	}
	isMessage := func(cause metav1.StatusCause) bool { return cause.Message == message }
	return strings.Contains(status.Status().Message, message) ||
		slices.ContainsFunc(status.Status().Details.Causes, isMessage)
}

// isVersionUnavailable reports whether only a request without a version can succeed.
func isVersionUnavailable(err error) bool { return isExpired(err) || isTooLarge(err) }

// isRefused reports whether the server rejects a request, as servers without watch-lists do.
func isRefused(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsMethodNotSupported(err) ||
		apierrors.IsNotAcceptable(err)
}

// isWorthWaiting reports whether the same request may succeed later: the server is down
// or busy, and listing again would only add to its load.
func isWorthWaiting(err error) bool {
	return utilnet.IsConnectionRefused(err) || apierrors.IsTooManyRequests(err)
}
