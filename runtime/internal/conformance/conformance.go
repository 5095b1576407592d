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

	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// ConfigMaps is a server of config maps, which scenarios happen on.
type ConfigMaps = runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList]

// NewConfigMaps returns a server of config maps.
func NewConfigMaps() *ConfigMaps {
	return runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
}

// InformerOptions are what a scenario wants of the informer.
type InformerOptions struct {
	ResyncPeriod time.Duration
	Indexers     cache.Indexers
	// ListerWatcher makes what the informer lists and watches with. By default it
	// is the server's.
	ListerWatcher func(*ConfigMaps) cache.ListerWatcher
	// Example is the object that says what is cached. By default it is a config
	// map.
	Example runtime.Object
}

// Source is the lister-watcher and the example object for a server.
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
	// ConfigMapsOnly says that its informers take a client for config maps.
	// Scenarios that bring another lister-watcher or type aren't played.
	ConfigMapsOnly bool
}

// ClientGo is the implementation that others are compared with.
var ClientGo = Implementation{Name: "client-go",
	New: func(s *ConfigMaps, o InformerOptions) cache.SharedIndexInformer {
		lw, example := o.Source(s)
		return cache.NewSharedIndexInformer(lw, example, o.ResyncPeriod, o.Indexers)
	}}

// Scenario is something that happens to an informer.
type Scenario struct {
	Name    string
	Options InformerOptions
	// Server, if not nil, is what the server is like when the informer is made.
	Server func(*ConfigMaps)
	// Script is what happens. The informer isn't running yet when it is called.
	Script func(*World)
	// Without are feature gates of client-go that are off.
	Without []features.Feature
	// Panics says that something panics and that the process survives it.
	Panics bool
	// Differs says, if anything, why the others don't do what the reference does.
	// Then they must not.
	Differs string
}

// isFor says whether an implementation can play the scenario.
func (s Scenario) isFor(implementation Implementation) bool {
	return !implementation.ConfigMapsOnly || s.Options.ListerWatcher == nil && s.Options.Example == nil
}

// Conform plays each scenario with each implementation, in a bubble of its own,
// and fails where a transcript isn't that of the reference.
func Conform(t *testing.T, scenarios []Scenario, reference Implementation, others ...Implementation) {
	for _, s := range scenarios {
		t.Run(s.Name, func(t *testing.T) {
			want := s.Play(t, reference)
			for _, implementation := range others {
				if !s.isFor(implementation) {
					continue
				}
				compare(t, implementation.Name, s.Differs, s.Play(t, implementation), want)
			}
		})
	}
}

// compare fails the test unless two transcripts are the same, or differ where they
// are meant to.
func compare(t *testing.T, name, differs string, got, want []string) {
	if len(want) == 0 {
		t.Fatal("nothing was recorded: the scenario can't fail")
	}
	if same := slices.Equal(got, want); same != (differs == "") {
		t.Errorf("differs: %q\n%s\n%s", differs, name, difference(got, want))
	}
}

// conditions arranges what a scenario needs of the process, for the test's time.
func conditions(t *testing.T, without []features.Feature, panics bool) {
	for _, gate := range without {
		clientfeaturestesting.SetFeatureDuringTest(t, gate, false)
	}
	crash := utilruntime.ReallyCrash
	t.Cleanup(func() { utilruntime.ReallyCrash = crash })
	utilruntime.ReallyCrash = !panics
}

// Play plays the scenario with an implementation and returns what happened, a string
// a step.
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
			t.Errorf("%s: %d watches are open after the end", implementation.Name, n)
		}
	})
	return transcript
}

// difference shows the first step that isn't the same, after the last that is.
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
