package apiserver

import (
	"fmt"
	"sync"

	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// gate is the feature gate ShardedListAndWatch, as the first server of the process has set it.
var gate struct {
	sync.Mutex
	set, on bool
}

// setGate sets the feature gate, or returns an error if an earlier server needs another value: the code that
// serves requests reads global variables.
func setGate(on bool) error {
	gate.Lock()
	defer gate.Unlock()
	switch {
	case gate.set && gate.on != on:
		return fmt.Errorf("Options.ShardedListAndWatch is %t, but this process had a server with %t, and the "+
			"feature gate is global to a process: start this one in another process", on, gate.on)
	case gate.set:
		return nil
	}
	value := map[string]bool{string(features.ShardedListAndWatch): on}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(value); err != nil {
		return fmt.Errorf("setting the feature gate %s: %w", features.ShardedListAndWatch, err)
	}
	gate.set, gate.on = true, on
	return nil
}
