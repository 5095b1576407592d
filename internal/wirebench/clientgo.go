package wirebench

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	clientgodynamic "k8s.io/client-go/dynamic/dynamicinformer"
	clientgo "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	clientgometadata "k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions/internalinterfaces"
	shopinformers "github.com/kubewright/kubewright/examples/generated/informers/externalversions/shop/v1"
	"github.com/kubewright/kubewright/informers"
	"github.com/kubewright/kubewright/informers/dynamicinformer"
	"github.com/kubewright/kubewright/informers/metadatainformer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// The collections for clients of client-go.
const (
	clientset       = "clientset/pods"
	unstructured    = "dynamic/workloads"
	partialMetadata = "metadata/workloads"
	// generatedPartial are generated metadata informers.
	generatedPartial = "generated-metadata/bakeries"
)

// ClientGo are the ways to read a collection with a client of client-go.
var ClientGo = []Option{
	{"", ours, clientGo},
	{"no-managed-fields", dropping, stripping},
}

// Dynamic adds an option for unstructured objects.
var Dynamic = append(ClientGo[:2:2], Option{"no-managed-fields,shared-values", sharing, stripping})

func init() {
	resource := GroupVersion.WithResource("workloads")
	addClientGo(clientset, func(config *rest.Config) cache.SharedIndexInformer {
		config.ContentType = runtime.ContentTypeProtobuf
		client := must(kubernetes.NewForConfig(config))
		return informers.NewSharedInformerFactory(client, 0).Core().V1().Pods().Informer()
	}, func(config *rest.Config) cache.SharedIndexInformer {
		config.ContentType = runtime.ContentTypeProtobuf
		client := must(kubernetes.NewForConfig(config))
		return clientgo.NewSharedInformerFactory(client, 0).Core().V1().Pods().Informer()
	})
	addClientGo(unstructured, func(config *rest.Config) cache.SharedIndexInformer {
		config.Wrap(listwatch.Wrap)
		client := must(dynamic.NewForConfig(config))
		return dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(resource).Informer()
	}, func(config *rest.Config) cache.SharedIndexInformer {
		client := must(dynamic.NewForConfig(config))
		return clientgodynamic.NewDynamicSharedInformerFactory(client, 0).ForResource(resource).Informer()
	})
	addClientGo(partialMetadata, func(config *rest.Config) cache.SharedIndexInformer {
		config.Wrap(listwatch.Wrap)
		client := must(metadata.NewForConfig(config))
		return metadatainformer.NewSharedInformerFactory(client, 0).ForResource(resource).Informer()
	}, func(config *rest.Config) cache.SharedIndexInformer {
		client := must(metadata.NewForConfig(config))
		return clientgometadata.NewSharedInformerFactory(client, 0).ForResource(resource).Informer()
	})
	bakeries := shopv1.SchemeGroupVersion.WithResource("bakeries")
	addClientGo(generatedPartial, func(config *rest.Config) cache.SharedIndexInformer {
		config.Wrap(listwatch.Wrap)
		client := must(metadata.NewForConfig(config))
		return shopinformers.NewBakeryInformerForMetadata(client, "", internalinterfaces.InformerOptions{})
	}, func(config *rest.Config) cache.SharedIndexInformer {
		client := must(metadata.NewForConfig(config))
		i := clientgometadata.NewFilteredMetadataInformer(client, bakeries, "", 0, cache.Indexers{}, nil)
		return i.Informer()
	})
}

// addClientGo adds the modes of a collection, with informers of our packages and of client-go.
func addClientGo(name string, our, their func(*rest.Config) cache.SharedIndexInformer) {
	own[name+"/"+ours] = our
	for mode, decoding := range map[string]informer.Options{
		dropping:     {Drop: noManagedFields},
		droppingHere: {Drop: noManagedFields, NoServerDrop: true},
		sharing:      {Drop: noManagedFields, ShareValues: true},
	} {
		own[name+"/"+mode] = func(config *rest.Config) cache.SharedIndexInformer {
			return decodingWith(our(config), decoding)
		}
	}
	own[name+"/"+clientGo] = their
	own[name+"/"+stripping] = func(config *rest.Config) cache.SharedIndexInformer {
		return stripped(their(config))
	}
}
