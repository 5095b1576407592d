package configmaps

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// encoder writes objects as the client of a request wants them.
type encoder struct{ metadata bool }

// answer returns the response that has an object, or an error's status.
func (e encoder) answer(object runtime.Object, err error) (*http.Response, error) {
	if err == nil {
		return response(http.StatusOK, io.NopCloser(bytes.NewReader(e.encode(object)))), nil
	}
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		return nil, err
	}
	failure := status.Status()
	return response(int(failure.Code), io.NopCloser(bytes.NewReader(e.encode(&failure)))), nil
}

func response(code int, body io.ReadCloser) *http.Response {
	header := http.Header{"Content-Type": {runtime.ContentTypeJSON}}
	return &http.Response{StatusCode: code, Status: http.StatusText(code), Header: header, Body: body}
}

// encode returns an object in JSON, with its kind.
func (e encoder) encode(object runtime.Object) []byte {
	if e.metadata {
		object = asMetadata(object)
	}
	object = object.DeepCopyObject()
	if object.GetObjectKind().GroupVersionKind().Empty() {
		kinds, _, err := scheme.Scheme.ObjectKinds(object)
		if err != nil {
			panic(err)
		}
		object.GetObjectKind().SetGroupVersionKind(kinds[0])
	}
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return text
}

// asMetadata returns the metadata of a config map, or of those in a list, and other objects as they are.
func asMetadata(object runtime.Object) runtime.Object {
	switch object := object.(type) {
	case *corev1.ConfigMap:
		return &metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
			ObjectMeta: object.ObjectMeta,
		}
	case *corev1.ConfigMapList:
		list := &metav1.PartialObjectMetadataList{
			TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"},
			ListMeta: object.ListMeta,
		}
		for i := range object.Items {
			list.Items = append(list.Items, *asMetadata(&object.Items[i]).(*metav1.PartialObjectMetadata))
		}
		return list
	}
	return object
}
