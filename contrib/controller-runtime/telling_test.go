package kwctrl_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
)

// TestTellsWhoDidNotSync checks that a cache which doesn't sync logs the informer that fails, and why, once,
// and not the ones that wait.
func TestTellsWhoDidNotSync(t *testing.T) {
	refused := make(chan struct{}, 2)
	config := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/secrets") {
			w.WriteHeader(http.StatusForbidden)
			select {
			case refused <- struct{}{}:
			default:
			}
			return
		}
		<-r.Context().Done()
	})
	caches := kwctrl.NewCaches(kwctrl.Options{})
	c, err := caches.NewCache(config, options())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var told strings.Builder
	ctx, stop := context.WithCancel(logr.NewContext(t.Context(), funcr.New(func(name, line string) {
		mu.Lock()
		defer mu.Unlock()
		told.WriteString(name + ": " + line + "\n")
	}, funcr.Options{})))
	ended := make(chan error)
	go func() { ended <- c.Start(ctx) }()
	for _, obj := range []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}} {
		if _, err := c.GetInformer(ctx, obj, cache.BlockUntilSynced(false)); err != nil {
			t.Fatal(err)
		}
	}
	<-refused
	<-refused // Before the second request, the informer has read the first answer.
	waiting, giveUp := context.WithCancel(ctx)
	giveUp()
	for range 2 {
		if c.WaitForCacheSync(waiting) {
			t.Error("the cache has synced")
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	var lines []string
	for line := range strings.Lines(told.String()) {
		if strings.Contains(line, "did not sync") {
			lines = append(lines, line)
		}
	}
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "cache: ") || !strings.Contains(lines[0], "Secret") ||
		!strings.Contains(lines[0], `"reason"="forbidden"`) {
		t.Errorf("the log has %q", lines)
	}
}

// TestNeedsNoLeader checks that a manager starts a cache that is added to it when it would start
// controller-runtime's.
func TestNeedsNoLeader(t *testing.T) {
	several := options()
	several.DefaultNamespaces = map[string]cache.Config{"one": {}, "two": {}}
	needs := func(c cache.Cache, err error) bool {
		if err != nil {
			t.Fatal(err)
		}
		of, ok := c.(manager.LeaderElectionRunnable)
		return !ok || of.NeedLeaderElection()
	}
	for name, opts := range map[string]cache.Options{"all": options(), "several": several} {
		config := &rest.Config{Host: "127.0.0.1:1"} // nothing is sent
		theirs := needs(cache.New(config, opts))
		if ours := needs(kwctrl.NewCaches(kwctrl.Options{}).NewCache(config, opts)); ours != theirs {
			t.Errorf("%s namespaces: %t, want %t", name, ours, theirs)
		} else if name == "all" && ours {
			t.Error("a cache of all namespaces waits for a leader")
		}
	}
}
