package optional_test

import (
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) {
	// Logs of the errors that the tests provoke would hide those of failures.
	klog.SetLogger(logr.Discard())
	// The rate limit of errors mixes the clocks of different tests.
	utilruntime.ErrorHandlers = nil
	goleak.VerifyTestMain(m)
}
