package fault

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"

	"golang.org/x/net/http2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ending is how a request or its response ends before it is complete. Only the proxy sees it as an error. A
// server applies it to the connection; without a connection, the client gets the error that it would see on
// one.
type ending struct {
	name string
	// seen is the error that a client without a connection gets.
	seen error
	// connection is what happens to the connection, nil if only the response ends.
	connection func(*conn)
	// status is sent as the last event of a watch, which then ends without an error.
	status *metav1.Status
}

func (e *ending) Error() string { return "fault: " + e.name }

// The endings. Where HTTP/2 aborts a single response, HTTP/1.1 has to close the connection; net/http does
// either.
var (
	errReset = &ending{name: "reset", connection: (*conn).reset,
		seen: &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}}
	errRefused = &ending{name: "refused", connection: (*conn).reset,
		seen: &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}}
	errCut     = &ending{name: "cut", connection: (*conn).cut, seen: io.ErrUnexpectedEOF}
	errAborted = &ending{name: "aborted", seen: http2.StreamError{StreamID: 1, Code: http2.ErrCodeInternal,
		Cause: errors.New("received from peer")}}
	errGoneAway = &ending{name: "gone away", connection: (*conn).cut,
		seen: http2.GoAwayError{LastStreamID: 1, ErrCode: http2.ErrCodeNo}}
	errLost      = &ending{name: "lost", seen: errors.New("http2: client connection lost")}
	errUntrusted = &ending{name: "untrusted", connection: (*conn).reset,
		seen: &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}}
	errClosed = &ending{name: "the proxy is closed", connection: (*conn).reset,
		seen: errors.New("fault: the proxy is closed")}
	// errGoodOrder ends a response as if it were complete.
	errGoodOrder = &ending{name: "ended in good order", seen: io.EOF}
	// errExpired and errInternal end a watch with an error event.
	errExpired = &ending{name: "expired", seen: io.EOF,
		status: statusOf(http.StatusGone, metav1.StatusReasonExpired)}
	errInternal = &ending{name: "internal error", seen: io.EOF,
		status: statusOf(http.StatusInternalServerError, metav1.StatusReasonInternalError)}
)

// seenBy returns the error that a client without a connection gets.
func seenBy(err error) error {
	if e := (*ending)(nil); errors.As(err, &e) {
		return e.seen
	}
	return err
}

// statusOf returns the status of a failure.
func statusOf(code int32, reason metav1.StatusReason) *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: code, Reason: reason,
		Message: fmt.Sprintf("fault: %s", reason),
	}
}
