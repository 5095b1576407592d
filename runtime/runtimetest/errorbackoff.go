package runtimetest

import utilruntime "k8s.io/apimachinery/pkg/util/runtime"

// WithoutErrorBackoff removes from apimachinery's error handlers all but the one
// that logs. Call it from TestMain: the handler that slows down errors remembers,
// for the whole process, when the last error was, and in the bubbles of
// testing/synctest, each of which begins in the year 2000, that may be hours
// ahead.
func WithoutErrorBackoff() {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1:1]
}
