package live

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/test/lab/fault"
)

// restoredBound bounds how long informers may take after a restore. A server waits for three seconds before
// it refuses a version that it hasn't reached, and the REST client asks for it up to eleven times, a second
// apart. Then informers request the newest state.
const restoredBound = 2 * time.Minute

// TestRestores restores etcd from a backup, so that versions go back.
//
// An informer without SilenceTimeout doesn't learn of that by itself. It goes on with a watch from its
// version, and kube-apiserver sends only what is later: neither events nor bookmarks before that version is
// reached again, and then none of what was undone, or written in between. The next list shows everything: if
// the server hasn't reached the informer's version, it refuses it, and the informer requests the newest
// state, which is older, and reports that in its status. If the server has reached it, no client can know
// that there was a restore. Neither can it if the API server isn't restarted, whose own caches then are what
// etcd had before.
//
// So a list of each informer follows the restart of the API server: its watch expires. In every other round
// the API server runs on for a while after the restore, and takes writes.
func TestRestores(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	rounds := 2
	if *full {
		rounds = 4
	}
	server, c := launchKube(t)
	namespace, w := enter(ctx, t, c)
	random := rand.New(rand.NewPCG(1, 0))
	for round := range rounds {
		l := newLab(ctx, t, c, namespace, true, false)
		l.bound = restoredBound
		write := func(n int) {
			for range n {
				step(ctx, w, random)
			}
		}
		write(10)
		l.converge(ctx)
		backup := filepath.Join(t.TempDir(), fmt.Sprint("backup-", round))
		if err := server.Backup(ctx, backup); err != nil {
			t.Fatal(err)
		}
		write(30)
		l.converge(ctx)

		runsOn := round%2 == 1
		if !runsOn {
			if err := server.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		if err := server.Restore(ctx, backup); err != nil {
			t.Fatal(err)
		}
		if runsOn {
			write(10)
		}
		if err := server.Restart(ctx); err != nil {
			t.Fatal(err)
		}
		l.restored = true
		l.expire(ctx)
		begin := time.Now()
		verdicts := l.converge(ctx)
		l.report(restores, verdicts, time.Since(begin))
		t.Logf("round %d: right again after %v", round, time.Since(begin).Round(time.Millisecond))
		if !runsOn {
			l.toldOfRestore()
		}
		stop := churn(ctx, w, uint64(round))
		l.hear(ctx)
		stop()
		l.converge(ctx)
		l.end()
	}
}

// expire makes every informer list again, once all of them watch.
func (l *lab) expire(ctx context.Context) {
	l.t.Helper()
	ctx, cancel := context.WithTimeoutCause(ctx, l.bound, fmt.Errorf("not within %v", l.bound))
	defer cancel()
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for open := 0; ; {
		open = 0
		for _, r := range l.proxy.Open() {
			if r.Kind&fault.Watches != 0 {
				open++
			}
		}
		if open == len(l.subjects) {
			break
		}
		select {
		case <-ctx.Done():
			l.t.Fatalf("%s: only %d of %d informers watch: %v", guarantee.Converging, open, len(l.subjects),
				context.Cause(ctx))
		case <-ticker.C:
		}
	}
	l.proxy.Expire()
}

// toldOfRestore checks that our informers report that versions went back.
func (l *lab) toldOfRestore() {
	l.t.Helper()
	for _, s := range l.subjects {
		status, ok := informer.StatusOf(s.informer)
		if !ok {
			continue // one of client-go
		}
		if err := status.LastError; err == nil || !strings.Contains(err.Error(), "after version") {
			l.t.Errorf("%s: the status of %s tells nothing of the restore: %v", guarantee.Told, s.who, err)
		}
	}
}
