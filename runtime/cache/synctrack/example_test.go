package synctrack_test

import (
	"fmt"

	"github.com/kubewright/kubewright/runtime/cache/synctrack"
)

// A controller has synced when its workers have handled the first list, which is after the informer has
// delivered it.
func Example() {
	tracker := synctrack.NewAsyncTracker[string]("ovens")
	queue := make(chan string, 2)
	onAdd := func(key string, isInInitialList bool) { // the informer's handler
		if isInInitialList {
			tracker.Start(key)
		}
		queue <- key
	}
	onAdd("town/old", true)
	onAdd("town/new", true)
	tracker.UpstreamHasSynced() // the informer has delivered its first list
	fmt.Println(tracker.HasSynced())
	for range 2 { // the worker
		tracker.Finished(<-queue)
	}
	<-tracker.Done()
	fmt.Println(tracker.HasSynced())
	// Output:
	// false
	// true
}
