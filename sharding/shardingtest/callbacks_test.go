package shardingtest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
)

// wait is a method that doesn't return while a callback runs.
type wait struct {
	reason string
	// kinds are the callbacks that it waits for; stopping limits it to a shutdown, running to none.
	kinds             []string
	stopping, running bool
}

func (w wait) applies(kind string, stopping bool) bool {
	return (w.kinds == nil || slices.Contains(w.kinds, kind)) &&
		(!w.stopping || stopping) && (!w.running || !stopping)
}

const (
	forInformers = "it waits for informers to stop, and these for their callbacks"
	forItems     = "it waits for the Done of an item, see newRig"
)

// waits are the methods that wait. All others but writers return in each callback.
var waits = map[string][]wait{
	"queue.ShutDownWithDrain":       {{reason: forItems, running: true}},
	"owned queue.ShutDownWithDrain": {{reason: forItems, running: true}},
	"factory.Shutdown": {
		{reason: "it waits for informers that nobody stops", running: true, kinds: without("OnCreate")},
		{reason: forInformers, stopping: true, kinds: []string{
			"handler", "transform", "tweak", "error handler", "OnMutation", "index function"}},
	},
	"namespaces.Remove":   {{reason: forInformers, kinds: []string{"handler in a namespace"}}},
	"namespaces.Shutdown": {{reason: forInformers, kinds: []string{"handler in a namespace"}}},
	"functions.ShutDownEventHandler": {
		{reason: "it waits for the handler", kinds: []string{"handler"}}},
}

const adders = "AddEventHandler AddEventHandlerWithOptions AddEventHandlerWithResyncPeriod AddIndexers "

// writers are the methods, by target, that index functions must not call: they write to the cache, or join
// it, and wait for the writer, which waits for the index function. They wait for a lock, so they can't be
// tried.
var writers = map[string]string{
	"informer":      adders + "AddTypedEventHandler AddTypedIndexers",
	"untyped":       adders + "AddHandler AddIndexes Events IndexField IndexLabels",
	"indexer":       "Add Update Delete Replace Transaction AddIndexers",
	"typed indexer": "Add Update Delete Replace AddIndexers AddTypedIndexers",
	"core":          "AddEventHandler AddIndexes Events",
	"functions":     "AddEventHandler IndexLabels",
}

// without returns all kinds but some.
func without(some ...string) []string {
	return slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return slices.Contains(some, kind) })
}

// TestCallbacksMayCallEverything calls each exported method of informers, factories, namespaces, queues and
// members in callbacks of each kind, while everything runs, and beside a shutdown. Reflection finds the
// methods, so a new one is called, too: if it doesn't return, it needs a row in waits. A lock that a method
// waits for makes the test hang, because the clock of its bubble stops.
func TestCallbacksMayCallEverything(t *testing.T) {
	for _, kind := range kinds {
		for _, stopping := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stopping=%v", kind, stopping), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { callEverything(t, kind, stopping) })
			})
		}
	}
}

func callEverything(t *testing.T, kind string, stopping bool) {
	r := newRig(t, kind)
	var pending sync.WaitGroup
	finished := make(chan struct{})
	over, end := context.WithCancel(t.Context())
	end()
	r.inside = func() {
		defer close(finished)
		if stopping {
			pending.Go(r.shutDown)
			bubble.Pass(time.Millisecond)
		}
		targets := r.targets()
		for _, target := range slices.Sorted(maps.Keys(targets)) {
			value := targets[target]
			if v := reflect.ValueOf(value); v.IsValid() && !(v.Kind() == reflect.Pointer && v.IsNil()) {
				for n := range v.NumMethod() {
					c := call{t, r, target + "." + v.Type().Method(n).Name, v.Method(n), over}
					c.check(kind, stopping, &pending)
				}
			}
		}
	}
	r.run(t)
	if r.called.Load() {
		<-finished
	} else {
		t.Error("the callback wasn't called")
	}
	r.shutDown()
	pending.Wait()
}

// call is a call of a method.
type call struct {
	*testing.T
	rig    *rig
	name   string
	method reflect.Value
	over   context.Context
}

// check calls the method, and checks whether it returns.
func (c call) check(kind string, stopping bool, pending *sync.WaitGroup) {
	waiting := false
	target, method, _ := strings.Cut(c.name, ".")
	if c.name == "indexer.FilledBy" || // Only the constructor of an informer calls it.
		target == "factory" && strings.HasPrefix(method, "Set") || // They come before the first InformerFor.
		kind == "index function" && slices.Contains(strings.Fields(writers[target]), method) {
		return
	}
	for _, w := range waits[c.name] {
		waiting = waiting || w.applies(kind, stopping)
	}
	arguments, ok := c.arguments()
	if !ok {
		return
	}
	returned := make(chan struct{})
	pending.Go(func() {
		defer close(returned)
		for _, result := range c.method.Call(arguments) {
			c.iterate(result)
		}
	})
	select {
	case <-returned:
		if waiting {
			c.Errorf("%s returned, so it needs no row", c.name)
		}
	case <-time.After(20 * time.Second):
		if !waiting {
			c.Errorf("%s doesn't return", c.name)
		}
	}
}

// iterate takes the first element of a sequence.
func (c call) iterate(result reflect.Value) {
	if t := result.Type(); t.Kind() == reflect.Func && strings.HasPrefix(t.Name(), "Seq") && !result.IsNil() {
		stop := reflect.MakeFunc(t.In(0), func([]reflect.Value) []reflect.Value {
			return []reflect.Value{reflect.ValueOf(false)}
		})
		result.Call([]reflect.Value{stop})
	}
}

// arguments returns arguments with which a method has something to do, and waits for nothing of its own
// accord.
func (c call) arguments() (values []reflect.Value, ok bool) {
	closed := make(chan struct{})
	close(closed)
	obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town-1", Name: "other"}}
	known := []any{c.over, (<-chan struct{})(closed), cache.ResourceEventHandlerFuncs{}, obj, "town-1",
		cache.TypedResourceEventHandlerFuncs[*corev1.ConfigMap]{}, c.rig.of, errors.New("no flour")}
	registration := map[bool]cache.ResourceEventHandlerRegistration{false: c.rig.handle, true: c.rig.inTowns}
	t := c.method.Type()
	for n := range t.NumIn() {
		in := t.In(n)
		switch {
		case t.IsVariadic() && n == t.NumIn()-1:
			return values, true
		case in == reflect.TypeFor[cache.ResourceEventHandlerRegistration]():
			value := reflect.Zero(in)
			if r := registration[strings.HasPrefix(c.name, "combined")]; r != nil {
				value = reflect.ValueOf(r)
			}
			values = append(values, value)
			continue
		}
		fits := slices.IndexFunc(known, func(v any) bool { return reflect.TypeOf(v).AssignableTo(in) })
		switch {
		case fits >= 0:
			values = append(values, reflect.ValueOf(known[fits]))
		case in.Kind() == reflect.Func:
			values = append(values, reflect.MakeFunc(in, func([]reflect.Value) (zeros []reflect.Value) {
				for out := range in.Outs() {
					zeros = append(zeros, reflect.Zero(out))
				}
				return zeros
			}))
		case strings.Contains(in.PkgPath(), "/internal/"):
			values = append(values, reflect.Zero(in)) // No program has another value.
		case in.Kind() == reflect.Interface:
			c.Errorf("%s takes a %s: give the test one", c.name, in)
			return nil, false
		default:
			values = append(values, reflect.Zero(in))
		}
	}
	return values, true
}

// TestRowsOfWaits checks that each row of waits and writers names a method, and each of waits has a reason.
func TestRowsOfWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "none")
		r.run(t)
		targets := r.targets()
		has := func(name string) bool {
			target, method, _ := strings.Cut(name, ".")
			return targets[target] != nil && reflect.ValueOf(targets[target]).MethodByName(method).IsValid()
		}
		for name, rows := range waits {
			for _, w := range rows {
				if !has(name) || w.reason == "" {
					t.Errorf("%s: no such method, or no reason: %+v", name, w)
				}
			}
		}
		for target, methods := range writers {
			for _, method := range strings.Fields(methods) {
				if !has(target + "." + method) {
					t.Errorf("%s has no %s", target, method)
				}
			}
		}
		r.shutDown()
	})
}
