package main

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubeinformers "k8s.io/client-go/informers"
	kubefake "k8s.io/client-go/kubernetes/fake"
	core "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	samplev1alpha1 "example.com/moving/samplecontroller/pkg/apis/samplecontroller/v1alpha1"
	"example.com/moving/samplecontroller/pkg/generated/clientset/versioned/fake"
	informers "example.com/moving/samplecontroller/pkg/generated/informers/externalversions"
)

// fixture is a controller over fake clients, with objects in its caches.
type fixture struct {
	t            *testing.T
	kube         *kubefake.Clientset
	sample       *fake.Clientset
	kubeFactory  kubeinformers.SharedInformerFactory
	foosFactory  informers.SharedInformerFactory
	controller   *Controller
	recorder     *record.FakeRecorder
	foos, deploy cache.Indexer
}

// newFixture puts the objects into the fake clients, and into the caches of informers that never start.
func newFixture(t *testing.T, foos []runtime.Object, deployments []runtime.Object) *fixture {
	t.Helper()
	f := &fixture{t: t,
		kube:     kubefake.NewClientset(deployments...),
		sample:   fake.NewSimpleClientset(foos...),
		recorder: record.NewFakeRecorder(100),
	}
	f.kubeFactory = kubeinformers.NewSharedInformerFactory(f.kube, 0)
	f.foosFactory = informers.NewSharedInformerFactory(f.sample, 0)
	deploymentInformer := f.kubeFactory.Apps().V1().Deployments()
	fooInformer := f.foosFactory.Samplecontroller().V1alpha1().Foos()
	var err error
	f.controller, err = NewController(t.Context(), f.kube, f.sample, deploymentInformer, fooInformer)
	if err != nil {
		t.Fatal(err)
	}
	f.controller.recorder = f.recorder
	f.foos, f.deploy = fooInformer.Informer().GetIndexer(), deploymentInformer.Informer().GetIndexer()
	for indexer, objects := range map[cache.Indexer][]runtime.Object{f.foos: foos, f.deploy: deployments} {
		for _, object := range objects {
			if err := indexer.Add(object); err != nil {
				t.Fatal(err)
			}
		}
	}
	return f
}

// sync reconciles the Foo and checks the writes that follow, and the event.
func (f *fixture) sync(foo *samplev1alpha1.Foo, fails bool, event string, want ...string) {
	f.t.Helper()
	err := f.controller.syncHandler(f.t.Context(), cache.MetaObjectToName(foo))
	if (err != nil) != fails {
		f.t.Errorf("an error: %v", err)
	}
	var got []string
	for _, action := range append(f.kube.Actions(), f.sample.Actions()...) {
		if action.GetVerb() == "list" || action.GetVerb() == "watch" {
			continue
		}
		resource := action.GetResource().Resource
		if sub := action.GetSubresource(); sub != "" {
			resource += "/" + sub
		}
		got = append(got, action.GetVerb()+" "+resource)
	}
	if !reflect.DeepEqual(got, want) {
		f.t.Errorf("the controller did %q, not %q", got, want)
	}
	said := ""
	select {
	case said = <-f.recorder.Events:
	default:
	}
	if said != event {
		f.t.Errorf("the event is %q, not %q", said, event)
	}
}

func newFoo(name string, replicas int32) *samplev1alpha1.Foo {
	return &samplev1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault, UID: "uid-of-foo"},
		Spec:       samplev1alpha1.FooSpec{DeploymentName: name + "-web", Replicas: &replicas},
	}
}

const synced = "Normal Synced the Foo has its Deployment"

func TestCreatesDeployment(t *testing.T) {
	foo := newFoo("test", 1)
	f := newFixture(t, []runtime.Object{foo}, nil)
	f.sync(foo, false, synced, "create deployments")
}

func TestDoesNothingForAForeignName(t *testing.T) {
	f := newFixture(t, nil, nil)
	f.sync(newFoo("gone", 1), false, "")
}

func TestUpdatesDeployment(t *testing.T) {
	foo := newFoo("test", 1)
	deployment := newDeployment(foo)
	foo = newFoo("test", 2)
	f := newFixture(t, []runtime.Object{foo}, []runtime.Object{deployment})
	f.sync(foo, false, synced, "update deployments")
}

func TestNotControlledByUs(t *testing.T) {
	foo := newFoo("test", 1)
	deployment := newDeployment(foo)
	deployment.OwnerReferences = nil
	f := newFixture(t, []runtime.Object{foo}, []runtime.Object{deployment})
	f.sync(foo, true, "Warning ErrResourceExists the Deployment test-web exists and isn't the Foo's")
}

func TestStatus(t *testing.T) {
	foo := newFoo("test", 3)
	deployment := newDeployment(foo)
	deployment.Status.AvailableReplicas = 2
	f := newFixture(t, []runtime.Object{foo}, []runtime.Object{deployment})
	f.sync(foo, false, synced, "update foos/status")
	got, err := f.sample.SamplecontrollerV1alpha1().Foos("default").Get(t.Context(), "test", metav1.GetOptions{})
	if err != nil || got.Status.AvailableReplicas != 2 {
		t.Errorf("the status is %v, %v", got.Status, err)
	}
	if foo.Status.AvailableReplicas != 0 {
		t.Error("the object in the cache was changed")
	}
}

// TestRun runs the whole controller: it makes the Deployment of a Foo that exists and of one that is added,
// and makes a Deployment anew that was deleted.
func TestRun(t *testing.T) {
	f := newFixture(t, []runtime.Object{newFoo("first", 1)}, nil)
	created := make(chan string, 10)
	f.kube.PrependReactor("create", "deployments", func(a core.Action) (bool, runtime.Object, error) {
		created <- a.(core.CreateAction).GetObject().(*appsv1.Deployment).Name
		return false, nil, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	f.kubeFactory.Start(ctx.Done())
	f.foosFactory.Start(ctx.Done())
	var running sync.WaitGroup
	running.Go(func() {
		if err := f.controller.Run(ctx, 2); err != nil {
			t.Error(err)
		}
	})
	defer running.Wait()
	defer cancel()
	expect := func(name string) {
		t.Helper()
		select {
		case got := <-created:
			if got != name {
				t.Errorf("%s was created, not %s", got, name)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s wasn't created", name)
		}
	}
	expect("first-web")
	foos := f.sample.SamplecontrollerV1alpha1().Foos("default")
	if _, err := foos.Create(ctx, newFoo("second", 1), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("second-web")
	// The informer must have seen the Deployment, or its deletion would tell it nothing.
	err := watchFor(ctx, f, "second-web")
	if err != nil {
		t.Fatal(err)
	}
	deployments := f.kube.AppsV1().Deployments("default")
	if err := deployments.Delete(ctx, "second-web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("second-web")
}

// watchFor waits until the Deployment is in the controller's cache.
func watchFor(ctx context.Context, f *fixture, name string) error {
	seen := make(chan struct{})
	var once sync.Once
	_, err := f.kubeFactory.Apps().V1().Deployments().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			if obj.(*appsv1.Deployment).Name == name {
				once.Do(func() { close(seen) })
			}
		},
	})
	if err != nil {
		return err
	}
	select {
	case <-seen:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Minute):
		return fmt.Errorf("%s isn't in the cache", name)
	}
}

// TestRetries tries again after a failure.
func TestRetries(t *testing.T) {
	foo := newFoo("test", 1)
	f := newFixture(t, []runtime.Object{foo}, nil)
	failures := 2
	f.kube.PrependReactor("create", "deployments", func(core.Action) (bool, runtime.Object, error) {
		if failures--; failures >= 0 {
			return true, nil, apierrors.NewInternalError(fmt.Errorf("%d more", failures))
		}
		return false, nil, nil
	})
	f.controller.enqueueFoo(foo)
	for range 3 {
		f.controller.processNextWorkItem(t.Context())
	}
	f.controller.workqueue.ShutDown()
	deployments := f.kube.AppsV1().Deployments("default")
	if _, err := deployments.Get(t.Context(), "test-web", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	if n := f.controller.workqueue.NumRequeues(cache.MetaObjectToName(foo)); n != 0 {
		t.Errorf("%d tries are remembered", n)
	}
}

// TestTombstone enqueues the owner of a Deployment whose deletion was missed.
func TestTombstone(t *testing.T) {
	foo := newFoo("test", 1)
	f := newFixture(t, []runtime.Object{foo}, nil)
	f.controller.handleObject(cache.DeletedFinalStateUnknown{Key: "default/test-web", Obj: newDeployment(foo)})
	if name, _ := f.controller.workqueue.Get(); name != cache.MetaObjectToName(foo) {
		t.Errorf("%v is in the queue", name)
	}
}
