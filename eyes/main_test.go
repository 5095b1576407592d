package eyes_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/kubewright/kubewright/runtime/runtimetest"
)

func TestMain(m *testing.M) {
	runtimetest.WithoutErrorBackoff()
	goleak.VerifyTestMain(m)
}
