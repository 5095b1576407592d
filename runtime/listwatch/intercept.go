package listwatch

import (
	"io"
	"mime"
	"net/http"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/features"
	"k8s.io/client-go/rest"
)

// replacement returns what replaces the body of a successful response, nil to keep it.
type replacement func(mediaType string, body io.ReadCloser) io.ReadCloser

// intercept returns a client that does everything as the given one does, but replaces
// the body of each successful response. So we read a response as a stream, and all that
// client-go does about requests and responses still happens: authentication, limits,
// retries, timeouts, warnings, errors.
//
// It is a copy with another HTTP client. A RESTClient is made of unexported
// fields, which reflection can copy as a whole; vet's reason against such a
// copy is a flag that is only written where CBOR is allowed, and there nothing
// is intercepted.
func intercept(client *rest.RESTClient, replace replacement) *rest.RESTClient {
	clone := new(rest.RESTClient)
	reflect.ValueOf(clone).Elem().Set(reflect.ValueOf(client).Elem())
	httpClient := *http.DefaultClient
	if client.Client != nil {
		httpClient = *client.Client
	}
	next := httpClient.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	httpClient.Transport = &interceptor{next: next, replace: replace}
	clone.Client = &httpClient
	return clone
}

type interceptor struct {
	next    http.RoundTripper
	replace replacement
}

func (i *interceptor) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := i.next.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK || resp.Body == nil {
		return resp, err
	}
	if mediaType, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil {
		if body := i.replace(mediaType, resp.Body); body != nil {
			resp.Body = body
		}
	}
	return resp, nil
}

// decodesAsIs reports whether client returns objects as the server sends them, with
// neither conversions nor defaults, as generated clients do. Only the type of its
// serializer tells, in one of the client's unexported fields; a client where it isn't
// found isn't streamed.
func decodesAsIs(client *rest.RESTClient) bool {
	if client == nil || features.FeatureGates().Enabled(features.ClientsAllowCBOR) {
		return false
	}
	content := reflect.ValueOf(client).Elem().FieldByName("content")
	return content.IsValid() && holds(content, reflect.TypeFor[serializer.WithoutConversionCodecFactory](), 6)
}

// holds reports whether there is a value of type want in v, or in what v refers to, at
// most so many steps away.
func holds(v reflect.Value, want reflect.Type, steps int) bool {
	if v.Type() == want {
		return true
	}
	if steps == 0 {
		return false
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && holds(v.Elem(), want, steps-1)
	case reflect.Struct:
		for i := range v.NumField() {
			if holds(v.Field(i), want, steps-1) {
				return true
			}
		}
	}
	return false
}
