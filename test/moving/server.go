package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// serve serves two pods and two config maps over HTTP and writes a kubeconfig for the server. It supports
// list, watch and get, the only verbs that the programs use.
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
	mux := http.NewServeMux()
	for resource, handler := range map[string]http.Handler{
		"pods":       resource[*corev1.Pod, *corev1.PodList]{pods},
		"configmaps": resource[*corev1.ConfigMap, *corev1.ConfigMapList]{maps},
	} {
		mux.Handle("/api/v1/"+resource, handler)
		mux.Handle("/api/v1/namespaces/default/"+resource, handler)
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

var codec = scheme.Codecs.LegacyCodec(corev1.SchemeGroupVersion)

func (h resource[T, L]) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
		raw, err := runtime.Encode(codec, event.Object)
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
	raw, err := runtime.Encode(codec, obj)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(raw) // an error means that the client has gone
}
