package eyes

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubewright/kubewright/eyes"
)

// reviews is an API server that knows one token, whose user may read everything below /debug.
type reviews struct{}

func (reviews) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var answer any
	switch {
	case strings.HasSuffix(r.URL.Path, "/tokenreviews"):
		review := authenticationv1.TokenReview{}
		err = json.Unmarshal(body, &review)
		review.Status.Authenticated = review.Spec.Token == "sesame"
		review.Status.User.Username = "anna"
		answer = review
	default:
		review := authorizationv1.SubjectAccessReview{}
		err = json.Unmarshal(body, &review)
		attributes := review.Spec.NonResourceAttributes
		review.Status.Allowed = attributes != nil && strings.HasPrefix(attributes.Path, "/debug/")
		answer = review
	}
	text, _ := json.Marshal(answer)
	return &http.Response{StatusCode: http.StatusCreated, Body: io.NopCloser(bytes.NewReader(text)),
		Header: http.Header{"Content-Type": {"application/json"}}, Request: r}, err
}

// TestSecured serves the page by a manager's metrics server, behind controller-runtime's authentication.
func TestSecured(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	mgr, err := manager.New(&rest.Config{Host: "http://api", Transport: reviews{}}, manager.Options{
		Logger: logr.Discard(),
		Metrics: metricsserver.Options{BindAddress: address, SecureServing: true,
			FilterProvider: filters.WithAuthenticationAndAuthorization},
	})
	if err != nil {
		t.Fatal(err)
	}
	e := eyes.New(eyes.Options{})
	e.AddCaches("manager", &statuses{})
	if err := mgr.AddMetricsServerExtraHandler("/debug/eyes", e); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	get := func(path, token string) (code int, body string, err error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+path, nil)
		if err != nil {
			return 0, "", err
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := client.Do(r)
		if err != nil {
			return 0, "", err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		return response.StatusCode, string(text), err
	}
	// The server doesn't say when it listens.
	if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) { _, _, err := get("/debug/eyes", ""); return err == nil, nil },
	); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path, token string
		code        int
		body        string
	}{
		{"/debug/eyes", "", http.StatusUnauthorized, ""},
		{"/debug/eyes", "wrong", http.StatusInternalServerError, ""}, // so controller-runtime answers
		{"/debug/eyes", "sesame", http.StatusOK, "no findings"},
		{"/debug/eyes?format=json", "sesame", http.StatusOK, `"schema":1`},
		{"/debug/eyes?format=html", "sesame", http.StatusOK, "<title>"},
		{"/metrics", "sesame", http.StatusForbidden, ""},
	} {
		code, body, err := get(test.path, test.token)
		if err != nil || code != test.code || !strings.Contains(body, test.body) {
			t.Errorf("%s with the token %q: %d, %v\n%.300s", test.path, test.token, code, err, body)
		}
	}
}
