// Command bomb reads the list or the watch of a hostile server with an informer's source, and prints the error
// and the peak memory in KB. It is a program because a test shares its memory with all other tests and the
// race detector.
//
//	bomb list|watch configmap|unstructured URL content-type max-object
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/runtime/gen/client"
	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// ignore is a receiver that keeps nothing.
type ignore struct{}

func (ignore) Add(any) error  { return nil }
func (ignore) Restart() error { return nil }

func main() {
	verb, kind := os.Args[1], os.Args[2]
	maxObject, err := strconv.Atoi(os.Args[5])
	if err != nil {
		fail(err)
	}
	source, err := newSource(kind, &rest.Config{Host: os.Args[3],
		ContentConfig: rest.ContentConfig{ContentType: os.Args[4]}}, maxObject)
	if err != nil {
		fail(err)
	}
	before, err := memory("VmRSS")
	if err != nil {
		fail(err)
	}
	if verb == "list" {
		_, err = source.List(context.Background(), metav1.ListOptions{}, ignore{})
	} else {
		var stream sources.Stream
		if stream, err = source.Watch(context.Background(), metav1.ListOptions{}); err == nil {
			_, err = stream.Next(context.Background())
		}
	}
	most, failure := memory("VmHWM")
	if failure != nil {
		fail(failure)
	}
	reading := source.(interface{ Reading() listwatch.Reading }).Reading()
	fmt.Printf("%d %s %s\n", most-before, strconv.Quote(reading.NotStreamed), strconv.Quote(fmt.Sprint(err)))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func newSource(kind string, config *rest.Config, maxObject int) (sources.Source, error) {
	decoding := sources.Decoding{MaxObject: maxObject}
	if kind == "unstructured" {
		config.Wrap(listwatch.Wrap)
		resources, err := dynamic.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		c := resources.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"})
		return clientsource.FromClient(reflect.TypeFor[*unstructured.Unstructured](),
			func() sources.Client[*unstructured.UnstructuredList] { return c },
			clientsource.Options{Streamed: true, Decoding: decoding}), nil
	}
	group := client.Group{Version: corev1.SchemeGroupVersion, APIPath: "/api", Scheme: scheme.Scheme,
		Codecs: scheme.Codecs}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	c, err := group.RESTClient(config, httpClient)
	if err != nil {
		return nil, err
	}
	configMaps := client.NewWithList[*corev1.ConfigMap, *corev1.ConfigMapList](c, scheme.ParameterCodec,
		"configmaps", "")
	return clientsource.FromClient(reflect.TypeFor[*corev1.ConfigMap](),
		func() sources.Client[*corev1.ConfigMapList] { return configMaps },
		clientsource.Options{Decoding: decoding}), nil
}

// memory returns a value of the process in KB.
func memory(name string) (int, error) {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+":"); ok {
			return strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
		}
	}
	return 0, fmt.Errorf("no %s in %s", name, f.Name())
}
