package cluster_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/test/lab/cluster"
)

// lagging is a cluster of whose servers one is behind.
type lagging struct {
	*testing.T
	*cluster.Cluster
	kind *cluster.Kind
	lw   *cache.ListWatch
	// behind and now are the versions that the servers have reached.
	behind, now int64
}

// requests are so many that each server gets some.
const requests = 20

func newLagging(t *testing.T) *lagging {
	l := &lagging{T: t, Cluster: cluster.New()}
	l.kind = l.Kinds()[0]
	l.lw = client(t, l.Cluster, l.kind, runtime.ContentTypeJSON, "")
	r := rand.New(rand.NewPCG(0, 5))
	for range 20 {
		change(l.Cluster, r)
	}
	l.behind = l.version()
	l.Lag(0.5)
	for l.now < l.behind+10 {
		change(l.Cluster, r)
		l.now = l.version()
	}
	return l
}

func (l *lagging) version() int64 {
	_, text := l.kind.Now()
	return number(text)
}

func number(version string) int64 {
	n, _ := strconv.ParseInt(version, 10, 64)
	return n
}

// TestListsOfTwoServers checks that each server answers lists with its state, or refuses a version.
func TestListsOfTwoServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLagging(t)
		for version, want := range map[string][]int64{
			"0": {l.behind, l.now}, "": {l.now}, fmt.Sprint(l.behind): {l.behind, l.now},
			fmt.Sprint(l.now): {l.now},
		} {
			seen, slow := map[int64]bool{}, 0
			for range requests {
				begun := time.Now()
				list, err := l.lw.ListWithContext(t.Context(), metav1.ListOptions{ResourceVersion: version})
				if time.Since(begun) >= 3*time.Second {
					slow++ // It was refused. Often client-go's client tries again.
				}
				if apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				m, _ := meta.ListAccessor(list)
				items, _ := meta.ExtractList(list)
				seen[number(m.GetResourceVersion())] = true
				if state, _ := l.kind.At(m.GetResourceVersion()); len(items) != len(state) {
					t.Errorf("at %s: %d objects, want %d", m.GetResourceVersion(), len(items), len(state))
				}
			}
			if refuses := version == fmt.Sprint(l.now); (slow > 0) != refuses {
				t.Errorf("%q was refused %d times", version, slow)
			}
			for _, v := range want {
				if !seen[v] || len(seen) != len(want) {
					t.Errorf("%q: %v, want %v", version, seen, want)
				}
			}
		}
	})
}

// TestWatchesOfTwoServers checks that a watch brings what its server has reached, and the rest when that
// catches up.
func TestWatchesOfTwoServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLagging(t)
		yes := true
		for _, opts := range []metav1.ListOptions{
			{ResourceVersion: fmt.Sprint(l.behind - 5)}, {ResourceVersion: fmt.Sprint(l.now)},
			{ResourceVersion: "0", SendInitialEvents: &yes,
				ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan},
		} {
			opts.AllowWatchBookmarks = true
			var open []watch.Interface
			held := 0
			for range requests {
				w, err := l.lw.WatchWithContext(t.Context(), opts)
				if err != nil {
					t.Fatal(err)
				}
				open = append(open, w)
				if last := l.last(w); last < l.now {
					if held++; last > l.behind {
						t.Errorf("from %s: the watch is at %d, its server at %d", opts.ResourceVersion, last,
							l.behind)
					}
				}
			}
			if at := number(opts.ResourceVersion); at < l.now && (held == 0 || held == requests) {
				t.Errorf("from %s: %d watches are late", opts.ResourceVersion, held)
			}
			l.CatchUp(l.now)
			l.Bookmark()
			for _, w := range open {
				if last := l.last(w); last != l.version() && last != 0 {
					t.Errorf("from %s: the watch is at %d in the end", opts.ResourceVersion, last)
				}
				w.Stop()
				for range w.ResultChan() { // client-go's watcher waits for its reader
				}
			}
			l = newLagging(t)
		}
	})
}

// last returns the version of the last event that arrives, 0 without one. Versions may not go back, except
// among the initial events.
func (l *lagging) last(w watch.Interface) (last int64) {
	for event := range arrived(w) {
		obj := event.Object.(cluster.Object)
		v := number(obj.GetResourceVersion())
		if v < last && event.Type != watch.Added {
			l.Errorf("%s %d after %d", event.Type, v, last)
		}
		last = v
	}
	return last
}
