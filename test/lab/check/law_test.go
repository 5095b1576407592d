package check_test

import (
	"testing"

	"github.com/kubewright/kubewright/test/lab/check"
)

func TestLawsHaveGuarantees(t *testing.T) {
	if len(check.Laws) == 0 {
		t.Error("there are no laws")
	}
	for _, l := range check.Laws {
		if l.Guarantee == "" || l.Says == "" {
			t.Errorf("%+v", l)
		}
	}
}
