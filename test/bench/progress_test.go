package main

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
)

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		p := newProgress(&b)
		stop := p.tell(30 * time.Second)
		p.say("wire: %s, run %d of %d", "internal/wirebench", 1, 1)
		bubble.Advance(31 * time.Second)
		p.saw("BenchmarkSync/ours-2")
		bubble.Advance(30 * time.Second)
		p.say("wire: next")
		stop()
		bubble.Advance(time.Hour)
		want := `      0s  wire: internal/wirebench, run 1 of 1
     30s  wire: internal/wirebench, run 1 of 1
    1m0s  wire: internal/wirebench, run 1 of 1; last result: BenchmarkSync/ours-2
    1m1s  wire: next
`
		if b.String() != want {
			t.Errorf("said:\n%s", b.String())
		}
	})
}
