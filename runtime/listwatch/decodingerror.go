package listwatch

import (
	"cmp"
	"fmt"
	"strings"
)

// DecodingError is the error for a response that isn't the expected list or watch: it has something else in
// its place, or an object that doesn't fit its Go type. The status and the SyncError of an informer wrap it.
// Neither its fields nor its text contain values of objects. Err may quote values.
type DecodingError struct {
	// Status, ContentType and Length describe the response. Length is the number of bytes of the body, after
	// decompression, as far as they were read.
	Status      int
	ContentType string
	Length      int64
	// Found is what the response contains in place of a list or of events, such as "a text that begins with
	// '<'", "an array" or "an empty body".
	Found string
	// Namespace and Name are those of the object that can't be decoded. Field is the path to the value in it,
	// such as spec.containers[1].name, Value the kind of the value in JSON, such as "string", and Type the Go
	// type that can't hold it. What isn't known is empty.
	Namespace, Name string
	Field           string
	Value, Type     string
	// Err is the cause.
	Err error

	// Action is what failed, "" for the decoding of a list.
	Action string
	// Reason is a text for Err that quotes no value, where Found, Value and Type say too little.
	Reason string
	// Place is where the error is in the body, such as "after 3 objects, at byte 1207".
	Place string
}

// Error describes the response, where it is wrong, and what is wrong.
func (e *DecodingError) Error() string {
	text := []string{cmp.Or(e.Action, "can't decode the list")}
	if e.Found != "" {
		text = []string{"unexpected response: " + e.Found}
	}
	if e.Name != "" {
		text = append(text, "object "+strings.TrimPrefix(e.Namespace+"/"+e.Name, "/"))
	}
	if e.Field != "" {
		text = append(text, "field "+e.Field)
	}
	if e.Type != "" {
		text = append(text, fmt.Sprintf("cannot unmarshal %s into a Go value of type %s", e.Value, e.Type))
	}
	if e.Reason != "" {
		text = append(text, e.Reason)
	}
	return strings.Join(text, ": ") + " (" + e.response() + ")"
}

// response describes the response.
func (e *DecodingError) response() string {
	text := "no transport of listwatch.Wrap saw the response"
	if e.Status != 0 {
		contentType := "no content type"
		if e.ContentType != "" {
			contentType = "content type " + e.ContentType
		}
		text = fmt.Sprintf("status %d, %s, %d bytes", e.Status, contentType, e.Length)
	}
	if e.Place != "" {
		text += "; " + e.Place
	}
	return text
}

// Unwrap returns Err.
func (e *DecodingError) Unwrap() error { return e.Err }
