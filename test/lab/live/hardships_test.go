package live

import (
	"testing"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// hardship is what happens to whole servers and programs, beside the faults of package fault.
type hardship struct {
	// name is a phrase of the results: what happens.
	name string
	// guarantee is the one that it tries most.
	guarantee guarantee.Guarantee
}

var (
	compactions    = hardship{"compactions", guarantee.Converging}
	kills          = hardship{"kills", guarantee.Resumable}
	shutdowns      = hardship{"shutdowns", guarantee.Resumable}
	storm          = hardship{"200 informers", guarantee.BoundedLoad}
	twoServers     = hardship{"two servers", guarantee.NoTimeTravel}
	restores       = hardship{"etcd restored", guarantee.Converging}
	serverFreezes  = hardship{"server frozen", guarantee.Converging}
	programFreezes = hardship{"program frozen", guarantee.Converging}
)

func TestHardships(t *testing.T) {
	for _, h := range []hardship{
		compactions, kills, shutdowns, storm, twoServers, restores, serverFreezes, programFreezes,
	} {
		if h.name == "" || h.guarantee == "" {
			t.Errorf("%+v lacks something", h)
		}
	}
}

// long reports whether a test may take minutes, as those of make lab and make nightly.
func long() bool { return *full || !testing.Short() }
