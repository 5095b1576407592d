package tour

import (
	"fmt"
	"sync"

	"github.com/kubewright/kubewright/runtime/cache"
)

// A Store is built on a ThreadSafeStore, to which you pass the key, so values can be of any type. Any number
// of goroutines may call its methods at the same time. The objects are shared: code that changes an object
// that it read races with all other readers.
func Example_threadSafeStore() {
	store := cache.NewThreadSafeStore(cache.Indexers{
		"length": func(obj any) ([]string, error) { return []string{fmt.Sprint(len(obj.(string)))}, nil },
	}, cache.Indices{}) // the contents of the indexes: none yet

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
	// All others disappear at once: no reader sees a partial state. The empty argument is the list's version.
	store.Replace(map[string]any{"grain/rye": "rye"}, "")
	_, found := store.Get("grain/oat")
	fmt.Println(store.ListKeys(), found)
	// Output:
	// 4 grains
	// 2 of three letters
	// [grain/rye] false
}
