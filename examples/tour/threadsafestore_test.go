package tour

import (
	"fmt"
	"sync"

	"github.com/kubewright/kubewright/runtime/cache"
)

// A ThreadSafeStore is what lies below a Store: keys are given, not computed, so it holds anything. Every
// method may be called by any number of goroutines at the same time. The objects are shared: whoever
// changes what it read races with all other readers.
func Example_threadSafeStore() {
	store := cache.NewThreadSafeStore(cache.Indexers{
		"length": func(obj any) ([]string, error) { return []string{fmt.Sprint(len(obj.(string)))}, nil },
	}, cache.Indices{})

	var writers sync.WaitGroup
	for _, word := range []string{"rye", "oat", "spelt", "wheat"} {
		writers.Go(func() { store.Add("grain/"+word, word) })
	}
	writers.Wait()

	fmt.Println(len(store.List()), "grains")
	short, err := store.ByIndex("length", "3")
	if err != nil {
		panic(err)
	}
	fmt.Println(len(short), "of three letters")
	store.Replace(map[string]any{"grain/rye": "rye"}, "") // all others are gone at once: no reader sees a part
	_, found := store.Get("grain/oat")
	fmt.Println(store.ListKeys(), found)
	// Output:
	// 4 grains
	// 2 of three letters
	// [grain/rye] false
}
