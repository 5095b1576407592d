package apiserver

import (
	"mime"
	"net/http"

	extensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// refuseProtobuf answers 415 to writes of custom resources in protobuf. The handler of custom resources
// claims to read protobuf, then panics.
func refuseProtobuf(api http.Handler, isCustom func(schema.GroupResource) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, ok := request.RequestInfoFrom(r.Context())
		if !ok || !info.IsResourceRequest || info.Verb != "create" && info.Verb != "update" ||
			!isProtobuf(r) || !isCustom(schema.GroupResource{Group: info.APIGroup, Resource: info.Resource}) {
			api.ServeHTTP(w, r)
			return
		}
		responsewriters.ErrorNegotiated(
			negotiation.NewUnsupportedMediaTypeError([]string{runtime.ContentTypeJSON, runtime.ContentTypeYAML}),
			extensions.Codecs, schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}, w, r)
	})
}

func isProtobuf(r *http.Request) bool {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && mediaType == runtime.ContentTypeProtobuf
}
