package kube

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	clientgo "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/envtest/record"
	"github.com/kubewright/kubewright/envtest/tcpproxy"
	"github.com/kubewright/kubewright/informers"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/test/e2e/kubeserver"
)

// The least number of resources that the server must have with informers in both factories, and of those that
// must get objects of the test. If there are fewer, the test doesn't test what it should.
const (
	minServed  = 70
	minWritten = 70
)

// TestBuiltIns runs client-go's factory and ours side by side: for every built-in resource that the server
// has, their informers have the same objects and call their handlers with the same events, while connections
// are cut and the server is restarted.
func TestBuiltIns(t *testing.T) {
	if testing.Short() {
		t.Skip("takes five minutes")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := stubs(root)
	if err != nil {
		t.Fatal(err)
	}
	binaries, err := kubeserver.Build(ctx, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	everything := kubeserver.Options{Flags: []string{"--runtime-config=api/all=true"}}
	server, err := kubeserver.Start(ctx, binaries, everything)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	for mode, watchList := range map[string]bool{"watchlist": true, "list": false} {
		t.Run(mode, func(t *testing.T) {
			clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, watchList)
			testBuiltIns(ctx, t, server, objects, mode)
		})
	}
}

func testBuiltIns(
	ctx context.Context, t *testing.T, server *kubeserver.Server,
	objects map[schema.GroupVersionResource]*unstructured.Unstructured, mode string,
) {
	config, proxy := tcpproxy.Before(t, server.Config())
	ours := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0)
	theirs := clientgo.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0)
	all := served(t, server.Config(), objects, ours, theirs)
	each := func(do func(*subject)) {
		for _, s := range all {
			do(s)
		}
	}
	round := 0
	next := func(change func(s *subject, round int)) {
		round++
		each(func(s *subject) { change(s, round) })
	}
	write := func() { next(func(s *subject, round int) { s.write(ctx, t, round) }) }
	touch := func() { next(func(s *subject, round int) { s.touch(ctx, t, round) }) }
	settle := func() { each(func(s *subject) { s.settle(ctx, t) }) }

	each(func(s *subject) { s.begin(ctx, mode) })
	write()
	running, stop := context.WithCancel(ctx)
	ours.StartWithContext(running)
	theirs.StartWithContext(running)
	t.Cleanup(func() {
		stop()
		ours.Shutdown()
		theirs.Shutdown()
	})
	if err := factory.WaitForSync(ctx, ours); err != nil {
		t.Fatal(err)
	}
	if err := theirs.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		t.Fatal(err)
	}
	settle()
	undisturbed := func() {
		t.Helper()
		each((*subject).mark)
		write()
		write()
		settle()
		each(func(s *subject) { s.sameEvents(t) })
	}
	undisturbed()

	// After a cut, an informer of either kind either continues the watch or lists again. In both cases it
	// reports one change of each object, in any order.
	each((*subject).mark)
	for range 5 {
		proxy.Cut()
		touch()
		proxy.Cut()
		settle()
	}
	// An informer that has received this change has connected after the last cut, or watches from a list after
	// it.
	touch()
	settle()
	each(func(s *subject) { s.sameEventsOfEach(t) })
	undisturbed()

	for range 2 {
		each((*subject).mark)
		proxy.Down()
		if err := server.Restart(ctx); err != nil {
			t.Fatal(err)
		}
		touch()
		proxy.Up()
		settle()
		each(func(s *subject) { s.sameEventsOfEach(t) })
		undisturbed()
	}

	written, told := 0, 0
	for _, s := range all {
		if s.kept != "" {
			written++
		} else {
			t.Logf("%v: nothing written: %v", s.gvr, s.refused)
		}
		told += len(s.ours.Events())
	}
	t.Logf("%d resources, %d of them written, %d events, %d connections",
		len(all), written, told, proxy.Connections())
	if len(all) < minServed || written < minWritten {
		t.Errorf("%d resources are served and %d written, expected are %d and %d at least",
			len(all), written, minServed, minWritten)
	}
}

// subject is a resource, observed by an informer of each make.
type subject struct {
	gvr          schema.GroupVersionResource
	client       dynamic.ResourceInterface // straight to the server, in the test's namespace
	list         func(context.Context) (*unstructured.UnstructuredList, error)
	stub         *unstructured.Unstructured
	informers    [2]cache.SharedIndexInformer // ours, theirs
	ours, theirs *record.Recorder[metav1.Object]
	marks        [2]int
	// kept is the name of the object that is changed in every round. It is empty if the server refused the
	// object. changing means that other objects are created and deleted; left is the name of one that exists.
	kept     string
	changing bool
	left     string
	refused  error
}

// served returns a subject for each resource that both the server and client-go's factory have.
func served(
	t *testing.T, config *rest.Config, objects map[schema.GroupVersionResource]*unstructured.Unstructured,
	ours, theirs clientgo.SharedInformerFactory,
) (all []*subject) {
	t.Helper()
	client := dynamic.NewForConfigOrDie(config)
	_, lists, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			gvr := gv.WithResource(r.Name)
			everywhere := client.Resource(gvr)
			s := &subject{gvr: gvr, client: everywhere, stub: objects[gvr]}
			s.list = func(ctx context.Context) (*unstructured.UnstructuredList, error) {
				return everywhere.List(ctx, metav1.ListOptions{})
			}
			if r.Namespaced {
				s.client = everywhere.Namespace(namespace)
			}
			their, err := theirs.ForResource(s.gvr)
			if err != nil || !slices.Contains(r.Verbs, "watch") {
				continue
			}
			our, err := ours.ForResource(s.gvr)
			if err != nil {
				t.Fatal(err)
			}
			s.informers = [2]cache.SharedIndexInformer{our.Informer(), their.Informer()}
			s.ours, s.theirs = s.observe(t, our.Informer()), s.observe(t, their.Informer())
			all = append(all, s)
		}
	}
	return all
}

// observe adds a recorder to an informer. The recorder doesn't get the objects that the server changes by
// itself.
func (s *subject) observe(t *testing.T, i cache.SharedIndexInformer) *record.Recorder[metav1.Object] {
	t.Helper()
	recorder := record.New[metav1.Object]()
	handler := cache.TypedFilteringResourceEventHandler[metav1.Object]{FilterFunc: s.quiet, Handler: recorder}
	typed := cache.NewTypedSharedIndexInformer[metav1.Object](i)
	if _, err := typed.AddTypedEventHandler(handler); err != nil {
		t.Fatal(err)
	}
	return recorder
}

// quiet reports whether an object changes only when the test changes it, or the server starts. The server
// renews its own lease.
func (s *subject) quiet(obj metav1.Object) bool {
	return s.gvr.Resource != "leases" || obj.GetNamespace() == namespace
}

// begin creates the kept object.
func (s *subject) begin(ctx context.Context, mode string) {
	if s.stub == nil {
		return
	}
	s.kept, s.changing = s.stub.GetName()+"-"+mode, true
	err := s.create(ctx, s.kept)
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		// The name can't be changed. The object may exist since the other mode.
		s.kept, s.changing = s.stub.GetName(), false
		if err = s.create(ctx, s.kept); apierrors.IsAlreadyExists(err) {
			err = nil
		}
	}
	if err != nil {
		s.kept, s.refused = "", err
	}
}

// write creates, changes and deletes an object. It changes the kept one last, so that an informer that has
// received that change has received all of them.
func (s *subject) write(ctx context.Context, t *testing.T, round int) {
	t.Helper()
	if s.kept == "" {
		return
	}
	if name := fmt.Sprint(s.kept, "-", round); s.changing {
		if err := s.create(ctx, name); err != nil {
			t.Fatalf("%v: %v", s.gvr, err)
		}
		s.label(ctx, t, name, round)
		s.delete(ctx, t, name)
	}
	s.label(ctx, t, s.kept, round)
}

// touch creates an object, changes another, and deletes a third.
func (s *subject) touch(ctx context.Context, t *testing.T, round int) {
	t.Helper()
	if s.kept == "" {
		return
	}
	if name := fmt.Sprint(s.kept, "-", round); s.changing {
		if err := s.create(ctx, name); err != nil {
			t.Fatalf("%v: %v", s.gvr, err)
		}
		if s.left != "" {
			s.delete(ctx, t, s.left)
		}
		s.left = name
	}
	s.label(ctx, t, s.kept, round)
}

func (s *subject) create(ctx context.Context, name string) error {
	obj := s.stub.DeepCopy()
	obj.SetName(name)
	_, err := s.client.Create(ctx, obj, metav1.CreateOptions{})
	return err
}

func (s *subject) label(ctx context.Context, t *testing.T, name string, round int) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"metadata": {"labels": {"round": "%d"}}}`, round)
	if _, err := s.client.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatalf("%v: %v", s.gvr, err)
	}
}

func (s *subject) delete(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	if err := s.client.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("%v: %v", s.gvr, err)
	}
}

// settle waits until both recorders have what the server has, and compares the stores.
func (s *subject) settle(ctx context.Context, t *testing.T) {
	t.Helper()
	for !s.settled(ctx, t) {
		if ctx.Err() != nil {
			t.Fatalf("%v: ours received %v, client-go's received %v", s.gvr, s.ours.Versions(), s.theirs.Versions())
		}
	}
	ours, theirs := s.stored(0), s.stored(1)
	if names := slices.Collect(maps.Keys(ours)); len(ours) != len(theirs) {
		t.Errorf("%v: ours has %d objects, client-go's has %d: %v", s.gvr, len(ours), len(theirs), names)
	}
	for name, their := range theirs {
		if our := ours[name]; !equality.Semantic.DeepEqual(our, their) {
			t.Errorf("%v: %s: ours has\n%v\nclient-go's has\n%v", s.gvr, name, our, their)
		}
	}
	for n, recorder := range []*record.Recorder[metav1.Object]{s.ours, s.theirs} {
		if problems := recorder.Problems(); len(problems) > 0 {
			t.Errorf("%v: %s: %s", s.gvr, []string{"ours", "client-go's"}[n], strings.Join(problems, "; "))
		}
	}
	if status, ok := informer.StatusOf(s.informers[0]); !ok || status.Resource != s.gvr {
		t.Errorf("%v: the status of ours is %+v", s.gvr, status)
	}
}

// settled waits a while until both recorders have what the server has now. The server may still change
// objects by itself after its start.
func (s *subject) settled(ctx context.Context, t *testing.T) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	list, err := s.list(ctx)
	if err != nil {
		return false
	}
	fresh := map[cache.ObjectName]string{}
	for i := range list.Items {
		if obj := &list.Items[i]; s.quiet(obj) {
			fresh[cache.MetaObjectToName(obj)] = obj.GetResourceVersion()
		}
	}
	known := func(present map[cache.ObjectName]metav1.Object) bool {
		return maps.Equal(record.Versions(slices.Collect(maps.Values(present))), fresh)
	}
	return s.ours.Wait(ctx, known) == nil && s.theirs.Wait(ctx, known) == nil
}

// stored returns the objects of an informer's store.
func (s *subject) stored(which int) map[cache.ObjectName]metav1.Object {
	objects := map[cache.ObjectName]metav1.Object{}
	for _, obj := range s.informers[which].GetStore().List() {
		if obj := obj.(metav1.Object); s.quiet(obj) {
			objects[cache.MetaObjectToName(obj)] = obj
		}
	}
	return objects
}

// mark makes sameEvents ignore all events so far.
func (s *subject) mark() { s.marks = [2]int{len(s.ours.Events()), len(s.theirs.Events())} }

// events returns the events of our handler and of client-go's since the mark.
func (s *subject) events() (ours, theirs []record.Event) {
	return s.ours.Events()[s.marks[0]:], s.theirs.Events()[s.marks[1]:]
}

// sameEvents checks that both handlers received the same events, in the same order.
func (s *subject) sameEvents(t *testing.T) {
	t.Helper()
	ours, theirs := s.events()
	if diff := record.Diff(ours, theirs); diff != "" {
		t.Errorf("%v: against client-go's: %s", s.gvr, diff)
	}
}

// sameEventsOfEach checks that both handlers received the same events of each object. FlowSchemas are exempt,
// because the server changes their status after it has created them.
func (s *subject) sameEventsOfEach(t *testing.T) {
	t.Helper()
	if s.gvr.Resource == "flowschemas" {
		return
	}
	ours, theirs := s.events()
	got, want := byName(ours), byName(theirs)
	names := maps.Clone(got)
	maps.Copy(names, want)
	for name := range names {
		if diff := record.Diff(got[name], want[name]); diff != "" {
			t.Errorf("%v: %s: against client-go's: %s", s.gvr, name, diff)
		}
	}
}

func byName(events []record.Event) map[cache.ObjectName][]record.Event {
	named := map[cache.ObjectName][]record.Event{}
	for _, e := range events {
		named[e.Name] = append(named[e.Name], e)
	}
	return named
}
