package fault

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// respond returns a response that the proxy makes itself.
func respond(code int, contentType string, body []byte) *http.Response {
	return &http.Response{
		Status: strconv.Itoa(code) + " " + http.StatusText(code), StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {contentType}},
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
	}
}

// refuse returns a response that consists of a status.
func refuse(status *metav1.Status) *http.Response {
	resp := respond(int(status.Code), "application/json", must(json.Marshal(status)))
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		resp.Header.Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	return resp
}

// refusing returns a fault that answers one request with a status.
func refusing(code int32, reason metav1.StatusReason) func(*exchange) (*http.Response, error) {
	return func(*exchange) (*http.Response, error) { return refuse(statusOf(code, reason)), nil }
}

// refusingWhile returns a fault that answers all covered requests with a status, for the time of the step.
func refusingWhile(
	covers func(*exchange, Request) bool, code int32, reason metav1.StatusReason,
) func(*exchange) (*http.Response, error) {
	do := refusing(code, reason)
	return func(x *exchange) (*http.Response, error) {
		x.during(func(r Request) bool { return covers(x, r) }, do, nil)
		return do(x)
	}
}

// whole reads and closes the body.
func whole(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// setBody replaces the body of a response, and announces its length.
func setBody(resp *http.Response, body []byte) {
	resp.Header.Set("Content-Length", strconv.Itoa(len(body)))
	resp.ContentLength = int64(len(body))
	resp.Body = io.NopCloser(bytes.NewReader(body))
}

// endingBody returns what its Reader has, then an error.
type endingBody struct {
	io.Reader
	io.Closer
	end error
}

func (b *endingBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		err = b.end
	}
	return n, err
}

// setEnd makes a response break off after body, with an error.
func setEnd(resp *http.Response, body []byte, end error) {
	resp.Header.Del("Content-Length")
	resp.ContentLength = -1
	resp.Body = &endingBody{bytes.NewReader(body), io.NopCloser(nil), end}
}
