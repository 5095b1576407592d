package kwctrl_test

import (
	"reflect"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// TestMain looks for leaks. controller-runtime filters the watches of metadata. The filter's goroutine stays
// if client-go's informer stops while an event, such as the error of the watch's end, is on the way. Our
// informers don't read that watch.
func TestMain(m *testing.M) {
	runtimetest.WithoutErrorBackoff()
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop"))
}

type (
	limiter[T comparable]  = workqueue.TypedRateLimiter[T]
	priority[T comparable] = priorityqueue.PriorityQueue[T]
)

// side is one of the two implementations that tests and benchmarks run.
type side[T comparable] struct {
	name string
	make func(name string, l limiter[T]) priority[T]
	// keepsPlace is true if a delayed item that is added again without a delay goes before items that were
	// added since it was delayed.
	keepsPlace bool
}

func sides[T comparable]() []side[T] {
	return []side[T]{
		{name: "ours", make: func(name string, l limiter[T]) priority[T] {
			return kwctrl.NewQueue(name, l).(priority[T])
		}},
		{name: "upstream", keepsPlace: true, make: func(name string, l limiter[T]) priority[T] {
			return priorityqueue.New(name, func(o *priorityqueue.Opts[T]) { o.RateLimiter = l })
		}},
	}
}

// isV025 reports whether the tests run with controller-runtime v0.25, as newest.mod requires it, and not with
// v0.24, as go.mod does.
func isV025() bool {
	_, ok := reflect.TypeFor[client.CacheOptions]().FieldByName("EnableReadYourWritesConsistency")
	return ok
}
