package wirebench

import (
	"flag"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/kubewright/kubewright/internal/wirebench"
)

var (
	dropObjects = flag.Int("serverdrop.objects", 0, "measure with that many objects")
	dropRounds  = flag.Int("serverdrop.rounds", 5, "how often to measure")
)

// TestServerDropCost measures informers that ask the server to leave managedFields out beside those that skip
// them when they arrive, and logs a table of medians. It runs with -serverdrop.objects, and fails if more
// bytes arrive than the fields' share allows.
func TestServerDropCost(t *testing.T) {
	if *dropObjects == 0 {
		t.Skip("-serverdrop.objects isn't set")
	}
	p := start(t, true)
	if !p.Known {
		t.Skipf("this version of the API server has no feature gate %s", gate)
	}
	p.Server.Objects = *dropObjects
	fill(t, p.config(), p.Server.Objects)
	p.Server.Program = filepath.Join(t.TempDir(), "child")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", p.Server.Program,
		"github.com/kubewright/kubewright/internal/wirebench/child").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%d objects, %d rounds, medians: asked / not asked", *dropObjects, *dropRounds)
	t.Log("| collection | list | share s | MB | at most | of today's | client CPU s | of today's " +
		"| server CPU s | of today's |")
	for _, collection := range droppable {
		s := share(t, p, collection)
		for _, way := range []struct {
			name                    string
			watchList, uncompressed bool
		}{
			{"LIST", false, true}, {"LIST, compressed", false, false}, {"WatchList", true, true},
		} {
			server := p.Server
			server.Uncompressed = way.uncompressed
			costs := map[string]*drops{asked: {}, here: {}}
			for range *dropRounds {
				for _, mode := range []string{here, asked} {
					before := p.cpu(t)
					c := wirebench.Measure(t, server, collection+mode, way.watchList)
					costs[mode].add(c, p.cpu(t)-before)
				}
			}
			a, b := costs[asked], costs[here]
			part, most := median(a.received)/median(b.received), ""
			if way.uncompressed {
				most = strconv.FormatFloat(1-s+.02, 'f', 3, 64)
				if part > 1-s+.02 {
					t.Errorf("%s, %s: received %.3f of the bytes, though %.3f are managedFields", collection,
						way.name, part, s)
				}
			}
			t.Logf("| %s | %s | %.3f | %.1f / %.1f | %s | %.3f | %.2f / %.2f | %.2f | %.2f / %.2f | %.2f |",
				collection, way.name, s, median(a.received)/1e6, median(b.received)/1e6, most, part,
				median(a.client), median(b.client), median(a.client)/median(b.client),
				median(a.server), median(b.server), median(a.server)/median(b.server))
		}
	}
}

// drops are the costs of one way to drop managedFields, of each round.
type drops struct{ received, client, server []float64 }

func (d *drops) add(c wirebench.Cost, server time.Duration) {
	d.received = append(d.received, float64(c.Received))
	d.client = append(d.client, c.CPU.Seconds())
	d.server = append(d.server, server.Seconds())
}

func median(values []float64) float64 { return slices.Sorted(slices.Values(values))[len(values)/2] }
