package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// serve serves two pods, two config maps, two Foos and Deployments over HTTP and writes a kubeconfig for the
// server. It supports the verbs that the programs use: list, watch, create, and update, also of the status.
func serve(kubeconfig string) (stop func(), err error) {
	pods := runtimetest.NewServer[corev1.Pod, corev1.PodList]()
	for name, node := range map[string]string{"one": "a", "two": "b"} {
		pods.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Spec: corev1.PodSpec{NodeName: node}})
	}
	maps := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
	maps.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "first"},
		Data: map[string]string{"k": "v"}})
	maps.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "second"},
		Data: map[string]string{"k": "v", "l": "w"}})
	foos := runtimetest.NewServer[unstructured.Unstructured, unstructured.UnstructuredList]()
	for n, name := range []string{"one", "two"} {
		foos.Create(&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "samplecontroller.example.com/v1alpha1", "kind": "Foo",
			"metadata": map[string]any{"namespace": "default", "name": name, "uid": "uid-of-" + name},
			"spec":     map[string]any{"deploymentName": name + "-web", "replicas": int64(n + 1)},
		}})
	}
	deployments := runtimetest.NewServer[appsv1.Deployment, appsv1.DeploymentList]()
	events := runtimetest.NewServer[corev1.Event, corev1.EventList]()
	mux := http.NewServeMux()
	for path, handler := range map[string]http.Handler{
		"/api/v1/NSpods":              resource[*corev1.Pod, *corev1.PodList]{pods},
		"/api/v1/NSconfigmaps":        resource[*corev1.ConfigMap, *corev1.ConfigMapList]{maps},
		"/api/v1/NSevents":            resource[*corev1.Event, *corev1.EventList]{events},
		"/apis/apps/v1/NSdeployments": resource[*appsv1.Deployment, *appsv1.DeploymentList]{deployments},
		"/apis/samplecontroller.example.com/v1alpha1/NSfoos": resource[*unstructured.Unstructured,
			*unstructured.UnstructuredList]{foos},
	} {
		mux.Handle(strings.Replace(path, "NS", "", 1), handler)
		mux.Handle(strings.Replace(path, "NS", "namespaces/default/", 1), handler)
		mux.Handle(strings.Replace(path, "NS", "namespaces/default/", 1)+"/{name}/status", handler)
	}
	server := httptest.NewServer(mux)
	config := strings.ReplaceAll(`{apiVersion: v1, kind: Config, current-context: it,
clusters: [{name: it, cluster: {server: "URL"}}],
contexts: [{name: it, context: {cluster: it, user: it}}],
users: [{name: it, user: {}}]}`, "URL", server.URL)
	stop = func() {
		server.CloseClientConnections()
		server.Close()
	}
	return stop, os.WriteFile(kubeconfig, []byte(config), 0o600)
}

// resource serves the objects of one resource.
type resource[T runtimetest.Object, L runtime.Object] struct {
	server *runtimetest.Server[T, L]
}

// codec writes API types and statuses as JSON.
var codec = scheme.Codecs.LegacyCodec(corev1.SchemeGroupVersion, appsv1.SchemeGroupVersion)

// encode writes an object as JSON.
func encode(obj runtime.Object) ([]byte, error) {
	if _, ok := obj.(runtime.Unstructured); ok {
		return runtime.Encode(unstructured.UnstructuredJSONScheme, obj)
	}
	return runtime.Encode(codec, obj)
}

func (h resource[T, L]) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		h.store(w, r)
		return
	}
	var opts metav1.ListOptions
	if err := scheme.ParameterCodec.DecodeParameters(
		r.URL.Query(), schema.GroupVersion{Version: "v1"}, &opts,
	); err != nil {
		answer(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	if opts.Watch {
		h.watch(w, r, opts)
		return
	}
	list, err := h.server.List(r.Context(), opts)
	if err != nil {
		answer(w, err)
		return
	}
	write(w, http.StatusOK, list)
}

// store creates or updates the object in the body.
func (h resource[T, L]) store(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		answer(w, err)
		return
	}
	decoder := runtime.Decoder(scheme.Codecs.UniversalDeserializer())
	if _, ok := any(*new(T)).(runtime.Unstructured); ok {
		decoder = unstructured.UnstructuredJSONScheme
	}
	obj, err := runtime.Decode(decoder, body)
	if err != nil {
		answer(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	code := http.StatusOK
	if r.Method == http.MethodPost {
		h.server.Create(obj.(T))
		code = http.StatusCreated
	} else {
		h.server.Update(obj.(T))
	}
	write(w, code, obj)
}

func (h resource[T, L]) watch(w http.ResponseWriter, r *http.Request, opts metav1.ListOptions) {
	stream, err := h.server.Watch(r.Context(), opts)
	if err != nil {
		answer(w, err)
		return
	}
	defer stream.Stop()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w).Flush
	_ = flush()
	for event := range stream.ResultChan() {
		raw, err := encode(event.Object)
		if err != nil {
			return
		}
		if json.NewEncoder(w).Encode(metav1.WatchEvent{Type: string(event.Type),
			Object: runtime.RawExtension{Raw: raw}}) != nil {
			return
		}
		if flush() != nil {
			return
		}
	}
}

// answer writes an error in the form that API servers use.
func answer(w http.ResponseWriter, err error) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		status = apierrors.NewInternalError(err)
	}
	s := status.Status()
	write(w, int(s.Code), &s)
}

func write(w http.ResponseWriter, code int, obj runtime.Object) {
	raw, err := encode(obj)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(raw) // an error means that the client has gone
}
