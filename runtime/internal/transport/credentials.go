package transport

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Credentials are the secrets in a request's headers: a token, or a password and the encoded text that
// contains it. Servers and proxies may quote a request in its response, and responses get into errors and
// logs.
type Credentials []string

const (
	// hiddenCredentials replaces credentials.
	hiddenCredentials = "[hidden]"
	// shortestHidden is the length of the shortest text to hide. A shorter text protects nothing, and would be
	// found within words.
	shortestHidden = 6
)

// credentialsOf returns the credentials in the headers of a request.
func credentialsOf(req *http.Request) (found Credentials) {
	for _, value := range req.Header["Authorization"] {
		_, token, _ := strings.Cut(value, " ")
		found = append(found, strings.TrimSpace(token))
	}
	if _, password, ok := req.BasicAuth(); ok {
		found = append(found, password)
	}
	return slices.DeleteFunc(found, func(text string) bool { return len(text) < shortestHidden })
}

// Hide returns the text without credentials.
func (c Credentials) Hide(text string) string {
	for _, one := range c {
		text = strings.ReplaceAll(text, one, hiddenCredentials)
	}
	return text
}

// hideInHeader hides credentials in the headers of a response: clients log warnings and the targets of
// redirects.
func (c Credentials) hideInHeader(header http.Header) {
	if len(c) == 0 {
		return
	}
	for _, values := range header {
		for i := range values {
			values[i] = c.Hide(values[i])
		}
	}
}

// HideInError returns err without credentials in its text, and in the server's Status that it wraps.
func (c Credentials) HideInError(err error) error {
	if err == nil || len(c) == 0 {
		return err
	}
	text := err.Error()
	hidden := c.Hide(text)
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		copied := &apierrors.StatusError{ErrStatus: *status.ErrStatus.DeepCopy()}
		changed := c.hideIn(&copied.ErrStatus.Message)
		if details := copied.ErrStatus.Details; details != nil {
			changed = c.hideIn(&details.Name) || changed
			for i := range details.Causes {
				changed = c.hideIn(&details.Causes[i].Message) || changed
			}
		}
		switch {
		case changed && err == error(status):
			return copied
		case changed:
			return &withoutCredentials{hidden, copied}
		}
	}
	if hidden == text {
		return err
	}
	return &withoutCredentials{hidden, err}
}

// hideIn reports whether there was something to hide.
func (c Credentials) hideIn(text *string) bool {
	before := *text
	*text = c.Hide(before)
	return *text != before
}

// withoutCredentials is an error whose text has no credentials.
type withoutCredentials struct {
	text string
	err  error
}

func (e *withoutCredentials) Error() string { return e.text }
func (e *withoutCredentials) Unwrap() error { return e.err }
