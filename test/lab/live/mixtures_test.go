package live

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubewright/kubewright/test/lab/fault"
)

// TestMixtures draws faults at random.
func TestMixtures(t *testing.T) {
	t.Parallel()
	seeds := uint64(1)
	if *full {
		seeds = 20
	}
	mixtures(t, embeddedCluster(t, true), seeds)
}

// mixtures makes random faults happen: each seed to each implementation. Every third seed has faults of class
// Wrong.
func mixtures(t *testing.T, c cluster, seeds uint64) {
	var trials []func()
	for seed := range seeds {
		var faults []fault.Fault
		for _, f := range fault.All() {
			if f.Class != fault.Wrong || seed%3 == 0 {
				faults = append(faults, f)
			}
		}
		for _, who := range []implementation{ours, facade, clientGo} {
			tr := trial{
				cluster: c, who: who, seed: seed, faults: faults, wanted: 10, mixture: true, watchList: seed%2 == 0,
				plan:      fault.Random{Seed: seed, Rate: 0.7, Faults: faults, Longest: time.Second},
				server:    fault.ServerOptions{HTTP1: seed%5 == 4},
				namespace: newNamespace(), test: inMixtures,
			}
			if who == clientGo && !*full {
				continue
			}
			trials = append(trials, func() {
				t.Run(fmt.Sprint(who, " ", seed), func(t *testing.T) { tr.check(t, "", "") })
			})
		}
	}
	together(trials)
}
