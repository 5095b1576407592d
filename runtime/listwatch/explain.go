package listwatch

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"reflect"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubewright/kubewright/runtime/internal/decode"
)

// The errors of clients may quote values, which may be those of a Secret. So what is printed comes from our
// decoder, or from parts of the client's error that are known to be no values.

// explain returns an error of a list or watch function as a DecodingError, if it is about the content of the
// response: a is nil if no transport saw one. broken, if not nil, returns what our decoder can't decode in
// it. Other errors are returned unchanged.
func (a *answer) explain(err error, broken func(*answer) error) error {
	if !isAboutContent(err) {
		return err
	}
	e := a.describe(err)
	if e.Found != "" {
		if e.Status != http.StatusOK {
			e.reason = err.Error()
		}
		return e.hiding(a.used())
	}
	if broken != nil && a != nil {
		if found := broken(a); found != nil {
			return e.locate(found).hiding(a.used())
		}
	}
	if e.quote(err) {
		return e.hiding(a.used())
	}
	return err
}

// broken returns an error of our decoder as a DecodingError. Other errors are those of the receiver.
func (a *answer) broken(err error) error {
	if _, ok := errors.AsType[*decode.Error](err); !ok {
		return err
	}
	return a.describe(err).locate(err).hiding(a.used())
}

// isAboutContent reports whether an error may be about the content of a response: it comes neither from an
// API server, nor from the network, nor from the caller.
func isAboutContent(err error) bool {
	var status apierrors.APIStatus
	var network net.Error
	switch {
	case errors.As(err, &status):
		// client-go adds this cause if an error isn't a Status: a proxy sent it.
		return apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, errNoReturn):
		return false
	}
	return !errors.As(err, &network)
}

// describe returns an error that says what the response is.
func (a *answer) describe(err error) *DecodingError {
	e := &DecodingError{Err: err}
	if a == nil {
		return e
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	e.Status, e.ContentType, e.Length = a.status, a.contentType, a.length
	mediaType, _, _ := mime.ParseMediaType(a.contentType)
	// In protobuf, lists have a prefix, and events their length.
	protobuf := mediaType == runtime.ContentTypeProtobuf && (a.first == 'k' || a.first == 0)
	switch {
	case !a.hasFirst && a.ended:
		e.Found = "an empty body"
	case !a.hasFirst:
	case a.first == '{' && a.status != http.StatusOK:
		e.Found = "an object that is no Status"
	case a.first == '{', protobuf, mediaType == runtime.ContentTypeYAML:
	case a.first == '[':
		e.Found = "an array"
	case a.first == '"':
		e.Found = "a string"
	case a.first < 0x80:
		e.Found = fmt.Sprintf("begins with %q", rune(a.first))
	default:
		e.Found = fmt.Sprintf(`begins with '\x%02x'`, a.first)
	}
	return e
}

// locate sets the place of an error of our decoder, whose text has no values.
func (e *DecodingError) locate(err error) *DecodingError {
	if broken, ok := errors.AsType[*decode.Error](err); ok {
		e.Namespace, e.Name, e.Field = broken.Namespace, broken.Name, broken.Path
		e.place = fmt.Sprintf("after %d objects, at byte %d", broken.Item, broken.Offset)
		err = broken.Err
	}
	if mismatch, ok := errors.AsType[*decode.TypeError](err); ok {
		e.Value, e.Type = mismatch.Found, mismatch.Type.String()
		e.reason = detailOf(mismatch)
		return e
	}
	e.reason = err.Error()
	return e
}

// detailOf returns what is known about a value that a method of its type has refused.
func detailOf(e *decode.TypeError) string {
	if corrupt, ok := e.Err.(base64.CorruptInputError); ok {
		return corrupt.Error()
	}
	inner, ok := errors.AsType[*json.UnmarshalTypeError](e.Err)
	if !ok || inner.Type == nil || inner.Type == e.Type {
		return ""
	}
	return "its UnmarshalJSON takes " + inner.Type.String()
}

// quote sets what a client's error says without values. It returns false for an unknown error.
func (e *DecodingError) quote(err error) bool {
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		// After the kind of a number follows the number.
		e.Value, _, _ = strings.Cut(mismatch.Value, " ")
		e.Field = strings.TrimPrefix(mismatch.Field, "items.")
		if mismatch.Type != nil {
			e.Type = mismatch.Type.String()
		}
		return true
	}
	for ; err != nil; err = errors.Unwrap(err) {
		_, noSyntax := err.(*json.SyntaxError)
		_, noDecoder := err.(runtime.NegotiateError)
		switch {
		case runtime.IsMissingKind(err): // Its text has the whole object.
			e.reason = "an object without a kind"
			return true
		case runtime.IsMissingVersion(err):
			e.reason = "an object without an apiVersion"
			return true
		case noSyntax, noDecoder, runtime.IsNotRegisteredError(err), hasKnownText(err.Error()):
			e.reason = cut(err.Error())
			return true
		}
	}
	return false
}

// hasKnownText reports whether an error is one of client-go's that have no type and quote no values.
func hasKnownText(text string) bool {
	for _, known := range []string{
		"unexpected error when reading response body", "stream error when reading response body",
		"0-length response", "serializer for ", "proto: ",
	} {
		if strings.HasPrefix(text, known) {
			return true
		}
	}
	return false
}

// hiding removes credentials from what the response says.
func (e *DecodingError) hiding(used credentials) *DecodingError {
	for _, text := range []*string{&e.Namespace, &e.Name, &e.Field, &e.reason} {
		*text = used.hide(*text)
	}
	e.Err = used.hideInError(e.Err)
	return e
}

// brokenIn returns what can't be decoded in a list that the client has read as a whole, as far as its text
// was kept.
func (s *source) brokenIn(a *answer) error {
	text := a.takeText()
	if len(text) == 0 {
		return nil
	}
	decoder := decode.New(s.expected.goType, decode.Options{})
	visitor := decode.ListVisitor{Item: func(any) error { return nil }}
	var err error
	switch mediaType, _, _ := mime.ParseMediaType(a.contentType); {
	case mediaType == runtime.ContentTypeJSON:
		_, err = decoder.List(bytes.NewReader(text), visitor)
	case mediaType == runtime.ContentTypeProtobuf && decoder.HasProtobuf():
		_, err = decoder.ListProtobuf(bytes.NewReader(text), visitor)
	}
	return err
}

// brokenEvent returns what can't be decoded in the last event of type t in the text of a watch in JSON.
// Servers end events with line ends.
func brokenEvent(text []byte, t reflect.Type) (broken error) {
	decoder := decode.New(t, decode.Options{})
	for line := range bytes.Lines(text) {
		if _, err := decoder.Events(bytes.NewReader(line)).Next(); err != nil {
			broken = err
		}
	}
	if _, ok := errors.AsType[*decode.Error](broken); !ok {
		return nil // The rest of an event that has begun before, or an event that hasn't ended.
	}
	return broken
}

// watchDecoding is the cause that clients give for an event that they can't decode.
const watchDecoding = "ClientWatchDecoding"

// errorOf returns the error for the object of an Error event. broken returns what our decoder can't decode in
// the event before. It is nil if our decoder reads the watch.
func (a *answer) errorOf(obj runtime.Object, broken func() error) error {
	err := apierrors.FromObject(obj)
	if _, ok := obj.(*metav1.Status); !ok {
		e := a.describe(err) // The error's text has the whole object.
		e.Found = fmt.Sprintf("an object of type %T in place of a Status", obj)
		return e
	}
	if !apierrors.HasStatusCause(err, watchDecoding) {
		return err
	}
	if broken != nil {
		if found := broken(); found != nil {
			return a.undecodable(found)
		}
	}
	return a.undecodable(clientError(err.Error()))
}

// mismatchText is the text of a [json.UnmarshalTypeError].
var mismatchText = regexp.MustCompile(
	`json: cannot unmarshal (\w+).* into Go (?:struct field (\w*\.)?(\S+)|value) of type (\S+)$`)

// clientError returns the text of a client's error without values.
func clientError(text string) error {
	if m := mismatchText.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("field %s: cannot unmarshal %s into a Go value of type %s", m[3], m[1], m[4])
	}
	return errors.New("the client can't decode it")
}

// undecodable returns the error for an event that can't be decoded. err has no values. As in client-go, the
// result is a Status, too.
func (a *answer) undecodable(err error) error {
	e := a.describe(err).locate(err)
	e.what = "unable to decode an event from the watch stream"
	text := a.used().hide(fmt.Sprintf("%s: %v", e.what, err))
	reporter := apierrors.NewClientErrorReporter(http.StatusInternalServerError, http.MethodGet, watchDecoding)
	e.Err = apierrors.FromObject(reporter.AsObject(errors.New(text)))
	return e.hiding(a.used())
}
