package informers_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgodynamic "k8s.io/client-go/dynamic/dynamicinformer"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clientgo "k8s.io/client-go/informers"
	metadatafake "k8s.io/client-go/metadata/fake"
	clientgometadata "k8s.io/client-go/metadata/metadatainformer"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/informers/dynamicinformer"
	"github.com/kubewright/kubewright/informers/metadatainformer"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/lister"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var things = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}

func thing(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Thing",
		"metadata": map[string]any{"namespace": "ns", "name": name, "labels": map[string]any{"name": name}},
	}}
}

// sharedFactory has the methods that both of client-go's factories have.
type sharedFactory interface {
	Start(<-chan struct{})
	ForResource(schema.GroupVersionResource) clientgo.GenericInformer
	WaitForCacheSync(<-chan struct{}) map[schema.GroupVersionResource]bool
	Shutdown()
}

// TestLikeClientGo checks that our informers and listers contain the same as client-go's, and that they are
// our implementation.
func TestLikeClientGo(t *testing.T) {
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	meta := &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Thing"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", Labels: map[string]string{"name": "a"}},
	}
	for name, factories := range map[string]func() (ours, theirs sharedFactory){
		"dynamic": func() (ours, theirs sharedFactory) {
			client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
				map[schema.GroupVersionResource]string{things: "ThingList"}, thing("a"))
			return dynamicinformer.NewDynamicSharedInformerFactory(client, 0),
				clientgodynamic.NewDynamicSharedInformerFactory(client, 0)
		},
		"metadata": func() (ours, theirs sharedFactory) {
			client := metadatafake.NewSimpleMetadataClient(scheme, meta)
			transform := func(obj any) (any, error) {
				obj.(*metav1.PartialObjectMetadata).Annotations = map[string]string{"transformed": "yes"}
				return obj, nil
			}
			return metadatainformer.NewSharedInformerFactoryWithOptions(
					client, 0, metadatainformer.WithTransform(transform)),
				clientgometadata.NewSharedInformerFactoryWithOptions(
					client, 0, clientgometadata.WithTransform(transform))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := factories()
				for _, f := range []sharedFactory{ours, theirs} {
					i := f.ForResource(things)
					if again := f.ForResource(things); again.Informer() != i.Informer() {
						t.Error("another informer for the same resource")
					}
					stop := make(chan struct{})
					f.Start(stop)
					if synced := f.WaitForCacheSync(stop); !synced[things] {
						t.Errorf("synced %v", synced)
					}
					found, err := i.Lister().ByNamespace("ns").List(
						labels.SelectorFromSet(labels.Set{"name": "a"}))
					if err != nil || len(found) != 1 {
						t.Errorf("found %v, %v", found, err)
					}
					for _, obj := range found {
						transformed := obj.(metav1.Object).GetAnnotations()["transformed"] == "yes"
						if transformed != (name == "metadata") {
							t.Errorf("it was transformed: %v", transformed)
						}
					}
					if _, err := i.Lister().ByNamespace("ns").Get("b"); !apierrors.IsNotFound(err) ||
						err.Error() != `things.example.com "b" not found` {
						t.Errorf("error %v", err)
					}
					if _, ok := informer.StatusOf(i.Informer()); ok != (f == ours) {
						t.Errorf("it is ours: %v", ok)
					}
					close(stop)
					f.Shutdown()
				}
			})
		})
	}
}

// TestTransformToAnotherType checks that a transform of a dynamic informer may return typed objects, as in
// client-go: handlers, indexes and the store have these.
func TestTransformToAnotherType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
			map[schema.GroupVersionResource]string{things: "ThingList"}, thing("a"))
		for name, f := range map[string]sharedFactory{
			"ours":      dynamicinformer.NewDynamicSharedInformerFactory(client, 0),
			"client-go": clientgodynamic.NewDynamicSharedInformerFactory(client, 0),
		} {
			i := f.ForResource(things).Informer()
			if err := i.SetTransform(func(obj any) (any, error) {
				if u, ok := obj.(*unstructured.Unstructured); ok {
					return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: u.GetNamespace(),
						Name: u.GetName(), Labels: u.GetLabels(), ResourceVersion: u.GetResourceVersion()}}, nil
				}
				return obj, nil
			}); err != nil {
				t.Fatal(err)
			}
			var seen []string
			note := func(what string, obj any) {
				if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
					obj = gone.Obj
				}
				seen = append(seen, what+" "+obj.(*corev1.ConfigMap).Name)
			}
			byName := func(obj any) ([]string, error) { return []string{obj.(*corev1.ConfigMap).Name}, nil }
			_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc:    func(obj any) { note("+", obj) },
				UpdateFunc: func(_, obj any) { note("=", obj) },
				DeleteFunc: func(obj any) { note("-", obj) },
			})
			if err := errors.Join(err, i.AddIndexers(cache.Indexers{"name": byName})); err != nil {
				t.Fatal(err)
			}
			stop := make(chan struct{})
			f.Start(stop)
			f.WaitForCacheSync(stop)
			resource, ctx := client.Resource(things).Namespace("ns"), t.Context()
			changed := thing("b")
			_, err = resource.Create(ctx, thing("b"), metav1.CreateOptions{})
			synctest.Wait()
			changed.SetLabels(map[string]string{"name": "c"})
			_, updateErr := resource.Update(ctx, changed, metav1.UpdateOptions{})
			synctest.Wait()
			found, indexErr := i.GetIndexer().ByIndex("name", "b")
			if err := errors.Join(err, updateErr, indexErr); err != nil || len(found) != 1 ||
				found[0].(*corev1.ConfigMap).Labels["name"] != "c" {
				t.Errorf("%s: found %v, %v", name, found, err)
			}
			if err := resource.Delete(ctx, "b", metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			if want := []string{"+ a", "+ b", "= b", "- b"}; !slices.Equal(seen, want) {
				t.Errorf("%s: %q, want %q", name, seen, want)
			}
			close(stop)
			f.Shutdown()
		}
	})
}

// TestFactoryFunctions checks that the functions of package factory work on dynamic factories as on generated
// ones. The informers of a dynamic factory have resources in place of types.
func TestFactoryFunctions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
			map[schema.GroupVersionResource]string{things: "ThingList"}, thing("a"))
		f := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
		first := f.ForResource(things).Informer()
		ctx, cancel := context.WithCancel(t.Context())
		f.Start(ctx.Done())
		if err := factory.WaitForSync(ctx, f); err != nil {
			t.Error(err)
		}
		if statuses, err := factory.Statuses(f); err != nil || len(statuses) != 1 ||
			statuses[0].Objects != 1 {
			t.Errorf("statuses %+v, %v", statuses, err)
		}
		if err := factory.Release(f, first); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if !first.IsStopped() {
			t.Error("released, the informer goes on")
		}
		if f.ForResource(things).Informer() == first {
			t.Error("released, the informer is still the factory's")
		}
		cancel()
		f.Shutdown()
	})
}

// TestListByFields checks that a dynamic informer's lister finds objects by the informer's field index.
func TestListByFields(t *testing.T) {
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{things: "ThingList"}, thing("a"), thing("b"))
	f := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	i := f.ForResource(things)
	if err := informer.IndexField(i.Informer(),
		"metadata.name", func(u *unstructured.Unstructured) []string {
			return []string{u.GetName()}
		}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f.Start(ctx.Done())
	f.WaitForCacheSync(ctx.Done())
	found, err := lister.ListByFields(i.Lister(),
		fields.OneTermEqualSelector("metadata.name", "b"), labels.Everything())
	if err != nil || len(found) != 1 || found[0].(*unstructured.Unstructured).GetName() != "b" {
		t.Errorf("found %v, %v", found, err)
	}
	cancel()
	f.Shutdown()
}

// TestNames checks that names, statuses and errors contain the resource and namespace.
func TestNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dynamicClient := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
			map[schema.GroupVersionResource]string{things: "ThingList"})
		metadataClient := metadatafake.NewSimpleMetadataClient(metadatafake.NewTestScheme())
		for _, client := range []*clienttesting.Fake{&dynamicClient.Fake, &metadataClient.Fake} {
			client.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, apierrors.NewForbidden(things.GroupResource(), "", nil)
			})
		}
		for typ, factories := range map[string][2]sharedFactory{
			"*unstructured.Unstructured": {
				dynamicinformer.NewDynamicSharedInformerFactory(dynamicClient, 0),
				dynamicinformer.NewFilteredDynamicSharedInformerFactory(dynamicClient, 0, "ns", nil),
			},
			"*v1.PartialObjectMetadata": {
				metadatainformer.NewSharedInformerFactory(metadataClient, 0),
				metadatainformer.NewFilteredSharedInformerFactory(metadataClient, 0, "ns", nil),
			},
		} {
			for n, f := range factories {
				want := "informer of example.com/v1 things" + []string{"", " in namespace ns"}[n]
				f.ForResource(things)
				ctx, cancel := context.WithCancel(t.Context())
				f.Start(ctx.Done())
				var unsynced *informer.NotSyncedError
				err := factory.WaitForSyncOr(ctx, f, (*informer.SyncError).Permanent)
				if !errors.As(err, &unsynced) || unsynced.Informers[0].Informer != want {
					t.Errorf("error %v, want the name %q", err, want)
				}
				s, _ := informer.StatusOf(f.ForResource(things).Informer())
				if s.Name != want || s.Type != typ || s.Resource != things || s.Namespace != []string{"", "ns"}[n] {
					t.Errorf("status %+v, want the name %q", s, want)
				}
				cancel()
				f.Shutdown()
			}
		}
	})
}
