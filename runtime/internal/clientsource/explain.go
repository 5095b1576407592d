package clientsource

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
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubewright/kubewright/runtime/internal/decode"
	"github.com/kubewright/kubewright/runtime/internal/transport"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// The errors of clients may quote values, which may be those of a Secret. So what is printed comes from our
// decoder, or from parts of the client's error that are known to be no values.

// explain returns an error of a list or watch function as a DecodingError, if it is about the content of the
// response: a is nil if no transport saw one. broken, if not nil, returns what our decoder can't decode in
// it. Other errors are returned unchanged.
func explain(a *transport.Answer, err error, broken func(*transport.Answer) error) error {
	if !isAboutContent(err) || isPlainNotFound(a) {
		return err
	}
	e := describe(a, err)
	if e.Found != "" {
		if e.Status != http.StatusOK {
			e.Reason = err.Error()
		}
		return hiding(e, a.Credentials())
	}
	if broken != nil && a != nil {
		if found := broken(a); found != nil {
			return hiding(locate(e, found), a.Credentials())
		}
	}
	if quote(e, err) {
		return hiding(e, a.Credentials())
	}
	return err
}

// brokenError returns an error of our decoder as a DecodingError. Other errors are those of the receiver.
func brokenError(a *transport.Answer, err error) error {
	if _, ok := errors.AsType[*decode.Error](err); !ok {
		return err
	}
	return hiding(locate(describe(a, err), err), a.Credentials())
}

// isAboutContent reports whether an error may be about the content of a response: it comes neither from an
// API server, nor from the network, nor from the caller.
func isAboutContent(err error) bool {
	var status apierrors.APIStatus
	var network net.Error
	switch {
	case errors.As(err, &status):
		// client-go adds this cause if an error isn't a Status: most are sent by a proxy.
		return apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, errNoReturn):
		return false
	}
	return !errors.As(err, &network)
}

// isPlainNotFound reports whether a response is what API servers send, in place of a Status, for a resource
// that they don't serve: the text of [http.NotFound]. The client's error names the resource then.
func isPlainNotFound(a *transport.Answer) bool {
	if a == nil || a.Status != http.StatusNotFound {
		return false
	}
	mediaType, _, _ := mime.ParseMediaType(a.ContentType)
	body := a.Body()
	return mediaType == "text/plain" && body.First == '4' && body.Length == int64(len("404 page not found\n"))
}

// describe returns an error that says what the response is.
func describe(a *transport.Answer, err error) *listwatch.DecodingError {
	e := &listwatch.DecodingError{Err: err}
	if a == nil {
		return e
	}
	body := a.Body()
	e.Status, e.ContentType, e.Length = a.Status, a.ContentType, body.Length
	mediaType, _, _ := mime.ParseMediaType(a.ContentType)
	// In protobuf, lists have a prefix, and events their length.
	protobuf := mediaType == runtime.ContentTypeProtobuf && (body.First == 'k' || body.First == 0)
	switch {
	case !body.HasFirst && body.Ended:
		e.Found = "an empty body"
	case !body.HasFirst:
	case body.First == '{' && a.Status != http.StatusOK:
		e.Found = "an object that is no Status"
	case body.First == '{', protobuf, mediaType == runtime.ContentTypeYAML:
	case body.First == '[':
		e.Found = "an array"
	case body.First == '"':
		e.Found = "a string"
	case ' ' <= body.First && body.First < 0x7f:
		e.Found = fmt.Sprintf("a text that begins with %q", rune(body.First))
	default:
		e.Found = fmt.Sprintf(`data that begins with '\x%02x'`, body.First)
	}
	return e
}

// locate sets the place of an error of our decoder, whose text has no values.
func locate(e *listwatch.DecodingError, err error) *listwatch.DecodingError {
	if broken, ok := errors.AsType[*decode.Error](err); ok {
		e.Namespace, e.Name, e.Field = broken.Namespace, broken.Name, broken.Path
		e.Place = fmt.Sprintf("after %d objects, at byte %d", broken.Item, broken.Offset)
		err = broken.Err
	}
	if mismatch, ok := errors.AsType[*decode.TypeError](err); ok {
		e.Value, e.Type = mismatch.Found, mismatch.Type.String()
		e.Reason = detailOf(mismatch)
		return e
	}
	e.Reason = err.Error()
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
func quote(e *listwatch.DecodingError, err error) bool {
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
			e.Reason = "an object without a kind"
			return true
		case runtime.IsMissingVersion(err):
			e.Reason = "an object without an apiVersion"
			return true
		case noSyntax, noDecoder, runtime.IsNotRegisteredError(err), hasKnownText(err.Error()):
			e.Reason = transport.Cut(err.Error())
			return true
		}
	}
	return false
}

// hasKnownText reports whether an error is one of client-go's that have no type and quote no values.
func hasKnownText(text string) bool {
	return slices.ContainsFunc([]string{
		"unexpected error when reading response body", "stream error when reading response body",
		"0-length response", "serializer for ", "proto: ",
	}, func(known string) bool { return strings.HasPrefix(text, known) })
}

// hiding removes credentials from what the response says.
func hiding(e *listwatch.DecodingError, used transport.Credentials) *listwatch.DecodingError {
	for _, text := range []*string{&e.Namespace, &e.Name, &e.Field, &e.Reason} {
		*text = used.Hide(*text)
	}
	e.Err = used.HideInError(e.Err)
	return e
}

// brokenIn returns what can't be decoded in a list that the client has read as a whole, as far as its text
// was kept.
func (s *source) brokenIn(a *transport.Answer) error {
	text := a.TakeText()
	if len(text) == 0 {
		return nil
	}
	decoder := decode.New(s.expected.goType, decode.Options{})
	visitor := decode.ListVisitor{Item: func(any) error { return nil }}
	var err error
	switch mediaType, _, _ := mime.ParseMediaType(a.ContentType); {
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
func errorOf(a *transport.Answer, obj runtime.Object, broken func() error) error {
	err := apierrors.FromObject(obj)
	if _, ok := obj.(*metav1.Status); !ok {
		e := describe(a, err) // The error's text has the whole object.
		e.Found = fmt.Sprintf("an object of type %T in place of a Status", obj)
		return e
	}
	if !apierrors.HasStatusCause(err, watchDecoding) {
		return err
	}
	if broken != nil {
		if found := broken(); found != nil {
			return undecodable(a, found)
		}
	}
	return undecodable(a, clientError(err.Error()))
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
func undecodable(a *transport.Answer, err error) error {
	e := locate(describe(a, err), err)
	e.Action = "unable to decode an event from the watch stream"
	text := a.Credentials().Hide(fmt.Sprintf("%s: %v", e.Action, err))
	reporter := apierrors.NewClientErrorReporter(http.StatusInternalServerError, http.MethodGet, watchDecoding)
	e.Err = apierrors.FromObject(reporter.AsObject(errors.New(text)))
	return hiding(e, a.Credentials())
}
