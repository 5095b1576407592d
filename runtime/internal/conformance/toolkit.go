package conformance

import (
	"fmt"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// Toolkit contains the types that a package like client-go's tools/cache offers beside shared informers.
type Toolkit struct {
	Name string

	Informer   func(cache.InformerOptions) (cache.Store, cache.Controller)
	Controller func(*cache.Config) cache.Controller

	DeltaFIFO func(cache.DeltaFIFOOptions) cache.Queue

	Indexer         func(cache.KeyFunc, cache.Indexers) cache.Indexer
	ThreadSafeStore func(cache.Indexers) cache.ThreadSafeStore
	UndeltaStore    func(func([]any), cache.KeyFunc) cache.Store

	WaitForCacheSync func(<-chan struct{}, ...cache.InformerSynced) bool
	GenericLister    func(cache.Indexer) cache.GenericLister
}

// ClientGoTools is the toolkit that others are compared with.
var ClientGoTools = Toolkit{
	Name:       "client-go",
	Informer:   cache.NewInformerWithOptions,
	Controller: cache.New,
	DeltaFIFO:  func(o cache.DeltaFIFOOptions) cache.Queue { return cache.NewDeltaFIFOWithOptions(o) },
	Indexer:    func(k cache.KeyFunc, i cache.Indexers) cache.Indexer { return cache.NewIndexer(k, i) },
	ThreadSafeStore: func(i cache.Indexers) cache.ThreadSafeStore {
		return cache.NewThreadSafeStore(i, cache.Indices{})
	},
	UndeltaStore: func(push func([]any), k cache.KeyFunc) cache.Store {
		return cache.NewUndeltaStore(push, k)
	},
	WaitForCacheSync: cache.WaitForCacheSync,
	GenericLister: func(i cache.Indexer) cache.GenericLister {
		return cache.NewGenericLister(i, corev1.Resource("configmaps"))
	},
}

// ToolScenario is a sequence of operations with the tools of a kit.
type ToolScenario struct {
	Name string
	// Guarantee, Without, Panics and Differs are as in Scenario.
	Guarantee guarantee.Guarantee
	Without   []features.Feature
	Panics    bool
	Script    func(*Bench)
	Differs   string
}

// Bench gives a script the tools of a kit and a server, and records the script's notes.
type Bench struct {
	T      *testing.T
	Tools  Toolkit
	Server *ConfigMaps

	notes lines
}

// Note writes a line into the transcript.
func (b *Bench) Note(format string, args ...any) { b.notes.add(fmt.Sprintf(format, args...)) }

// ConformTools plays each scenario with each toolkit, in a bubble of its own, and fails if a transcript
// differs from the reference's.
func ConformTools(t *testing.T, scenarios []ToolScenario, reference Toolkit, others ...Toolkit) {
	for _, s := range scenarios {
		t.Run(s.Name, func(t *testing.T) {
			want := s.Play(t, reference)
			for _, kit := range others {
				compare(t, s.Guarantee, kit.Name, s.Differs, s.Play(t, kit), want)
			}
		})
	}
}

// Play plays the scenario with a toolkit and returns its notes.
func (s ToolScenario) Play(t *testing.T, kit Toolkit) (transcript []string) {
	synctest.Test(t, func(t *testing.T) {
		conditions(t, s.Without, s.Panics)
		b := &Bench{T: t, Tools: kit, Server: NewConfigMaps()}
		s.Script(b)
		synctest.Wait()
		transcript = b.notes.takeLines()
	})
	return transcript
}

// object returns a config map of the given version.
func object(name, version string) *corev1.ConfigMap {
	cm := configMap(name)
	cm.ResourceVersion = version
	return cm
}

// objects returns config maps of version 1.
func objects(names ...string) []any {
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = object(name, "1")
	}
	return list
}

// keyOfNamed is the key function of the scenarios. It returns an object's name, and an error for the object
// named "bad".
func keyOfNamed(obj any) (string, error) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return tombstone.Key, nil
	}
	m, ok := obj.(metav1.Object)
	if !ok || m.GetName() == "bad" {
		return "", errNoKey
	}
	return m.GetName(), nil
}

var errNoKey = fmt.Errorf("no key")
