package tour

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/scheme"
)

// A RESTClient sends requests to one group and version. It has the encoding of objects and the verbs of HTTP,
// but no types. Generated clients are built on it.
func TestRESTClient(t *testing.T) {
	config := rest.CopyConfig(serverConfig(t)) // of server_test.go, like namespace and bakery
	config.GroupVersion = &shopv1.SchemeGroupVersion
	config.APIPath = "/apis" // "/api" for the core group
	// It encodes and decodes, in JSON or another format that the two sides negotiate. WithoutConversion: objects
	// keep the version in which they are sent.
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	var created, read shopv1.Bakery
	err = client.Post().Namespace(namespace(t)).Resource("bakeries").
		VersionedParams(&metav1.CreateOptions{FieldManager: "tour"}, scheme.ParameterCodec). // ?fieldManager=tour
		Body(bakery(t, "ann")).
		Do(t.Context()).Into(&created)
	if err != nil {
		t.Fatal(err)
	}
	request := client.Get().Namespace(namespace(t)).Resource("bakeries").Name("ann")
	want := "/apis/shop.kubewright.dev/v1/namespaces/" + namespace(t) + "/bakeries/ann"
	if got := request.URL().Path; got != want {
		t.Errorf("the request goes to %s, want %s", got, want)
	}
	if err := request.Do(t.Context()).Into(&read); err != nil {
		t.Fatal(err)
	}
	if read.UID != created.UID || read.Spec.Bread != "rye" {
		t.Errorf("read %+v, created %+v", read, created)
	}
}
