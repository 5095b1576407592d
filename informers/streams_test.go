package informers_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/examples/generated/informers/externalversions/internalinterfaces"
	shopv1 "github.com/kubewright/kubewright/examples/generated/informers/externalversions/shop/v1"
	"github.com/kubewright/kubewright/informers"
	"github.com/kubewright/kubewright/informers/dynamicinformer"
	"github.com/kubewright/kubewright/informers/metadatainformer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// TestStreams checks that informers over client-go's own clients read lists and watches as streams. A
// clientset needs nothing for that, dynamic and metadata clients need the transport of listwatch.Wrap, also
// with generated constructors, which declare nothing about their client.
func TestStreams(t *testing.T) {
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	for name, newInformer := range map[string]func(*rest.Config) cache.SharedIndexInformer{
		"clientset": func(config *rest.Config) cache.SharedIndexInformer {
			client := kubernetes.NewForConfigOrDie(config)
			return informers.NewSharedInformerFactory(client, 0).Core().V1().Pods().Informer()
		},
		"clientset in protobuf": func(config *rest.Config) cache.SharedIndexInformer {
			config.ContentType = runtime.ContentTypeProtobuf
			client := kubernetes.NewForConfigOrDie(config)
			return informers.NewSharedInformerFactory(client, 0).Core().V1().Pods().Informer()
		},
		"dynamic": func(config *rest.Config) cache.SharedIndexInformer {
			config.Wrap(listwatch.Wrap)
			f := dynamicinformer.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(config), 0)
			return f.ForResource(pods).Informer()
		},
		"metadata": func(config *rest.Config) cache.SharedIndexInformer {
			config.Wrap(listwatch.Wrap)
			f := metadatainformer.NewSharedInformerFactory(metadata.NewForConfigOrDie(config), 0)
			return f.ForResource(pods).Informer()
		},
		"generated metadata": func(config *rest.Config) cache.SharedIndexInformer {
			config.Wrap(listwatch.Wrap)
			return shopv1.NewBakeryInformerForMetadata(metadata.NewForConfigOrDie(config), "",
				internalinterfaces.InformerOptions{})
		},
		"generated metadata in a namespace": func(config *rest.Config) cache.SharedIndexInformer {
			config.Wrap(listwatch.Wrap)
			return shopv1.NewBakeryInformerForMetadata(metadata.NewForConfigOrDie(config), "ns",
				internalinterfaces.InformerOptions{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(servePods))
			defer server.Close()
			i := newInformer(&rest.Config{Host: server.URL, QPS: -1})
			changed := make(chan struct{})
			handler := cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { close(changed) }}
			if _, err := i.AddEventHandler(handler); err != nil {
				t.Fatal(err)
			}
			defer runUntil(t, i, changed)()
			s, _ := informer.StatusOf(i)
			if s.Reading.Streamed < 2 || s.Reading.Unseen != 0 || s.Reading.NotStreamed != "" || s.Objects != 2 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestStreamsOfOtherTypes has transforms that turn objects into config maps. A second list, which is streamed
// and has the same objects, leaves what is stored: the transform gets nothing that it has made.
func TestStreamsOfOtherTypes(t *testing.T) {
	var lists atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" {
			lists.Add(1)
		} else if r.URL.Query().Get("sendInitialEvents") == "" && lists.Load() < 3 {
			w.WriteHeader(http.StatusGone)
			return
		}
		servePods(w, r)
	}))
	defer server.Close()
	config := &rest.Config{Host: server.URL, QPS: -1}
	config.Wrap(listwatch.Wrap)
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	for name, i := range map[string]cache.SharedIndexInformer{
		"dynamic": dynamicinformer.NewDynamicSharedInformerFactory(
			dynamic.NewForConfigOrDie(config), 0).ForResource(pods).Informer(),
		"metadata": metadatainformer.NewSharedInformerFactory(
			metadata.NewForConfigOrDie(config), 0).ForResource(pods).Informer(),
	} {
		lists.Store(0)
		err := i.SetTransform(func(obj any) (any, error) {
			if _, again := obj.(*corev1.ConfigMap); again {
				t.Errorf("%s: the transform gets what it has made", name)
			}
			m := obj.(metav1.Object)
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.GetNamespace(), Name: m.GetName(),
				ResourceVersion: m.GetResourceVersion()}}, nil
		})
		changed := make(chan struct{})
		_, handlerErr := i.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, obj any) {
			if obj.(*corev1.ConfigMap).ResourceVersion == "4" { // Lists report updates, too.
				close(changed)
			}
		}})
		if err := errors.Join(err, handlerErr); err != nil {
			t.Fatal(err)
		}
		stop := runUntil(t, i, changed)
		for _, obj := range i.GetStore().List() {
			if _, ok := obj.(*corev1.ConfigMap); !ok {
				t.Errorf("%s: a %T is stored", name, obj)
			}
		}
		if s, _ := informer.StatusOf(i); s.Objects != 2 || s.Reading.Streamed < 4 || lists.Load() != 3 {
			t.Errorf("%s: %d lists, %+v", name, lists.Load(), s)
		}
		stop()
	}
}

// runUntil runs an informer, and returns once changed is closed. stop ends the informer.
func runUntil(t *testing.T, i cache.SharedIndexInformer, changed <-chan struct{}) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		i.RunWithContext(ctx)
	}()
	stop = func() { cancel(); <-ended }
	select {
	case <-changed:
	case <-time.After(20 * time.Second):
		stop()
		s, _ := informer.StatusOf(i)
		t.Fatalf("no update: %+v", s)
	}
	return stop
}

// servePods lists two pods, and changes one of them. It doesn't support WatchList.
func servePods(w http.ResponseWriter, r *http.Request) {
	pod := func(kind, version, name, resourceVersion string) string {
		return fmt.Sprintf(
			`{"kind":%q,"apiVersion":%q,"metadata":{"name":%q,"namespace":"ns","resourceVersion":%q}}`,
			kind, version, name, resourceVersion)
	}
	kind, version := "Pod", "v1"
	if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata") {
		kind, version = "PartialObjectMetadata", "meta.k8s.io/v1"
	}
	query := r.URL.Query()
	switch {
	case query.Get("sendInitialEvents") != "":
		w.WriteHeader(http.StatusUnprocessableEntity)
	case query.Get("watch") != "":
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		fmt.Fprintf(w, `{"type":"MODIFIED","object":%s}`, pod(kind, version, "a", "4"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case strings.HasPrefix(r.Header.Get("Accept"), runtime.ContentTypeProtobuf) && kind == "Pod":
		w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
		info, _ := runtime.SerializerInfoForMediaType(
			scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
		encoder := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
		list := &corev1.PodList{Items: make([]corev1.Pod, 2)}
		list.ResourceVersion = "3"
		for n, name := range []string{"a", "b"} {
			list.Items[n].Namespace, list.Items[n].Name = "ns", name
			list.Items[n].ResourceVersion = fmt.Sprint(n + 1)
		}
		if err := encoder.Encode(list, w); err != nil {
			panic(err)
		}
	default:
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		fmt.Fprintf(w, `{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"3"},"items":[%s,%s]}`,
			kind+"List", version, pod(kind, version, "a", "1"), pod(kind, version, "b", "2"))
	}
}
