package conformance

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// ConfigMaps is the server of config maps that scenarios use.
type ConfigMaps = runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList]

// NewConfigMaps returns a server of config maps.
func NewConfigMaps() *ConfigMaps {
	return runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
}

// InformerOptions are the options of the informer that a scenario needs.
type InformerOptions struct {
	ResyncPeriod time.Duration
	Indexers     cache.Indexers
	// ListerWatcher returns the lister-watcher of the informer. The default is the server's.
	ListerWatcher func(*ConfigMaps) cache.ListerWatcher
	// Example is the object whose type is cached. The default is a config map.
	Example runtime.Object
}

// Source returns the lister-watcher and the example object for a server.
func (o InformerOptions) Source(s *ConfigMaps) (cache.ListerWatcher, runtime.Object) {
	if o.ListerWatcher == nil {
		return s.ListerWatcher(), cmp.Or[runtime.Object](o.Example, &corev1.ConfigMap{})
	}
	return o.ListerWatcher(s), cmp.Or[runtime.Object](o.Example, &corev1.ConfigMap{})
}

// Implementation is a way to make informers.
type Implementation struct {
	Name string
	New  func(*ConfigMaps, InformerOptions) cache.SharedIndexInformer
	// ConfigMapsOnly is set if its informers only work with a client for config maps. Then scenarios
	// with another lister-watcher or type are skipped.
	ConfigMapsOnly bool
}

// ClientGo is the implementation that others are compared with.
var ClientGo = Implementation{Name: "client-go",
	New: func(s *ConfigMaps, o InformerOptions) cache.SharedIndexInformer {
		lw, example := o.Source(s)
		return cache.NewSharedIndexInformer(lw, example, o.ResyncPeriod, o.Indexers)
	}}

// Scenario is a sequence of events that an informer goes through.
type Scenario struct {
	Name string
	// Guarantee is what the scenario is about.
	Guarantee guarantee.Guarantee
	Options   InformerOptions
	// Server, if not nil, prepares the server before the informer is made.
	Server func(*ConfigMaps)
	// Script is what happens. When it is called, the informer isn't running yet.
	Script func(*World)
	// Without are feature gates of client-go to switch off.
	Without []features.Feature
	// Panics is set if something panics and the process survives it.
	Panics bool
	// Differs, if not empty, is how the reference and the others differ. Then their transcripts must differ.
	Differs string
}

// isFor reports whether the scenario can be played with an implementation.
func (s Scenario) isFor(implementation Implementation) bool {
	return !implementation.ConfigMapsOnly || s.Options.ListerWatcher == nil && s.Options.Example == nil
}

// Conform plays each scenario with each implementation, in a bubble of its own, and fails if a transcript
// differs from the reference's.
func Conform(t *testing.T, scenarios []Scenario, reference Implementation, others ...Implementation) {
	for _, s := range scenarios {
		t.Run(s.Name, func(t *testing.T) {
			want := s.Play(t, reference)
			for _, implementation := range others {
				if !s.isFor(implementation) {
					continue
				}
				compare(t, s.Guarantee, implementation.Name, s.Differs, s.Play(t, implementation), want)
			}
		})
	}
}

// compare fails the test unless two transcripts are equal, or differ as intended.
func compare(t *testing.T, g guarantee.Guarantee, name, differs string, got, want []string) {
	if len(want) == 0 {
		t.Fatal("nothing was recorded: the scenario can't fail")
	}
	if same := slices.Equal(got, want); same != (differs == "") {
		t.Errorf("%s: differs: %q\n%s\n%s", g, differs, name, difference(got, want))
	}
}

// conditions prepares the process for a scenario, until the test ends.
func conditions(t *testing.T, without []features.Feature, panics bool) {
	for _, gate := range without {
		clientfeaturestesting.SetFeatureDuringTest(t, gate, false)
	}
	crash := utilruntime.ReallyCrash
	t.Cleanup(func() { utilruntime.ReallyCrash = crash })
	utilruntime.ReallyCrash = !panics
}

// Play plays the scenario with an implementation and returns its transcript, one string for each step.
func (s Scenario) Play(t *testing.T, implementation Implementation) (transcript []string) {
	synctest.Test(t, func(t *testing.T) {
		conditions(t, s.Without, s.Panics)
		server := NewConfigMaps()
		w := &World{T: t, Server: server, newInformer: implementation.New}
		server.Observe(func(r runtimetest.Request) { w.requests.add(r.String()) })
		if s.Server != nil {
			s.Server(server)
		}
		options := s.Options
		options.Indexers = maps.Clone(options.Indexers) // client-go adds to the map
		w.Informer = implementation.New(server, options)
		s.Script(w)
		w.Stop()
		transcript = w.transcript
		synctest.Wait()
		if n := server.Watches(); n != 0 {
			t.Errorf("%s: %s: %d watches are open after the end", guarantee.NoLeak, implementation.Name, n)
		}
	})
	return transcript
}

// difference shows the first step that differs, and the step before it.
func difference(got, want []string) string {
	at := func(list []string, i int) string {
		if i < 0 || i >= len(list) {
			return "(nothing)"
		}
		return list[i]
	}
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	after, _, _ := strings.Cut(at(want, i-1), "\n")
	return "after     " + after + "\ngot       " + at(got, i) + "\nreference " + at(want, i)
}
