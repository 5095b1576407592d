package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	clientgo "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/envtest/record"
	"github.com/kubewright/kubewright/informers"
)

// builtIns are the built-in kinds that the embedded server has, with an object of each. SCOPE stands for its
// namespace.
var builtIns = []struct {
	gvr        schema.GroupVersionResource
	namespaced bool
	stub       string
}{
	{schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, true,
		`{"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}, "binaryData": {"c": "AQID"}}`},
	{schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, true,
		`{"apiVersion": "v1", "kind": "Secret", "data": {"a": "AQID"}}`},
	{schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, false,
		`{"apiVersion": "v1", "kind": "Namespace"}`},
	{schema.GroupVersionResource{Version: "v1", Resource: "events"}, true,
		`{"apiVersion": "v1", "kind": "Event", "involvedObject": {"namespace": "SCOPE", "name": "x"}, "count": 2,
			"reason": "r", "firstTimestamp": "2020-01-01T00:00:00Z", "source": {"component": "c"}}`},
	{schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"}, true,
		`{"apiVersion": "events.k8s.io/v1", "kind": "Event", "regarding": {"namespace": "SCOPE", "name": "x"},
			"eventTime": "2020-01-01T00:00:00.000001Z", "reportingController": "c", "reportingInstance": "i",
			"action": "a", "reason": "r", "type": "Normal"}`},
	{schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}, true,
		`{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": {"holderIdentity": "me",
			"leaseDurationSeconds": 1, "renewTime": "2020-01-01T00:00:00.000001Z"}}`},
}

// fewMaps is more than the page of 500 of an informer's list.
const fewMaps = 510

// TestBuiltIns runs our informers of the built-in kinds beside client-go's: with lists in pages and with
// streamed lists, in both encodings.
func TestBuiltIns(t *testing.T) {
	for _, mode := range []struct {
		name      string
		watchList bool
		server    *lazyServer
		counted   func(*spy) int
	}{
		{"WatchList", true, &cached, func(s *spy) int { return s.count(isWatchList) }},
		{"pages", false, &uncached, func(s *spy) int { return s.count(isNextPage) }},
	} {
		for encoding, mediaType := range map[string]string{
			"JSON": runtime.ContentTypeJSON, "protobuf": runtime.ContentTypeProtobuf,
		} {
			t.Run(mode.name+" "+encoding, func(t *testing.T) {
				clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, mode.watchList)
				seen := &spy{}
				testBuiltIns(t, mode.server.get(t), mediaType, seen)
				if mode.counted(seen) == 0 {
					t.Errorf("no request for %s", mode.name)
				}
			})
		}
	}
}

func testBuiltIns(t *testing.T, server *apiserver.Server, mediaType string, seen *spy) {
	ctx := within(t, 2*time.Minute)
	scope := scope(t)
	config := server.Config()
	config.ContentType, config.AcceptContentTypes = mediaType, mediaType
	ofScope := func(o *metav1.ListOptions) { o.LabelSelector = scopeLabel + "=" + scope }
	ours := informers.NewSharedInformerFactoryWithOptions(
		kubernetes.NewForConfigOrDie(seen.on(config)), 0, informers.WithTweakListOptions(ofScope))
	theirs := clientgo.NewSharedInformerFactoryWithOptions(
		kubernetes.NewForConfigOrDie(config), 0, clientgo.WithTweakListOptions(ofScope))

	var subjects []*builtIn
	for i, b := range builtIns {
		s := &builtIn{t: t, ctx: ctx, scope: scope, stub: strings.ReplaceAll(b.stub, "SCOPE", scope)}
		resource := dynamic.NewForConfigOrDie(server.Config()).Resource(b.gvr)
		s.client = resource
		if b.namespaced {
			s.client = resource.Namespace(scope)
		}
		for _, factory := range []clientgo.SharedInformerFactory{ours, theirs} {
			generic, err := factory.ForResource(b.gvr)
			if err != nil {
				t.Fatal(err)
			}
			recorder := record.New[metav1.Object]()
			typed := cache.NewTypedSharedIndexInformer[metav1.Object](generic.Informer())
			if _, err := typed.AddTypedEventHandler(recorder); err != nil {
				t.Fatal(err)
			}
			s.informers = append(s.informers, generic.Informer())
			s.recorders = append(s.recorders, recorder)
		}
		s.prefix = fmt.Sprint(scope, "-", i)
		subjects = append(subjects, s)
	}
	fillMaps(t, subjects[0])
	for _, s := range subjects {
		s.create("kept")
		s.create("gone")
	}

	running, stop := context.WithCancel(ctx)
	for _, factory := range []clientgo.SharedInformerFactory{ours, theirs} {
		factory.StartWithContext(running)
		t.Cleanup(factory.Shutdown)
	}
	t.Cleanup(stop)
	for _, s := range subjects {
		s.settle()
		s.create("new")
		s.delete("gone")
		s.settle()
	}
}

// builtIn is a kind under test, with one informer of ours and one of client-go's.
type builtIn struct {
	t         *testing.T
	ctx       context.Context
	client    dynamic.ResourceInterface
	scope     string
	prefix    string // of names, since both groups have the same Events
	stub      string
	round     int
	informers []cache.SharedIndexInformer
	recorders []*record.Recorder[metav1.Object]
}

func fillMaps(t *testing.T, s *builtIn) {
	t.Helper()
	var creating sync.WaitGroup
	for worker := range 8 {
		creating.Go(func() {
			for i := worker; i < fewMaps; i += 8 {
				if err := s.tryCreate(fmt.Sprint(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	creating.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

func (s *builtIn) name(name string) string { return s.prefix + "-" + name }

func (s *builtIn) tryCreate(name string) error {
	obj := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(s.stub), obj); err != nil {
		return err
	}
	obj.SetName(s.name(name))
	obj.SetLabels(map[string]string{scopeLabel: s.scope})
	_, err := s.client.Create(s.ctx, obj, metav1.CreateOptions{})
	return err
}

func (s *builtIn) create(name string) {
	s.t.Helper()
	if err := s.tryCreate(name); err != nil {
		s.t.Fatal(err)
	}
}

func (s *builtIn) delete(name string) {
	s.t.Helper()
	if err := s.client.Delete(s.ctx, s.name(name), metav1.DeleteOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

// settle changes the kept object, waits until both informers have reported everything that the server has,
// and compares them with the server and with each other.
func (s *builtIn) settle() {
	s.t.Helper()
	s.round++
	patch := fmt.Appendf(nil, `{"metadata": {"annotations": {"round": "%d"}}}`, s.round)
	_, err := s.client.Patch(s.ctx, s.name("kept"), types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	list, err := s.client.List(s.ctx, metav1.ListOptions{LabelSelector: scopeLabel + "=" + s.scope})
	if err != nil {
		s.t.Fatal(err)
	}
	want := map[cache.ObjectName]string{}
	for i := range list.Items {
		want[cache.MetaObjectToName(&list.Items[i])] = list.Items[i].GetResourceVersion()
	}
	for i, recorder := range s.recorders {
		for name, version := range want { // The first list may deliver the kept object before others.
			if err := recorder.WaitFor(s.ctx, name, version); err != nil {
				s.t.Fatalf("informer %d: %v", i, err)
			}
		}
		got := recorder.Versions()
		if len(got) != len(want) {
			s.t.Errorf("informer %d of %s received %d objects, want %d", i, s.prefix, len(got), len(want))
		}
		for _, problem := range recorder.Problems() {
			s.t.Errorf("informer %d of %s: %s", i, s.prefix, problem)
		}
	}
	for _, difference := range record.Differences(stored(s.informers[0]), stored(s.informers[1])) {
		s.t.Errorf("our informer's store: %s", difference)
	}
}

// anyObject is an object of any kind.
type anyObject interface {
	metav1.Object
	runtime.Object
}

func stored(informer cache.SharedIndexInformer) (objects []anyObject) {
	for _, obj := range informer.GetStore().List() {
		objects = append(objects, obj.(anyObject))
	}
	return objects
}
