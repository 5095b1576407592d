package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/client-go/kubernetes/scheme"
	restwatch "k8s.io/client-go/rest/watch"
)

// ServeHTTP serves lists and watches, in JSON, or in protobuf if the client accepts it. A watch ends with the
// request's context, or with its timeout.
func (c *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k, namespace := c.find(r.URL.Path)
	if k == nil || r.Method != http.MethodGet {
		refuse(w, &apierrors.NewNotFound(schema.GroupResource{}, r.URL.Path).ErrStatus)
		return
	}
	var opts metav1.ListOptions
	err := scheme.ParameterCodec.DecodeParameters(r.URL.Query(), k.GroupVersion(), &opts)
	if err != nil {
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
	if opts.Watch {
		err = k.watch(w, r, opts)
	} else {
		err = k.list(w, r, opts)
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		s := status.Status()
		refuse(w, &s)
	}
}

// find returns what a path is about, nil if that is nothing of the cluster's.
func (c *Cluster) find(path string) (k *Kind, namespace string) {
	for _, k := range c.kinds {
		root := fmt.Sprintf("/apis/%s/%s/", k.Group, k.Version)
		if k.Group == "" {
			root = fmt.Sprintf("/api/%s/", k.Version)
		}
		rest, ours := strings.CutPrefix(path, root)
		if !ours {
			continue
		}
		if rest == k.Resource {
			return k, ""
		}
		if in, is := strings.CutPrefix(rest, "namespaces/"); is {
			if namespace, resource, _ := strings.Cut(in, "/"); resource == k.Resource {
				return k, namespace
			}
		}
	}
	return nil, ""
}

func (k *Kind) list(w http.ResponseWriter, r *http.Request, opts metav1.ListOptions) error {
	list, err := k.server.list(r.Context(), opts)
	if err != nil {
		return err
	}
	wire := wireOf(r)
	w.Header().Set("Content-Type", wire.MediaType)
	// What can't be written, the client will miss.
	_ = k.encoder(wire.Serializer).Encode(list, w)
	return nil
}

func (k *Kind) watch(w http.ResponseWriter, r *http.Request, opts metav1.ListOptions) error {
	stream, err := k.server.Watch(r.Context(), opts)
	if err != nil {
		return err
	}
	defer stream.Stop()
	wire := wireOf(r)
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
			k.encoder(wire.StreamSerializer.Serializer)),
		k.encoder(wire.Serializer))
	for event := range stream.ResultChan() {
		if err := encoder.Encode(&event); err != nil {
			return nil // The client is gone.
		}
		flush()
	}
	return nil
}

func (k *Kind) encoder(s runtime.Encoder) runtime.Encoder {
	return scheme.Codecs.WithoutConversion().EncoderForVersion(s, k.GroupVersion())
}

// wireOf returns the encoding of the response to a request.
func wireOf(r *http.Request) runtime.SerializerInfo {
	media := runtime.ContentTypeJSON
	if strings.Contains(r.Header.Get("Accept"), runtime.ContentTypeProtobuf) {
		media = runtime.ContentTypeProtobuf
	}
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), media)
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
