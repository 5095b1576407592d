package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/internal/bubble"
)

func (b *Bench) mutationCache(o cache.MutationCacheOptions) (cache.MutationCache, cache.Indexer) {
	backing := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"letter": byLetter})
	o.Indexer, o.TTL = backing, time.Minute
	return b.Tools.MutationCache(klog.Background(), backing, o), backing
}

// mutations are what happens where a writer's own writes are remembered.
var mutations = []ToolScenario{
	{Name: "MutationCache: a write is seen before it comes back", Script: func(b *Bench) {
		c, backing := b.mutationCache(cache.MutationCacheOptions{})
		b.check(backing.Add(object("a", "1")))
		c.Mutation(object("a", "3"))
		b.byKey(c, "a")
		b.check(backing.Update(object("a", "2")))
		b.byKey(c, "a")
		b.check(backing.Update(object("a", "4")))
		b.byKey(c, "a")
	}},
	{Name: "MutationCache: an older write", Script: func(b *Bench) {
		c, backing := b.mutationCache(cache.MutationCacheOptions{})
		b.check(backing.Add(object("a", "5")))
		c.Mutation(object("a", "3"))
		b.byKey(c, "a")
		c.Mutation(object("a", "9"))
		c.Mutation(object("a", "7"))
		b.byKey(c, "a")
	}},
	{Name: "MutationCache: what isn't there yet", Script: func(b *Bench) {
		for _, include := range []bool{false, true} {
			c, _ := b.mutationCache(cache.MutationCacheOptions{IncludeAdds: include})
			c.Mutation(object("a", "3"))
			b.byIndex(c, "letter", "a")
			b.byKey(c, "a")
		}
	}},
	{Name: "MutationCache: what isn't there yet, read twice", Script: func(b *Bench) {
		c, _ := b.mutationCache(cache.MutationCacheOptions{IncludeAdds: true})
		c.Mutation(object("a", "3"))
		b.byKey(c, "a")
		b.byKey(c, "a")
	}, Differs: "client-go forgets the object when it is read by key"},
	{Name: "MutationCache: by index", Script: func(b *Bench) {
		c, backing := b.mutationCache(cache.MutationCacheOptions{})
		b.check(backing.Add(object("ab", "1")))
		b.check(backing.Add(object("b", "1")))
		c.Mutation(object("b", "3"))
		b.byIndex(c, "letter", "b")
		b.byIndex(c, "nothing", "b")
	}},
	{Name: "MutationCache: forgotten after a while", Script: func(b *Bench) {
		c, backing := b.mutationCache(cache.MutationCacheOptions{})
		b.check(backing.Add(object("a", "1")))
		c.Mutation(object("a", "3"))
		bubble.Pass(59 * time.Second)
		b.byKey(c, "a")
		bubble.Pass(2 * time.Second)
		b.byKey(c, "a")
	}},
	{Name: "MutationCache: more than it keeps", Script: func(b *Bench) {
		c, backing := b.mutationCache(cache.MutationCacheOptions{MaxCacheSize: 2})
		for _, name := range []string{"a", "b", "c"} {
			b.check(backing.Add(object(name, "1")))
			c.Mutation(object(name, "3"))
		}
		for _, name := range []string{"a", "b", "c"} {
			b.byKey(c, name)
		}
	}},
}

func (b *Bench) byKey(c cache.MutationCache, name string) {
	obj, exists, err := c.GetByKey(Namespace + "/" + name)
	b.Note("%s %t %v", describe(obj), exists, err)
}

func (b *Bench) byIndex(c cache.MutationCache, name, value string) {
	found, err := c.ByIndex(name, value)
	list := make([]string, len(found))
	for i, obj := range found {
		list[i] = describe(obj)
	}
	slices.Sort(list)
	b.Note("%v %v", list, err)
}

// DetectorScenarios need KUBE_CACHE_MUTATION_DETECTOR to be true when the process
// starts.
var DetectorScenarios = []ToolScenario{
	{Name: "MutationDetector: an object that was changed", Script: func(b *Bench) { b.detect(func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"k": "v"} }) }},
	{Name: "MutationDetector: objects that weren't", Script: func(b *Bench) { b.detect(func(*corev1.ConfigMap) {}) }},
}

// detect has a detector look for what do changes.
func (b *Bench) detect(do func(*corev1.ConfigMap)) {
	d := b.Tools.MutationDetector("objects")
	cm := object("a", "1")
	d.AddObject(cm)
	d.AddObject(object("b", "1"))
	stop := make(chan struct{})
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer func() { b.Note("panics %t", strings.Contains(fmt.Sprint(recover()), "objects modified")) }()
		d.Run(stop)
	}()
	// Between two looks of the detector; what is added tells it, and the race
	// detector, that what comes later comes after the change.
	bubble.Pass(10*time.Second + 500*time.Millisecond)
	synctest.Wait()
	do(cm)
	d.AddObject(object("c", "1"))
	bubble.Pass(10 * time.Second)
	close(stop)
	<-over
}
