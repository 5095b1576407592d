package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	appsinformers "k8s.io/client-go/informers/apps/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"

	samplev1alpha1 "example.com/moving/samplecontroller/pkg/apis/samplecontroller/v1alpha1"
	clientset "example.com/moving/samplecontroller/pkg/generated/clientset/versioned"
	samplescheme "example.com/moving/samplecontroller/pkg/generated/clientset/versioned/scheme"
	informers "example.com/moving/samplecontroller/pkg/generated/informers/externalversions/samplecontroller/v1alpha1"
	listers "example.com/moving/samplecontroller/pkg/generated/listers/samplecontroller/v1alpha1"
)

// Reasons of events.
const (
	SuccessSynced     = "Synced"
	ErrResourceExists = "ErrResourceExists"
)

// Controller keeps a Deployment for each Foo.
type Controller struct {
	kubeclientset     kubernetes.Interface
	sampleclientset   clientset.Interface
	deploymentsLister appslisters.DeploymentLister
	deploymentsSynced cache.InformerSynced
	foosLister        listers.FooLister
	foosSynced        cache.InformerSynced
	workqueue         workqueue.TypedRateLimitingInterface[cache.ObjectName]
	recorder          record.EventRecorder
}

// NewController returns a controller that hears of changes from the two informers.
func NewController(
	ctx context.Context, kubeclientset kubernetes.Interface, sampleclientset clientset.Interface,
	deploymentInformer appsinformers.DeploymentInformer, fooInformer informers.FooInformer,
) (*Controller, error) {
	utilruntime.Must(samplescheme.AddToScheme(scheme.Scheme))
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: kubeclientset.CoreV1().Events("")})
	c := &Controller{
		kubeclientset:     kubeclientset,
		sampleclientset:   sampleclientset,
		deploymentsLister: deploymentInformer.Lister(),
		deploymentsSynced: deploymentInformer.Informer().HasSynced,
		foosLister:        fooInformer.Lister(),
		foosSynced:        fooInformer.Informer().HasSynced,
		workqueue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName](),
			workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{Name: "foos"}),
		recorder: broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "sample-controller"}),
	}
	_, err := fooInformer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueueFoo,
		UpdateFunc: func(_, foo any) { c.enqueueFoo(foo) },
	})
	if err != nil {
		return nil, err
	}
	_, err = deploymentInformer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: c.handleObject,
		UpdateFunc: func(before, now any) {
			if before.(*appsv1.Deployment).ResourceVersion != now.(*appsv1.Deployment).ResourceVersion {
				c.handleObject(now)
			}
		},
		DeleteFunc: c.handleObject,
	})
	return c, err
}

// Run reconciles Foos until the context is done and its workers have ended.
func (c *Controller) Run(ctx context.Context, workers int) error {
	defer utilruntime.HandleCrash()
	if !cache.WaitForCacheSync(ctx.Done(), c.deploymentsSynced, c.foosSynced) {
		return errors.New("the caches haven't synced")
	}
	var running sync.WaitGroup
	for range workers {
		running.Go(func() { wait.UntilWithContext(ctx, c.runWorker, time.Second) })
	}
	<-ctx.Done()
	c.workqueue.ShutDown()
	running.Wait()
	return nil
}

func (c *Controller) runWorker(ctx context.Context) {
	for c.processNextWorkItem(ctx) {
	}
}

// processNextWorkItem reconciles one Foo. It returns false if the queue was shut down.
func (c *Controller) processNextWorkItem(ctx context.Context) bool {
	name, shutdown := c.workqueue.Get()
	if shutdown {
		return false
	}
	defer c.workqueue.Done(name)
	if err := c.syncHandler(ctx, name); err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "Failed to reconcile a Foo, trying again", "foo", name)
		c.workqueue.AddRateLimited(name)
		return true
	}
	c.workqueue.Forget(name)
	return true
}

// syncHandler makes the Deployment of a Foo what the Foo asks for, and writes the Foo's status if it changed.
func (c *Controller) syncHandler(ctx context.Context, name cache.ObjectName) error {
	foo, err := c.foosLister.Foos(name.Namespace).Get(name.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if foo.Spec.DeploymentName == "" {
		utilruntime.HandleErrorWithContext(ctx, nil, "A Foo names no Deployment", "foo", name)
		return nil
	}
	deployments := c.kubeclientset.AppsV1().Deployments(foo.Namespace)
	deployment, err := c.deploymentsLister.Deployments(foo.Namespace).Get(foo.Spec.DeploymentName)
	if apierrors.IsNotFound(err) {
		deployment, err = deployments.Create(ctx, newDeployment(foo), metav1.CreateOptions{})
	}
	if err != nil {
		return err
	}
	if !metav1.IsControlledBy(deployment, foo) {
		message := fmt.Sprintf("the Deployment %s exists and isn't the Foo's", deployment.Name)
		c.recorder.Event(foo, corev1.EventTypeWarning, ErrResourceExists, message)
		return errors.New(message)
	}
	if foo.Spec.Replicas != nil && *foo.Spec.Replicas != *deployment.Spec.Replicas {
		deployment, err = deployments.Update(ctx, newDeployment(foo), metav1.UpdateOptions{})
		if err != nil {
			return err
		}
	}
	if err := c.updateFooStatus(ctx, foo, deployment); err != nil {
		return err
	}
	c.recorder.Event(foo, corev1.EventTypeNormal, SuccessSynced, "the Foo has its Deployment")
	fmt.Printf("synced %s: %s with %d replicas\n", name, deployment.Name, *deployment.Spec.Replicas)
	return nil
}

func (c *Controller) updateFooStatus(
	ctx context.Context, foo *samplev1alpha1.Foo, deployment *appsv1.Deployment,
) error {
	if foo.Status.AvailableReplicas == deployment.Status.AvailableReplicas {
		return nil
	}
	foo = foo.DeepCopy() // the cache owns the original
	foo.Status.AvailableReplicas = deployment.Status.AvailableReplicas
	_, err := c.sampleclientset.SamplecontrollerV1alpha1().Foos(foo.Namespace).
		UpdateStatus(ctx, foo, metav1.UpdateOptions{})
	return err
}

func (c *Controller) enqueueFoo(obj any) {
	name, err := cache.ObjectToName(obj)
	if err != nil {
		utilruntime.HandleError(err)
		return
	}
	c.workqueue.Add(name)
}

// handleObject enqueues the Foo that controls an object.
func (c *Controller) handleObject(obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	object, ok := obj.(metav1.Object)
	if !ok {
		utilruntime.HandleError(fmt.Errorf("a %T is no object", obj))
		return
	}
	if owner := metav1.GetControllerOf(object); owner != nil && owner.Kind == "Foo" {
		if foo, err := c.foosLister.Foos(object.GetNamespace()).Get(owner.Name); err == nil {
			c.enqueueFoo(foo)
		}
	}
}

// newDeployment returns the Deployment that a Foo asks for.
func newDeployment(foo *samplev1alpha1.Foo) *appsv1.Deployment {
	labels := map[string]string{"app": "web", "controller": foo.Name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name: foo.Spec.DeploymentName, Namespace: foo.Namespace,
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(foo, samplev1alpha1.SchemeGroupVersion.WithKind("Foo")),
			},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: foo.Spec.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:latest"}}},
			},
		},
	}
}
