// Package informers runs the generated informers, listers and clients of Pods and ConfigMaps against a whole
// kube-apiserver, and interrupts the network and the server.
package informers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"

	"example.com/scratch/pkg/client/clientset/versioned"
	"example.com/scratch/pkg/client/informers/externalversions"

	"github.com/kubewright/kubewright/envtest/record"
	"github.com/kubewright/kubewright/envtest/tcpproxy"
	"github.com/kubewright/kubewright/test/e2e/churn"
	"github.com/kubewright/kubewright/test/e2e/kubeserver"
)

const namespace = "default"

// setting is a server, and a clientset that connects to it directly.
type setting struct {
	server *kubeserver.Server
	client versioned.Interface
}

// TestInformers goes through the same faults with streamed and with plain lists.
func TestInformers(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	binaries, err := kubeserver.Build(ctx, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	server, err := kubeserver.Start(ctx, binaries, kubeserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	client, err := versioned.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	s := &setting{server, client}
	for mode, watchList := range map[string]bool{"WatchList": true, "List": false} {
		t.Run(mode, func(t *testing.T) {
			clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, watchList)
			s.testFaults(ctx, t, strings.ToLower(mode))
		})
	}
}

func (s *setting) testFaults(ctx context.Context, t *testing.T, scope string) {
	config, proxy := tcpproxy.Before(t, s.server.Config())
	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	factory := externalversions.NewSharedInformerFactoryWithOptions(client, 0,
		externalversions.WithNamespace(namespace),
		externalversions.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "scope=" + scope }))
	core := factory.Core().V1()
	pods := watched(t, "pods", core.Pods().TypedInformer(), s.podChurn(scope), s.listPods(scope), core.Pods().Lister().Pods(namespace).List)
	configMaps := watched(t, "configmaps", core.ConfigMaps().TypedInformer(), s.configMapChurn(scope), s.listConfigMaps(scope), core.ConfigMaps().Lister().ConfigMaps(namespace).List)
	each := func(do func(stage)) {
		do(pods)
		do(configMaps)
	}

	each(func(g stage) { g.churn(ctx, t, 20) })
	running, stop := context.WithCancel(ctx)
	factory.StartWithContext(running)
	t.Cleanup(func() {
		stop()
		factory.Shutdown()
	})
	if err := factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		t.Fatal(err)
	}
	each(func(g stage) { g.churn(ctx, t, 40) })
	each(func(g stage) { g.settle(ctx, t) })

	// A cut connection costs no event: the informer continues where it was.
	for range 5 {
		each(func(g stage) { g.churn(ctx, t, 3) })
		proxy.Cut()
		each(func(g stage) { g.churn(ctx, t, 3) })
		each(func(g stage) { g.settle(ctx, t) })
	}
	each(func(g stage) { g.complete(t) })

	// A server that crashes and restarts has lost the changes that the informer hasn't seen, and may not
	// report that: only the final state counts.
	for range 2 {
		proxy.Down()
		each(func(g stage) { g.churn(ctx, t, 20) })
		if err := s.server.Restart(ctx); err != nil {
			t.Fatal(err)
		}
		proxy.Up()
		each(func(g stage) { g.churn(ctx, t, 20) })
		each(func(g stage) { g.settle(ctx, t) })
	}
	// After that the informer misses nothing.
	each(func(g stage) { g.mark() })
	each(func(g stage) { g.churn(ctx, t, 20) })
	each(func(g stage) { g.settle(ctx, t) })
	each(func(g stage) { g.complete(t) })
	each(func(g stage) { g.report(t) })
	t.Logf("%d connections", proxy.Connections())
}

func (s *setting) podChurn(scope string) *churn.Churn[*corev1.Pod] {
	pod := func(name string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: scope + "-" + name, Labels: map[string]string{"scope": scope}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "bread:1"}}},
		}
	}
	change := func(pod *corev1.Pod, n int) { pod.Spec.Containers[0].Image = fmt.Sprintf("bread:%d", n+1) }
	return churn.New(s.client.CoreV1().Pods(namespace), rand.Uint64(), pod, change)
}

func (s *setting) configMapChurn(scope string) *churn.Churn[*corev1.ConfigMap] {
	configMap := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: scope + "-" + name, Labels: map[string]string{"scope": scope}},
			Data:       map[string]string{"number": "0"},
		}
	}
	change := func(c *corev1.ConfigMap, n int) { c.Data["number"] = fmt.Sprint(n) }
	return churn.New(s.client.CoreV1().ConfigMaps(namespace), rand.Uint64(), configMap, change)
}

func (s *setting) listPods(scope string) func(context.Context) ([]*corev1.Pod, error) {
	return func(ctx context.Context) ([]*corev1.Pod, error) {
		list, err := s.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "scope=" + scope})
		if err != nil {
			return nil, err
		}
		return pointers(list.Items), nil
	}
}

func (s *setting) listConfigMaps(scope string) func(context.Context) ([]*corev1.ConfigMap, error) {
	return func(ctx context.Context) ([]*corev1.ConfigMap, error) {
		list, err := s.client.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{LabelSelector: "scope=" + scope})
		if err != nil {
			return nil, err
		}
		return pointers(list.Items), nil
	}
}

func pointers[T any](items []T) []*T {
	p := make([]*T, len(items))
	for i := range items {
		p[i] = &items[i]
	}
	return p
}

// stage hides the type of a subject.
type stage interface {
	churn(ctx context.Context, t *testing.T, requests int)
	settle(ctx context.Context, t *testing.T)
	mark()
	complete(t *testing.T)
	report(t *testing.T)
}

// subject is an informer with a handler, the client that changes its objects, and the two ways to list them:
// from the server and from the lister.
type subject[T record.APIObject] struct {
	name     string
	changes  *churn.Churn[T]
	recorder *record.Recorder[T]
	store    cache.Store
	fresh    func(context.Context) ([]T, error)
	listed   func(labels.Selector) ([]T, error)
	// complete ignores that many events and changes.
	initial, events, done int
}

func watched[T record.APIObject](t *testing.T, name string, informer cache.TypedSharedIndexInformer[T], changes *churn.Churn[T],
	fresh func(context.Context) ([]T, error), listed func(labels.Selector) ([]T, error)) stage {
	t.Helper()
	s := &subject[T]{name: name, changes: changes, recorder: record.New[T](), store: informer.GetStore(), fresh: fresh, listed: listed}
	if _, err := informer.AddTypedEventHandler(s.recorder); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *subject[T]) churn(ctx context.Context, t *testing.T, requests int) {
	t.Helper()
	if err := s.changes.Run(ctx, requests); err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
}

// settle waits for the last change, and compares what the informer stores and what it reported with a fresh
// list.
func (s *subject[T]) settle(ctx context.Context, t *testing.T) {
	t.Helper()
	name, version, err := s.changes.Last(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.recorder.WaitFor(ctx, name, version); err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	fresh, err := s.fresh(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var stored []T
	for _, obj := range s.store.List() {
		stored = append(stored, obj.(T))
	}
	listed, err := s.listed(labels.Everything())
	if err != nil {
		t.Fatal(err)
	}
	for what, objects := range map[string][]T{"store": stored, "lister": listed} {
		for _, difference := range record.Differences(objects, fresh) {
			t.Errorf("%s: the %s: %s", s.name, what, difference)
		}
	}
	got, want := s.recorder.Versions(), record.Versions(fresh)
	for name, version := range want {
		if got[name] != version {
			t.Errorf("%s: the handler received %s in version %q, want %q", s.name, name, got[name], version)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: the handler received %d objects, want %d", s.name, len(got), len(want))
	}
	for _, problem := range s.recorder.Problems() {
		t.Errorf("%s: %s", s.name, problem)
	}
}

// mark makes complete ignore everything so far.
func (s *subject[T]) mark() { s.events, s.done = len(s.recorder.Events()), len(s.changes.Done()) }

func (s *subject[T]) complete(t *testing.T) {
	t.Helper()
	initial := 0
	if s.events == 0 {
		initial = s.recorder.Initial()
	}
	if err := record.Complete(s.recorder.Events()[s.events:], initial, s.changes.Done()[s.done:]); err != nil {
		t.Errorf("%s: %v", s.name, err)
	}
}

func (s *subject[T]) report(t *testing.T) {
	t.Helper()
	t.Logf("%s: %d requests, %d events, %d objects", s.name, len(s.changes.Done()), len(s.recorder.Events()), len(s.recorder.Versions()))
}
