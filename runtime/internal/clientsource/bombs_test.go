package clientsource_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

const (
	// defaultMax is the default of informer.Options.MaxObject.
	defaultMax = 64 << 20
	// margin is for everything else that a program needs to read a response.
	margin = 64_000_000
)

// bomb is a response that takes much memory.
type bomb struct {
	name, kind string
	// start is followed by more, again and again. If end isn't "", it follows when there are enough.
	start, more, end string
	// bound is the limit of the memory that it may take.
	bound int
	// accepted means that there is no reason to refuse it.
	accepted bool
}

// bombs are lists; what follows listStart or customStart is an item. maxText is informer.Options.MaxObject.
func bombs(maxText int) []bomb {
	maxMemory := 4 * maxText // which it allows beside the text
	const (
		listStart   = `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[`
		customStart = `{"apiVersion":"example.com/v1","items":[{"apiVersion":"example.com/v1","kind":"Thing",`
		item        = listStart + `{"metadata":{"name":"a"},`
	)
	return []bomb{
		{name: "a string", start: item + `"data":{"a":"`, more: "x", bound: maxText},
		{name: "a string with escapes", start: item + `"data":{"a":"`, more: `\n`, bound: maxText},
		{name: "a key", start: item + `"data":{"`, more: "x", bound: maxText},
		{name: "an unknown field", start: item + `"a":"`, more: "x", bound: maxText},
		{name: "a number", start: item + `"immutable":`, more: "1", bound: maxText},
		{name: "depth", start: item + `"a":`, more: "[", bound: maxText},
		{name: "a member of the list", start: `{"kind":"ConfigMapList","a":"`, more: "x", bound: maxText},
		{name: "white space", start: item, more: " ", bound: maxText},
		{name: "keys", start: item + `"data":{`, more: `"%07d":"",`, bound: maxText + maxMemory},
		{name: "many keys", start: item + `"data":{`, more: `"%07d":"",`, end: `"a":"a"}}]}`,
			bound: maxText + maxMemory, accepted: true},
		{name: "strings", start: item[:len(item)-len(`"name":"a"},`)] + `"finalizers":[`, more: `"",`,
			bound: maxText + maxMemory},
		{name: "structs", start: item[:len(item)-len(`"name":"a"},`)] + `"ownerReferences":[`, more: `{},`,
			bound: maxText + maxMemory},
		{name: "a string", kind: "unstructured", start: customStart + `"a":"`, more: "x", bound: maxText},
		{name: "a string first", kind: "unstructured", start: `{"apiVersion":"`, more: "x", bound: maxText},
		{name: "a number", kind: "unstructured", start: customStart + `"a":`, more: "1", bound: maxText},
		{name: "depth", kind: "unstructured", start: customStart + `"a":`, more: `{"a":`, bound: maxText},
		{name: "many keys", kind: "unstructured", start: customStart + `"a":{`, more: `"%07d":"",`,
			end: `"a":"a"}}],"kind":"ThingList"}`, bound: maxText + maxMemory, accepted: true},
		{name: "maps", kind: "unstructured", start: customStart + `"a":[`, more: "{},",
			bound: maxText + maxMemory},
		{name: "arrays", kind: "unstructured", start: customStart + `"a":[`, more: "[],",
			bound: maxText + maxMemory},
	}
}

// write writes a bomb until its reader stops. enough is how often a bomb that ends repeats its text.
func (b bomb) write(w io.Writer, enough int) {
	if _, err := io.WriteString(w, b.start); err != nil {
		return
	}
	const inPiece = 1000
	piece := bytes.Repeat([]byte(b.more), inPiece)
	for n := 0; b.end == "" || n < enough; n += inPiece {
		if strings.Contains(b.more, "%") {
			piece = piece[:0]
			for i := range inPiece {
				piece = fmt.Appendf(piece, b.more, n+i)
			}
		}
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
	io.WriteString(w, b.end)
}

// TestBombs checks that a hostile response takes no more memory than the bound for an object allows, and that
// it is refused and not left to the client, which would read all of it. -v shows how much memory each takes.
// With -short, the bound is an eighth of the default.
func TestBombs(t *testing.T) {
	if goruntime.GOOS != "linux" {
		t.Skip("the peak memory of a process is read from /proc")
	}
	maxText, option := defaultMax, 0
	if testing.Short() {
		maxText = defaultMax / 8
		option = maxText
	}
	enough := maxText / 64
	program := filepath.Join(t.TempDir(), "bomb")
	build := exec.Command("go", "build", "-ldflags=-s", "-o", program, "./testdata/bomb")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	read := func(t *testing.T, verb, kind, contentType string, bound int, accepted bool, body func(io.Writer)) {
		t.Helper()
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			body(w)
		}))
		defer server.Close()
		out, err := exec.CommandContext(t.Context(), program, verb, kind, server.URL, contentType,
			strconv.Itoa(option)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var kb int
		var left, failure string
		if _, err := fmt.Sscanf(string(out), "%d %q %q", &kb, &left, &failure); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		t.Logf("%d MB: %.200s", kb/1000, failure)
		if kb*1024 > bound+margin {
			t.Errorf("%d MB, more than %d MB", kb*1024/1_000_000, (bound+margin)/1_000_000)
		}
		if (failure == "<nil>") != accepted || left != "" {
			t.Errorf("left to the client: %q, error: %.200s", left, failure)
		}
	}
	for _, b := range bombs(maxText) {
		if b.kind == "" {
			b.kind = "configmap"
		}
		t.Run(b.kind+"/"+b.name, func(t *testing.T) {
			if b.more == " " { // It takes no memory, so it isn't refused: cut it off.
				b.end = "]}"
				b.start, b.accepted = strings.TrimSuffix(b.start, `{"metadata":{"name":"a"},`), true
			}
			read(t, "list", b.kind, runtime.ContentTypeJSON, b.bound, b.accepted,
				func(w io.Writer) { b.write(w, enough) })
		})
	}
	t.Run("gzip", func(t *testing.T) {
		b := bombs(maxText)[0]
		server := func(w io.Writer) {
			w.(http.ResponseWriter).Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			b.write(z, enough)
		}
		read(t, "list", "configmap", runtime.ContentTypeJSON, b.bound, false, server)
	})
	t.Run("watch", func(t *testing.T) {
		b := bomb{start: `{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","data":{"a":"`, more: "x"}
		read(t, "watch", "configmap", runtime.ContentTypeJSON, maxText, false,
			func(w io.Writer) { b.write(w, enough) })
	})
	// Messages whose lengths exceed the limit, or the content.
	field := func(number, size int) []byte {
		return binary.AppendUvarint([]byte{byte(number<<3 | 2)}, uint64(size))
	}
	for name, size := range map[string]int{"too much": 1<<31 - 200, "what fits": maxText - 200} {
		kind := append(append(field(1, 2), "v1"...), append(field(2, 13), "ConfigMapList"...)...)
		start := append(append([]byte("k8s\x00"), field(1, len(kind))...), kind...)
		start = append(append(start, field(2, 1<<31-100)...), field(2, size)...)
		t.Run("protobuf list announces "+name, func(t *testing.T) {
			read(t, "list", "configmap", runtime.ContentTypeProtobuf, maxText, false, func(w io.Writer) {
				w.Write(start)
				w.Write(make([]byte, 1<<20))
			})
		})
		t.Run("protobuf watch announces "+name, func(t *testing.T) {
			read(t, "watch", "configmap", runtime.ContentTypeProtobuf+";stream=watch", maxText, false,
				func(w io.Writer) {
					w.Write(binary.BigEndian.AppendUint32(nil, uint32(size)))
					w.Write(bytes.Repeat([]byte{0}, 1<<20))
				})
		})
	}
}
