package informer_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/internal/bubble"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
)

// TestMutationIsFound checks that, with KUBE_CACHE_MUTATION_DETECTOR on, a change of a cached object ends the
// process, whichever way the object arrived.
func TestMutationIsFound(t *testing.T) {
	const way = "WAY_OF_THE_OBJECT"
	if os.Getenv(way) != "" {
		synctest.Test(t, func(t *testing.T) { mutate(t, os.Getenv(way)) })
		return
	}
	for name, found := range map[string]bool{"list": true, "watch": true, "resync": true, "none": false} {
		child := exec.Command(os.Args[0], "-test.run=^TestMutationIsFound$")
		child.Env = append(os.Environ(), way+"="+name, "KUBE_CACHE_MUTATION_DETECTOR=true")
		output, err := child.CombinedOutput()
		if got := err != nil && strings.Contains(
			string(output), "cache *v1.ConfigMap modified",
		); got != found {
			t.Errorf("%s: found %v, %v:\n%s", name, got, err, output)
		}
	}
}

func mutate(t *testing.T, way string) {
	s := newServer()
	s.put("listed")
	i := s.ours(gen.Options{ResyncPeriod: 5 * time.Minute})
	if _, err := i.AddEventHandler(&recorder{}); err != nil {
		t.Fatal(err)
	}
	stop := run(i)
	synctest.Wait()
	s.put("watched")
	// After four minutes only objects that a resync has reported again are checked.
	bubble.Advance(map[string]time.Duration{"resync": 6 * time.Minute}[way])
	for _, obj := range i.Core().List() {
		switch {
		case way == "list" && obj.Name == "listed", way == "watch" && obj.Name == "watched", way == "resync":
			obj.Labels["changed"] = "true"
		}
	}
	bubble.Pass(2 * time.Second)
	stop()
}

// watchMutations samples objects for mutations and appends the old and the new value of their label to found.
func watchMutations(sample int, found *[]string) informer.Options {
	return informer.Options{MutationSample: sample, OnMutation: func(original, modified runtime.Object) {
		*found = append(*found, original.(*configMap).Labels["who"]+" "+modified.(*configMap).Labels["who"])
	}}
}

// mark sets the label that watchMutations reports.
func mark(obj any) { metav1.SetMetaDataLabel(&obj.(*configMap).ObjectMeta, "who", "me") }

// TestSampledMutation modifies many objects, and checks that each sampled one is reported once.
func TestSampledMutation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := s.ours(gen.Options{})
		var found []string
		if err := informer.Configure(i, watchMutations(10, &found)); err != nil {
			t.Fatal(err)
		}
		stop := run(i)
		synctest.Wait()
		for n := range 100 {
			s.put(string(rune('A' + n)))
		}
		synctest.Wait()
		bubble.Advance(30 * time.Second)
		if found != nil {
			t.Errorf("found %q", found)
		}
		for _, obj := range i.GetStore().List() {
			mark(obj)
		}
		// Later objects take the detector's lock, which shows the race detector that the mutations came
		// before the comparison.
		for n := range 10 {
			s.put(string(rune('a' + n)))
		}
		synctest.Wait()
		bubble.Advance(30 * time.Second)
		if len(found) != 10 {
			t.Errorf("found %q before the end", found)
		}
		if s := i.Status(); s.Mutations != 10 || s.MutatedObject == "" ||
			time.Since(s.MutatedSince) > 30*time.Second {
			t.Errorf("%d mutations since %v, the last of %q", s.Mutations, s.MutatedSince, s.MutatedObject)
		}
		stop()
		if len(found) != 10 || slices.ContainsFunc(found, func(s string) bool { return s != " me" }) {
			t.Errorf("found %q", found)
		}
	})
}

// TestMutationBeforeTheEnd checks that an object which a handler modified is found when the informer stops,
// even long before the next comparison.
func TestMutationBeforeTheEnd(t *testing.T) {
	s := newServer()
	s.put("a")
	i := s.ours(gen.Options{})
	var found []string
	if err := informer.Configure(i, watchMutations(1, &found)); err != nil {
		t.Fatal(err)
	}
	modifying := must[cache.ResourceEventHandlerRegistration](t)(
		i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: mark}))
	stop := run(i)
	<-modifying.HasSyncedChecker().Done()
	stop()
	if !slices.Equal(found, []string{" me"}) {
		t.Errorf("found %q", found)
	}
}

// TestMutationIsNamed checks that by default the report names the modified object.
func TestMutationIsNamed(t *testing.T) {
	s := newServer()
	s.put("a")
	i := s.ours(gen.Options{})
	if err := informer.Configure(i, informer.Options{MutationSample: 1}); err != nil {
		t.Fatal(err)
	}
	var reported []string
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{
		func(_ context.Context, _ error, msg string, keysAndValues ...any) {
			reported = append(reported, fmt.Sprint(msg, keysAndValues[:4]))
		}}
	defer func() { utilruntime.ErrorHandlers = nil }()
	modifying := must[cache.ResourceEventHandlerRegistration](t)(
		i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: mark}))
	stop := run(i)
	<-modifying.HasSyncedChecker().Done()
	stop()
	want := "A cached object was modified by someone it is shared with[type *v1.ConfigMap object ns1/a]"
	if !slices.Equal(reported, []string{want}) {
		t.Errorf("reported %q", reported)
	}
}

// TestInformersLogger checks that mutations and panics of handlers are logged by the logger of the context
// that the informer runs in.
func TestInformersLogger(t *testing.T) {
	defer func(before []utilruntime.ErrorHandler) { utilruntime.ErrorHandlers = before }(
		utilruntime.ErrorHandlers)
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{
		func(ctx context.Context, err error, msg string, keysAndValues ...any) {
			klog.FromContext(ctx).Error(err, msg, keysAndValues...)
		}}
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.put("a")
		i := s.ours(gen.Options{})
		if err := informer.Configure(i, informer.Options{MutationSample: 1}); err != nil {
			t.Fatal(err)
		}
		handler := cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
			if obj.(*configMap).Name == "a" {
				mark(obj)
				panic("no bread")
			}
		}}
		must[cache.ResourceEventHandlerRegistration](t)(
			informer.AddEventHandler(i, handler, informer.HandlerOptions{ContainPanics: true}))
		var mu sync.Mutex
		var told strings.Builder
		ctx, stop := context.WithCancel(klog.NewContext(t.Context(), funcr.New(func(_, line string) {
			mu.Lock()
			defer mu.Unlock()
			told.WriteString(line + "\n")
		}, funcr.Options{})))
		go i.RunWithContext(ctx)
		synctest.Wait()
		s.put("b") // The detector's lock, taken for it, tells the race detector what came first.
		bubble.Advance(time.Minute)
		stop()
		synctest.Wait()
		for _, want := range []string{"A cached object was modified", "A handler panicked and goes on"} {
			if strings.Count(told.String(), want) != 1 {
				t.Errorf("%q isn't in the log once:\n%s", want, told.String())
			}
		}
	})
}
