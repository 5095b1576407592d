package clientsource_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// TestCredentialsAreHidden checks that errors don't contain the credentials that a server repeats, and are
// otherwise unchanged.
func TestCredentialsAreHidden(t *testing.T) {
	const token = "a-very-secret-token"
	withToken := func(c *rest.Config) { c.BearerToken = token }
	withPassword := func(c *rest.Config) { c.BearerToken, c.Username, c.Password = "", "me", token }
	for name, adjust := range map[string]func(*rest.Config){"token": withToken, "password": withPassword} {
		c := configMapClient(t, func(w http.ResponseWriter, r *http.Request) {
			credentials := r.Header.Get("Authorization")
			if _, password, ok := r.BasicAuth(); ok {
				credentials += " is " + password
			}
			body := fmt.Sprintf(
				`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":`+
					`"no %s here","details":{"name":"a","causes":[{"message":"%s"}]}}`, credentials, credentials)
			reply{status: http.StatusForbidden, body: body}.serve(w, r)
		}, adjust)
		for kind, source := range bothSources(c) {
			_, err := each(t.Context(), source, metav1.ListOptions{}, func(any) error { return nil })
			_, watchErr := source.Watch(t.Context(), metav1.ListOptions{})
			for _, err := range []error{err, watchErr} {
				status, ok := errors.AsType[*apierrors.StatusError](err)
				if !ok || !apierrors.IsForbidden(err) || status.ErrStatus.Details.Name != "a" ||
					!strings.HasPrefix(err.Error(), "no ") || !strings.HasSuffix(err.Error(), " here") {
					t.Errorf("%s, %s: %v", name, kind, err)
				}
				text := fmt.Sprintf("%v %+v", err, status.ErrStatus)
				if strings.Contains(text, token) || !strings.Contains(text, "[hidden]") {
					t.Errorf("%s, %s: %s", name, kind, text)
				}
			}
		}
	}
}

// TestFirstItemTooLargeForTheClient checks a list that can't be decoded, after so many bytes that it can't be
// left to the client any more: the client reads the next list.
func TestFirstItemTooLargeForTheClient(t *testing.T) {
	large := strings.Repeat("x", 5<<20)
	list := `{"a":"` + large + `","kind":"OtherList","apiVersion":"v1","items":[]}`
	c := configMapClient(t, reply{body: list}.serve)
	source := bothSources(c)["streamed"]
	if _, err := each(t.Context(), source, metav1.ListOptions{}, nil); err == nil ||
		!strings.Contains(err.Error(), "the client decodes from now on") {
		t.Error(err)
	}
	if _, err := each(t.Context(), source, metav1.ListOptions{}, nil); err == nil ||
		!strings.Contains(err.Error(), `no kind "OtherList" is registered`) {
		t.Error(err)
	}
	watched := configMapClient(t, reply{body: event("ADDED", `{"a":"`+large+`","kind":"Other"}`)}.serve)
	source = bothSources(watched)["streamed"]
	if w := readWatch(t, source); !strings.Contains(fmt.Sprint(w.end), "the client decodes from now on") {
		t.Error(w.end)
	}
	readWatch(t, source)
	if r := readingOf(source); r.Whole != 1 {
		t.Errorf("%+v", r)
	}
}
