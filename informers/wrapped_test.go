package informers_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/examples/generated/informers/externalversions/internalinterfaces"
	shopv1 "github.com/kubewright/kubewright/examples/generated/informers/externalversions/shop/v1"
	"github.com/kubewright/kubewright/informers/dynamicinformer"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// labelling is a metadata client that labels what it lists.
type labelling struct{ metadata.Interface }

func (l labelling) Resource(resource schema.GroupVersionResource) metadata.Getter {
	return labellingGetter{l.Interface.Resource(resource)}
}

type labellingGetter struct{ metadata.Getter }

func (l labellingGetter) Namespace(namespace string) metadata.ResourceInterface {
	return labellingResource{l.Getter.Namespace(namespace)}
}

type labellingResource struct{ metadata.ResourceInterface }

func (l labellingResource) List(
	ctx context.Context, opts metav1.ListOptions,
) (*metav1.PartialObjectMetadataList, error) {
	list, err := l.ResourceInterface.List(ctx, opts)
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		list.Items[i].Labels = map[string]string{"by": "wrapper"}
	}
	return list, nil
}

// TestWrappedClients checks that the informer reads everything through the client's methods if the client
// isn't client-go's own, even with the transport, because the client may change objects.
func TestWrappedClients(t *testing.T) {
	bakeries := schema.GroupVersionResource{Group: "shop.example.com", Version: "v1", Resource: "bakeries"}
	for name, newInformer := range map[string]func(*rest.Config) cache.SharedIndexInformer{
		"dynamic": func(config *rest.Config) cache.SharedIndexInformer {
			client := struct{ dynamic.Interface }{dynamic.NewForConfigOrDie(config)}
			pods := corev1.SchemeGroupVersion.WithResource("pods")
			return dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(pods).Informer()
		},
		"generated metadata": func(config *rest.Config) cache.SharedIndexInformer {
			client := labelling{metadata.NewForConfigOrDie(config)}
			return shopv1.NewBakeryInformerForMetadata(client, "ns", internalinterfaces.InformerOptions{})
		},
		"the client of a resource": func(config *rest.Config) cache.SharedIndexInformer {
			client := metadata.NewForConfigOrDie(config)
			wrapped := labelling{client}.Resource(bakeries).Namespace("ns")
			return gen.NewShared[*metav1.PartialObjectMetadata](
				func() gen.ResourceClient[*metav1.PartialObjectMetadataList] { return wrapped },
				gen.Options{Client: client})
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(servePods))
			defer server.Close()
			config := &rest.Config{Host: server.URL, QPS: -1}
			config.Wrap(listwatch.Wrap)
			i := newInformer(config)
			stop, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				i.Run(stop)
			}()
			synced := cache.WaitForCacheSync(t.Context().Done(), i.HasSynced)
			s, _ := informer.StatusOf(i)
			// The server changes a; b is as it was listed.
			b, exists, err := i.GetStore().GetByKey("ns/b")
			close(stop)
			<-ended
			if !synced || s.Objects != 2 || s.Reading.Streamed != 0 || s.Reading.Whole == 0 {
				t.Errorf("%+v", s)
			}
			if err != nil || !exists {
				t.Fatal(exists, err)
			}
			if labels := b.(metav1.Object).GetLabels(); name != "dynamic" && labels["by"] != "wrapper" {
				t.Errorf("labels %v: the wrapper was bypassed", labels)
			}
		})
	}
}
