package check_test

import (
	"testing"

	"github.com/kubewright/kubewright/test/lab/check"
	"github.com/kubewright/kubewright/test/lab/fault"
)

// TestRefusedWatches answers watches with a content type that no client can decode, while the informers run
// on. client-go's informers leave the responses open, with a connection for each; ours don't.
func TestRefusedWatches(t *testing.T) {
	refused := fault.Script{{Request: fault.Request{Kind: fault.Watch}, Fault: "wrong-content-type"}}
	for _, i := range check.Implementations {
		left := 0
		for n := range uint64(20) {
			// The watch ends, and the next ones are refused, until the time of quiet.
			ops := []check.Op{{Do: "watch", N: n}, {Do: "settle"}, {Do: "close"}, {Do: "wait", N: n}}
			switch v := check.Play(t, i, check.Script{Ops: ops, Faults: refused}).Violation; {
			case v == nil:
			case v.Law == check.Left:
				left++
			default:
				t.Errorf("%s, %d: %v", i.Name, n, v)
			}
		}
		if theirs := i.Name == check.ClientGo.Name; (left > 0) != theirs {
			t.Errorf("%s left responses open in %d scripts", i.Name, left)
		}
	}
}
