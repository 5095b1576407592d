// Package serve serves the lists and watches of a server in memory over HTTP, as an API server does.
package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	restwatch "k8s.io/client-go/rest/watch"
)

// Resource is a resource to serve.
type Resource struct {
	Version schema.GroupVersion
	// Scheme has the types. Codecs are those of Scheme.
	Scheme *runtime.Scheme
	Codecs serializer.CodecFactory
	List   func(context.Context, metav1.ListOptions) (runtime.Object, error)
	Watch  func(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// Request serves a list or a watch of a namespace, or of all namespaces if that is empty. It answers in JSON,
// or in protobuf if the client accepts it. A watch ends with the request's context, or with its timeout.
func (s Resource) Request(w http.ResponseWriter, r *http.Request, namespace string) {
	var opts metav1.ListOptions
	parameters := runtime.NewParameterCodec(s.Scheme)
	if err := parameters.DecodeParameters(r.URL.Query(), s.Version, &opts); err != nil {
		refuse(w, &apierrors.NewBadRequest(err.Error()).ErrStatus)
		return
	}
	if namespace != "" {
		selectors := []string{"metadata.namespace=" + namespace}
		if opts.FieldSelector != "" {
			selectors = append(selectors, opts.FieldSelector)
		}
		opts.FieldSelector = strings.Join(selectors, ",")
	}
	answer := s.list
	if opts.Watch {
		answer = s.watch
	}
	var status apierrors.APIStatus
	if errors.As(answer(w, r, opts), &status) {
		s := status.Status()
		refuse(w, &s)
	}
}

// NotFound answers that nothing is served at the request's path.
func NotFound(w http.ResponseWriter, r *http.Request) {
	refuse(w, &apierrors.NewNotFound(schema.GroupResource{}, r.URL.Path).ErrStatus)
}

func (s Resource) list(w http.ResponseWriter, r *http.Request, opts metav1.ListOptions) error {
	list, err := s.List(r.Context(), opts)
	if err != nil {
		return err
	}
	wire := s.wireOf(r)
	w.Header().Set("Content-Type", wire.MediaType)
	// If this fails, the client sees an incomplete response.
	_ = s.encoder(wire.Serializer).Encode(list, w)
	return nil
}

func (s Resource) watch(w http.ResponseWriter, r *http.Request, opts metav1.ListOptions) error {
	stream, err := s.Watch(r.Context(), opts)
	if err != nil {
		return err
	}
	defer stream.Stop()
	wire := s.wireOf(r)
	media := wire.MediaType
	if !wire.EncodesAsText {
		media += ";stream=watch"
	}
	w.Header().Set("Content-Type", media)
	w.WriteHeader(http.StatusOK)
	flush := func() {}
	if flusher, ok := w.(http.Flusher); ok {
		flush = flusher.Flush
	}
	flush()
	encoder := restwatch.NewEncoder(
		streaming.NewEncoder(wire.StreamSerializer.NewFrameWriter(w),
			s.encoder(wire.StreamSerializer.Serializer)),
		s.encoder(wire.Serializer))
	for event := range stream.ResultChan() {
		if err := encoder.Encode(&event); err != nil {
			return nil // The client is gone.
		}
		flush()
	}
	return nil
}

func (s Resource) encoder(e runtime.Encoder) runtime.Encoder {
	return s.Codecs.WithoutConversion().EncoderForVersion(e, s.Version)
}

// wireOf returns the encoding of the response to a request.
func (s Resource) wireOf(r *http.Request) runtime.SerializerInfo {
	media := runtime.ContentTypeJSON
	if strings.Contains(r.Header.Get("Accept"), runtime.ContentTypeProtobuf) {
		media = runtime.ContentTypeProtobuf
	}
	info, _ := runtime.SerializerInfoForMediaType(s.Codecs.SupportedMediaTypes(), media)
	return info
}

// refuse writes an error.
func refuse(w http.ResponseWriter, status *metav1.Status) {
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(d.RetryAfterSeconds))
	}
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status)
}
