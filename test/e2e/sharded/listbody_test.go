//go:build linux

package sharded

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestSeesEndsOfLists: the proxy distinguishes a list that was read to its end from one that has another page
// or was cut off, in whatever pieces it comes.
func TestSeesEndsOfLists(t *testing.T) {
	const object = `{"metadata":{"name":"a"}}`
	for _, test := range []struct {
		name, body  string
		watch, ends bool
	}{
		{"whole", `{"metadata":{"resourceVersion":"1"},"items":[` + object + `]}`, false, true},
		{"whole, says so", `{"metadata":{"continue":"","resourceVersion":"1"},"items":[]}`, false, true},
		{"a page", `{"metadata":{"continue":"abc"},"items":[` + object + `]}`, false, false},
		{"streamed", `{"type":"ADDED","object":` + object + `}` +
			`{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}`,
			true, true},
		{"streamed, cut off", `{"type":"ADDED","object":` + object + `}`, true, false},
	} {
		for _, pieces := range []func(io.Reader) io.Reader{
			iotest.OneByteReader, iotest.DataErrReader, func(r io.Reader) io.Reader { return r },
		} {
			ended := 0
			body := &listBody{
				ReadCloser: io.NopCloser(pieces(strings.NewReader(test.body))),
				watch:      test.watch, ended: func() { ended++ },
			}
			if read, err := io.ReadAll(body); err != nil || string(read) != test.body {
				t.Errorf("%s: read %q, %v", test.name, read, err)
			}
			if want := map[bool]int{true: 1}[test.ends]; ended != want {
				t.Errorf("%s: ended %d times, not %d", test.name, ended, want)
			}
		}
	}
}
