package runtimetest

import utilruntime "k8s.io/apimachinery/pkg/util/runtime"

// WithoutErrorBackoff removes all of apimachinery's error handlers but the one that logs.
// Call it from TestMain. The handler that slows down errors remembers the time of the last
// error for the whole process; every bubble of testing/synctest begins in the year 2000, so
// that time may be hours ahead, and the handler would sleep for hours.
func WithoutErrorBackoff() {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1:1]
}
