package reflector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// TestBackoff checks that the waits grow from 0.8 s to 30 s, each extended at random up to twofold, and start
// over every two minutes.
func TestBackoff(t *testing.T) {
	(scenario{
		before: func(w *world) {
			listed(w)
			w.server.OnRequest(func(context.Context, runtimetest.Request) error { return internal })
		},
		then: func(w *world) {
			least := 800 * time.Millisecond
			for range 7 { // within two minutes, whatever the random extensions
				bubble.Advance(least - time.Millisecond)
				if lines := w.take(); len(lines) != 1 {
					w.t.Fatalf("%d requests within %v", len(lines), least)
				}
				start := time.Now()
				w.advanceUntil(func() bool { w.mu.Lock(); defer w.mu.Unlock(); return len(w.lines) > 0 })
				if extra := time.Since(start); extra > least+2*time.Millisecond {
					w.t.Fatalf("waited %v more than %v", extra, least)
				}
				least = min(2*least, 30*time.Second)
			}
			w.server.OnRequest(nil)
			bubble.Advance(backoff)
			bubble.Advance(3 * time.Minute)
			w.take()
			w.server.FailWatches(expired)
			bubble.Advance(1600 * time.Millisecond)
			if lines := w.take(); len(lines) == 0 {
				w.t.Error("the back-off didn't start over")
			}
		},
	}).play(t, ours)
}

// TestRetryAfter checks that the reflector waits for the delay that a server requests.
func TestRetryAfter(t *testing.T) {
	(scenario{
		before: func(w *world) {
			listed(w)
			w.server.Fail("WATCH", apierrors.NewTooManyRequests("busy", 45))
		},
		then: func(w *world) {
			w.take()
			bubble.Advance(44 * time.Second)
			if lines := w.take(); len(lines) != 0 {
				w.t.Errorf("%s before the time that the server requested", lines)
			}
			bubble.Advance(time.Second)
			if lines := w.take(); len(lines) != 1 {
				w.t.Errorf("%s after the time that the server requested", lines)
			}
		},
	}).play(t, ours)
}

func TestErrorHandler(t *testing.T) {
	var w *world
	(scenario{
		before: func(inner *world) {
			w = inner
			listed(w)
			w.server.Fail("LIST", forbidden)
			w.server.Fail("WATCH", forbidden)
		},
		then: func(w *world) {
			bubble.Advance(backoff)
			bubble.Advance(backoff)
			w.server.FailWatches(expired)
		},
	}).play(t, ours)
	want := []string{"failed to list *v1.ConfigMap: " + forbidden.Error(), forbidden.Error()}
	if fmt.Sprint(w.errs) != fmt.Sprint(want) {
		t.Errorf("errors %q, want %q", w.errs, want)
	}
}

// TestLogError checks which ends of a watch are logged as errors: all except the ordinary ones.
func TestLogError(t *testing.T) {
	defer func(handlers []utilruntime.ErrorHandler) {
		utilruntime.ErrorHandlers = handlers
	}(utilruntime.ErrorHandlers)
	for _, test := range []struct {
		err  error
		loud bool
	}{
		{expired, false},
		{apierrors.NewGone("gone"), false},
		{io.EOF, false},
		{io.ErrUnexpectedEOF, false},
		{fmt.Errorf("failed to list: %w", io.EOF), true},
		{forbidden, true},
	} {
		loud := false
		utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{
			func(context.Context, error, string, ...any) { loud = true },
		}
		if LogError(t.Context(), "name", "type", test.err); loud != test.loud {
			t.Errorf("%v: loud %t", test.err, loud)
		}
	}
}

func TestTooLarge(t *testing.T) {
	byMessage := apierrors.NewTimeoutError("Too large resource version: 5, current: 3", 1)
	byCauseMessage := apierrors.NewTimeoutError("later", 1)
	byCauseMessage.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: "Too large resource version"}}
	for err, want := range map[error]bool{
		tooLarge: true, byMessage: true, byCauseMessage: true,
		apierrors.NewTimeoutError("later", 1):                         false,
		apierrors.NewBadRequest("Too large resource version: 5"):      false,
		errors.New("Too large resource version: 5, no status at all"): false,
	} {
		if got := isTooLarge(err); got != want {
			t.Errorf("%v: %t", err, got)
		}
	}
}
