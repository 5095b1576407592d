package generators_test

import (
	"flag"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubewright/kubewright/internal/scratch"
)

var (
	names = flag.Int("names", 12, "how many random APIs TestNames generates for")
	seed  = flag.Uint64("names-seed", 1, "the first API of TestNames; 0 for a random one")
)

// inBatch is the number of APIs whose code is built as one program.
const inBatch = 100

// TestNames generates everything for random APIs whose groups, versions, kinds, tags and flags collide with
// each other, with Go's keywords and with names in generated code. Their fields have the types of real APIs.
// Whatever kubewright accepts must compile and obey the laws of package apilaws; an error must say where the
// mistake is. To try more of them:
//
//	go test ./generators -run TestNames -names 2000 -timeout 60m
func TestNames(t *testing.T) {
	t.Parallel()
	first := *seed
	if first == 0 {
		first = rand.Uint64N(1 << 40)
	}
	t.Logf("-names-seed %d", first)
	results, dir := &results{T: t, refusals: map[string]int{}}, scratch.FixedForTest(t)
	for from := 0; from < *names; from += inBatch {
		b := newBatch(results, dir)
		b.generate(first+uint64(from), min(inBatch, *names-from))
		b.run()
	}
	t.Logf("%d of %d accepted", results.accepted, *names)
	for _, message := range slices.Sorted(maps.Keys(results.refusals)) {
		t.Logf("refused %4d times: %s", results.refusals[message], message)
	}
	if results.accepted < *names/3 {
		t.Errorf("only %d of %d APIs were accepted", results.accepted, *names)
	}
}
