package reflector

import (
	"context"
	"io"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// LogError logs err, with which a round of the named reflector ended, as loudly
// as it deserves: not at all for a watch that was closed in good order, at
// level 4 for an expired version, at level 1 for a stream that broke off, as an
// error otherwise.
func LogError(ctx context.Context, name, typeDescription string, err error) {
	switch {
	case isExpired(err):
		klog.FromContext(ctx).V(4).Info("Watch closed", "reflector", name, "type", typeDescription, "err", err)
	case err == io.EOF: // Wrapped, as a failed list has it, it is an error like others.
	case err == io.ErrUnexpectedEOF:
		klog.FromContext(ctx).V(1).Info("Watch closed with unexpected EOF", "reflector", name, "type", typeDescription, "err", err)
	default:
		utilruntime.HandleErrorWithContext(ctx, err, "Failed to watch", "reflector", name, "type", typeDescription)
	}
}

// isExpired says that the server has no history any more for the version that
// it was asked about. Servers before 1.18 call that gone.
func isExpired(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// isTooLarge says that the server hasn't reached yet the version that it was
// asked about: another of its replicas had.
func isTooLarge(err error) bool {
	if apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		return true
	}
	// Servers before 1.18.6 say so only by the message: those since 1.17 in a
	// cause, older ones in the status itself.
	const message = "Too large resource version"
	status, ok := err.(apierrors.APIStatus)
	if !ok || !apierrors.IsTimeout(err) || status.Status().Details == nil {
		return false
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Message == message {
			return true
		}
	}
	return strings.Contains(status.Status().Message, message)
}

// isVersionUnavailable says that only a request without a version helps.
func isVersionUnavailable(err error) bool { return isExpired(err) || isTooLarge(err) }

// isWorthWaiting says that the server will answer the same request later: it is
// down or busy, and listing again would only add to its work.
func isWorthWaiting(err error) bool {
	return utilnet.IsConnectionRefused(err) || apierrors.IsTooManyRequests(err)
}
