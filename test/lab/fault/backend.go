package fault

import (
	"net/http"

	"k8s.io/client-go/rest"
)

// Handler returns a backend that calls h for each request, in a goroutine that ends when h returns. h gets a
// context that ends when the response's body is closed. What h writes waits until it is read.
func Handler(h http.Handler) http.RoundTripper

// Backend returns a backend that sends requests to the API server of config, with the credentials of config
// and without those of the request.
func Backend(config *rest.Config) (http.RoundTripper, error)
