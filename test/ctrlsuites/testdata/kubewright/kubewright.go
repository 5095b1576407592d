// Package kubewright makes the tests that import it use kubewright. The variable KUBEWRIGHT lists what of
// controller-runtime's own is replaced: nothing, caches, or caches,queues.
package kubewright

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/onsi/ginkgo/v2"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/runtime/informer"
)

var (
	mu        sync.Mutex
	informers []toolscache.SharedIndexInformer
	queues    int
)

func init() {
	for what := range strings.SplitSeq(os.Getenv("KUBEWRIGHT"), ",") {
		switch what {
		case "caches":
			cache.New = kwctrl.NewCaches(kwctrl.Options{NewCache: remembering}).NewCache
		case "queues":
			priorityqueue.Hook = counting
		}
	}
}

// remembering makes a cache of controller-runtime, and remembers the informers that kubewright makes for it:
// the statuses of [kwctrl.Caches] leave out those that have stopped.
func remembering(config *rest.Config, opts cache.Options) (cache.Cache, error) {
	newInformer := opts.NewInformer
	if newInformer == nil {
		return cache.NewOwn(config, opts)
	}
	opts.NewInformer = func(
		lw toolscache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers toolscache.Indexers,
	) toolscache.SharedIndexInformer {
		i := newInformer(lw, obj, resync, indexers)
		mu.Lock()
		defer mu.Unlock()
		informers = append(informers, i)
		return i
	}
	return cache.NewOwn(config, opts)
}

// counting makes a queue, and counts it.
func counting(
	name string, limiter workqueue.TypedRateLimiter[reconcile.Request],
) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	mu.Lock()
	defer mu.Unlock()
	queues++
	return kwctrl.NewQueue(name, limiter)
}

// After all specs, the counts of what kubewright made, and how its informers read, are written to the file
// that KUBEWRIGHT_USE names.
var _ = ginkgo.ReportAfterSuite("use", func(ginkgo.Report) {
	mu.Lock()
	defer mu.Unlock()
	use := struct {
		Informers, Queues, Streamed, Whole, Unseen int
		Why                                        map[string]int
	}{Informers: len(informers), Queues: queues, Why: map[string]int{}}
	for _, i := range informers {
		status, _ := informer.StatusOf(i)
		use.Streamed += status.Reading.Streamed
		use.Whole += status.Reading.Whole
		use.Unseen += status.Reading.Unseen
		if why := status.Reading.NotStreamed; why != "" {
			use.Why[status.Name+": "+why]++
		}
	}
	text, err := json.Marshal(use)
	if err == nil {
		err = os.WriteFile(os.Getenv("KUBEWRIGHT_USE"), text, 0o644)
	}
	if err != nil {
		panic(err)
	}
})
