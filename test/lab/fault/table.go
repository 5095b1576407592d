package fault

import (
	"slices"
	"sync"
	"time"
)

// All returns the table of faults: those of the network, those of servers within their contract, the unusable
// ones, and the wrong ones.
func All() []Fault { return slices.Clone(rows()) }

var table struct {
	once sync.Once
	rows []Fault
}

func rows() []Fault {
	table.once.Do(func() {
		table.rows = slices.Concat(networkFaults(), serverFaults(), unusableFaults(), wrongFaults())
	})
	return table.rows
}

// The ranges that parameters are drawn from.
var (
	fewEvents = [2]int{0, 5}
	someBytes = [2]int{0, 1 << 16}
	aWhile    = [2]time.Duration{10 * time.Millisecond, 10 * time.Second}
	soon      = [2]time.Duration{0, 10 * time.Second}
	seconds   = [2]time.Duration{time.Second, 5 * time.Second}
)
