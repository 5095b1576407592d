package clientsource_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	kubeclient "github.com/kubewright/kubewright/runtime/gen/client"
	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

type podClient = kubeclient.ClientWithList[*corev1.Pod, *corev1.PodList]

// podsOf returns a client of pods for a server with a handler.
func podsOf(t *testing.T, handler http.HandlerFunc) *podClient {
	t.Helper()
	config := serve(t, handler, false)
	group := kubeclient.Group{Version: corev1.SchemeGroupVersion, APIPath: "/api", Scheme: scheme.Scheme,
		Codecs: scheme.Codecs}
	c, err := group.RESTClient(config, kubeclient.Must(rest.HTTPClientFor(config)))
	if err != nil {
		t.Fatal(err)
	}
	return kubeclient.NewWithList[*corev1.Pod, *corev1.PodList](c, scheme.ParameterCodec, "pods", "ns")
}

// podSource returns a source of pods, streamed or not.
func podSource(c *podClient, off bool) sources.Source {
	return clientsource.FromClient(reflect.TypeFor[*corev1.Pod](),
		func() sources.Client[*corev1.PodList] { return c },
		clientsource.Options{Decoding: sources.Decoding{Off: off}})
}

const goodPod = `{"kind":"Pod","apiVersion":"v1",` +
	`"metadata":{"namespace":"ns","name":"good","resourceVersion":"1"}}`

// planted is a value that no error may show.
const planted = "planted4711"

// brokenPods are pods with one wrong value, and what the error says about it.
var brokenPods = []struct {
	member            string // of the pod, beside its metadata
	field, value, typ string
}{
	{member: `"spec":{"priority":"` + planted + `"}`, field: "spec.priority", value: "string", typ: "int32"},
	{member: `"spec":{"priority":4711471147114711}`, field: "spec.priority", value: "number", typ: "int32"},
	{member: `"spec":{"priority":4711.5}`, field: "spec.priority", value: "number", typ: "int32"},
	{member: `"spec":{"hostNetwork":"` + planted + `"}`, field: "spec.hostNetwork", value: "string",
		typ: "bool"},
	{member: `"spec":{"nodeName":["` + planted + `"]}`, field: "spec.nodeName", value: "array", typ: "string"},
	{member: `"spec":{"containers":"` + planted + `"}`, field: "spec.containers", value: "string",
		typ: "[]v1.Container"},
	{member: `"spec":{"containers":[{"name":"a"},{"name":4711}]}`, field: "spec.containers[1].name",
		value: "number", typ: "string"},
	{member: `"spec":{"containers":[{"ports":[{"containerPort":true}]}]}`,
		field: "spec.containers[0].ports[0].containerPort", value: "bool", typ: "int32"},
	{member: `"spec":{"nodeSelector":{"a":{"b":"` + planted + `"}}}`, field: `spec.nodeSelector["a"]`,
		value: "object", typ: "string"},
	{member: `"spec":{"containers":[{"resources":{"limits":{"cpu":"` + planted + `"}}}]}`,
		field: `spec.containers[0].resources.limits["cpu"]`, value: "string", typ: "resource.Quantity"},
	{member: `"status":{"startTime":"` + planted + `"}`, field: "status.startTime", value: "string",
		typ: "v1.Time"},
	{member: `"status":{"startTime":4711}`, field: "status.startTime", value: "number", typ: "v1.Time"},
	{member: `"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":{}}}}]}`,
		field: "spec.containers[0].livenessProbe.httpGet.port", value: "object", typ: "intstr.IntOrString"},
	{member: `"spec":"` + planted + `"`, field: "spec", value: "string", typ: "v1.PodSpec"},
}

// wrong is a pod with a wrong member.
func wrong(member string) string {
	return strings.NewReplacer(`"good"`, `"wrong"`, `"1"}}`, `"2"},`+member+`}`).Replace(goodPod)
}

// errorOfList and errorOfWatch return the error of a source, which must be a DecodingError.
func errorOfList(t *testing.T, source sources.Source) (*listwatch.DecodingError, string) {
	t.Helper()
	_, err := each(t.Context(), source, metav1.ListOptions{}, func(any) error { return nil })
	return decodingError(t, err)
}

func errorOfWatch(t *testing.T, source sources.Source) (*listwatch.DecodingError, string) {
	t.Helper()
	return decodingError(t, readWatch(t, source).end)
}

func decodingError(t *testing.T, err error) (*listwatch.DecodingError, string) {
	t.Helper()
	decoding, ok := errors.AsType[*listwatch.DecodingError](err)
	if !ok {
		t.Fatalf("no DecodingError: %T %v", err, err)
	}
	return decoding, err.Error()
}

// TestDecodingErrorOfObjects checks that the error for an object that doesn't fit its type names the object,
// the field and both types, but not the value, in lists and watches, for the first object and later ones,
// streamed or not. What client-go's error names, this one names, too.
func TestDecodingErrorOfObjects(t *testing.T) {
	for _, p := range brokenPods {
		for _, off := range []bool{false, true} {
			for _, before := range []string{"", goodPod} {
				t.Run(fmt.Sprintf("%s off=%v first=%v", p.field, off, before == ""), func(t *testing.T) {
					items := strings.TrimPrefix(before+","+wrong(p.member), ",")
					events := event("ADDED", wrong(p.member))
					if before != "" {
						events = event("ADDED", before) + events
					}
					c := podsOf(t, func(w http.ResponseWriter, r *http.Request) {
						w.Header().Set("Content-Type", "application/json")
						if r.URL.Query().Get("watch") != "" {
							io.WriteString(w, events)
							return
						}
						fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[%s]}`, items)
					})
					list, listText := errorOfList(t, podSource(c, off))
					watch, watchText := errorOfWatch(t, podSource(c, off))
					for text, e := range map[string]*listwatch.DecodingError{listText: list, watchText: watch} {
						if e.Status != 200 || e.ContentType != "application/json" || e.Length == 0 || e.Found != "" ||
							e.Namespace != "ns" || e.Name != "wrong" || e.Field != p.field || e.Value != p.value ||
							e.Type != p.typ {
							t.Errorf("%+v", e)
						}
						for _, part := range []string{"ns/wrong", p.field, p.value, p.typ, "status 200",
							"application/json", fmt.Sprint(e.Length, " bytes")} {
							if !strings.Contains(text, part) {
								t.Errorf("%q isn't in: %s", part, text)
							}
						}
						if strings.Contains(text, planted) || strings.Contains(text, "4711") {
							t.Errorf("it has the value: %s", text)
						}
					}
					if !apierrors.HasStatusCause(watch, "ClientWatchDecoding") {
						t.Errorf("the error of a watch is no Status any more: %v", watch.Err)
					}
					_, theirs := c.List(t.Context(), metav1.ListOptions{})
					if theirs == nil {
						t.Fatal("client-go accepts it")
					}
					// client-go names the field without indexes and keys, but with embedded structs.
					if mismatch, field, ok := fieldOf(theirs); ok {
						field = strings.Replace(field, ".ProbeHandler", "", 1)
						if plain := withoutIndexes(list.Field); !strings.HasSuffix(field, plain) ||
							!strings.Contains(listText, mismatch) {
							t.Errorf("client-go: %v, ours: %s", theirs, listText)
						}
					}
				})
			}
		}
	}
}

// fieldOf returns the Go type and the field that client-go's error names, if it names one.
func fieldOf(err error) (typ, field string, ok bool) {
	mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok || mismatch.Field == "" {
		return "", "", false
	}
	return mismatch.Type.String(), mismatch.Field, true
}

// withoutIndexes returns a path without the indexes of slices and the keys of maps.
func withoutIndexes(path string) string {
	return regexp.MustCompile(`\[[^]]*\]`).ReplaceAllString(path, "")
}

// gzipped compresses a text, and breaks the result if that isn't nil.
func gzipped(text string, spoil func([]byte) []byte) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	if spoil == nil {
		return b.String()
	}
	return string(spoil(b.Bytes()))
}

// TestDecodingErrorOfResponses checks that the error for a response that isn't a list or a watch says what is
// there instead.
func TestDecodingErrorOfResponses(t *testing.T) {
	page := "<html>" + strings.Repeat("x", 94) + "</html>"
	html := map[string]string{"Content-Type": "text/html"}
	compressed := map[string]string{"Content-Encoding": "gzip"}
	list := listHead + configMap + "]}"
	for _, r := range []struct {
		reply
		found string
		// texts are in the error, too.
		texts []string
		// lists means that it is an answer to a list only.
		lists bool
	}{
		{reply: reply{name: "page", headers: html, body: page}, found: "a text that begins with '<'",
			texts: []string{"status 200", "text/html"}},
		{reply: reply{name: "page as JSON", body: page}, found: "a text that begins with '<'"},
		{reply: reply{name: "page with 502", status: 502, headers: html, body: page},
			found: "a text that begins with '<'",
			texts: []string{"status 502", "text/html", "107 bytes", "an error on the server"}},
		{reply: reply{name: "text with 404", status: 404, headers: map[string]string{"Content-Type": "text/plain"},
			body: "404: no backend"}, found: "a text that begins with '4'", texts: []string{"status 404"}},
		{reply: reply{name: "page with 401", status: 401, headers: html, body: page},
			found: "a text that begins with '<'", texts: []string{"status 401"}},
		{reply: reply{name: "JSON of a proxy", status: 503, body: `{"error":"no upstream"}`},
			found: "an object that is no Status"},
		{reply: reply{name: "nothing", body: ""}, found: "an empty body", lists: true},
		{reply: reply{name: "white space", body: " \n"}, found: "an empty body", lists: true},
		{reply: reply{name: "array", body: "[]"}, found: "an array"},
		{reply: reply{name: "string", body: `"x"`}, found: "a string"},
		{reply: reply{name: "number", body: `12`}, found: "a text that begins with '1'"},
		{reply: reply{name: "text", body: `hello`}, found: "a text that begins with 'h'"},
		{reply: reply{name: "binary", body: "\xff\xfe"}, found: `data that begins with '\xff'`},
		{reply: reply{name: "compressed twice", headers: compressed, body: gzipped(gzipped(list, nil), nil)},
			found: `data that begins with '\x1f'`},
		{reply: reply{name: "list as text", headers: map[string]string{"Content-Type": "text/plain"}, body: list},
			texts: []string{"text/plain", "serializer for text/plain doesn't exist"}, lists: true},
		{reply: reply{name: "gzip without header", headers: compressed, body: list},
			texts: []string{"gzip: invalid header"}, lists: true},
		{reply: reply{name: "gzip with a wrong checksum", headers: compressed,
			body: gzipped(list, func(b []byte) []byte { b[len(b)-8] ^= 1; return b })},
			texts: []string{"gzip: invalid checksum"}, lists: true},
		{reply: reply{name: "gzip that is broken", headers: compressed,
			body: gzipped(list, func(b []byte) []byte { copy(b[12:], "\xff\xff\xff\xff"); return b })},
			texts: []string{"flate"}, lists: true},
		{reply: reply{name: "unknown kind", body: `{"kind":"Nothing","apiVersion":"v1","items":[]}`},
			texts: []string{`no kind "Nothing"`}, lists: true},
		{reply: reply{name: "truncated in the first object", body: listHead + configMap[:60]},
			texts: []string{"object ns/a", "unexpected EOF"}, lists: true},
		{reply: reply{name: "truncated in a later object", body: list[:len(list)-2] + "," + configMap[:60]},
			texts: []string{"object ns/a", "unexpected EOF", "after 1 objects"}, lists: true},
	} {
		for name, source := range bothSources(configMapClient(t, r.serve, withoutWarnings)) {
			t.Run(r.name+"/"+name, func(t *testing.T) {
				check := func(e *listwatch.DecodingError, text string) {
					t.Helper()
					if e.Found != r.found {
						t.Errorf("found %q, want %q: %s", e.Found, r.found, text)
					}
					for _, part := range append(r.texts, r.found, fmt.Sprint(e.Length, " bytes")) {
						if !strings.Contains(text, part) {
							t.Errorf("%q isn't in: %s", part, text)
						}
					}
				}
				check(errorOfList(t, source))
				if !r.lists {
					check(errorOfWatch(t, source))
				}
			})
		}
	}
}

// TestDecodingErrorOfClassifiedErrors checks that an error with a DecodingError keeps its class, and that the
// errors of API servers are unchanged.
func TestDecodingErrorOfClassifiedErrors(t *testing.T) {
	c := configMapClient(t, reply{status: 401, headers: map[string]string{"Content-Type": "text/html"},
		body: "<p>who?</p>"}.serve)
	for name, source := range bothSources(c) {
		if e, text := errorOfList(t, source); !apierrors.IsUnauthorized(e) {
			t.Errorf("%s: %s", name, text)
		}
	}
	for name, source := range bothSources(configMapClient(t, reply{status: 410, body: gone}.serve)) {
		_, err := each(t.Context(), source, metav1.ListOptions{}, nil)
		if _, ok := err.(*apierrors.StatusError); !ok || !apierrors.IsResourceExpired(err) {
			t.Errorf("%s: %T %v", name, err, err)
		}
	}
	// An API server has no Status for what it doesn't serve.
	for name, source := range bothSources(configMapClient(t, http.NotFound)) {
		_, err := each(t.Context(), source, metav1.ListOptions{}, nil)
		if _, ok := err.(*apierrors.StatusError); !ok || !apierrors.IsNotFound(err) ||
			err.Error() != "the server could not find the requested resource (get configmaps)" {
			t.Errorf("%s: %T %v", name, err, err)
		}
	}
	// A list function's own error stays as it is.
	own := errors.New("my own error")
	source := clientsource.FromListerWatcher(&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) { return nil, own },
	}, &corev1.ConfigMap{})
	if _, err := each(t.Context(), source, metav1.ListOptions{}, nil); err != own {
		t.Error(err)
	}
}

// TestDecodingErrorWithoutTransport checks that the field is named, and no value, if no transport sees the
// responses.
func TestDecodingErrorWithoutTransport(t *testing.T) {
	c := podsOf(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[%s]}`,
			wrong(`"spec":{"priority":4711471147114711}`))
	})
	source := clientsource.FromListerWatcher(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return c.List(ctx, opts)
		},
	}, &corev1.Pod{})
	e, text := errorOfList(t, source)
	if e.Field != "spec.priority" || e.Value != "number" || e.Type != "int32" || strings.Contains(text, "4711") {
		t.Errorf("%+v: %s", e, text)
	}
}

// TestDecodingErrorInProtobuf does the same as TestDecodingErrorOfObjects for objects in protobuf.
func TestDecodingErrorInProtobuf(t *testing.T) {
	pod := func(name string) corev1.Pod {
		return corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a"}, {Name: planted}}}}
	}
	list := &corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"},
		Items: []corev1.Pod{pod("good"), pod("wrong")}}
	text := []byte(inProtobuf(t, list))
	// The name of the last container becomes a number of eight bytes and some fields behind it.
	at := bytes.LastIndex(text, []byte(planted)) - 2
	text[at] = 1<<3 | 1
	for _, off := range []bool{false, true} {
		c := podsOf(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
			w.Write(text)
		})
		e, shown := errorOfList(t, podSource(c, off))
		if e.Namespace != "ns" || e.Name != "wrong" || e.Field != "spec.containers[1].name" || e.Type != "string" ||
			e.Value == "" || !strings.Contains(shown, "ns/wrong: field spec.containers[1].name") ||
			strings.Contains(shown, planted) {
			t.Errorf("off %v: %+v: %s", off, e, shown)
		}
	}
	cut := text[:at]
	c := podsOf(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
		w.Write(cut)
	})
	if e, shown := errorOfList(t, podSource(c, false)); e.Name != "wrong" || !strings.Contains(shown, "EOF") {
		t.Errorf("%+v: %s", e, shown)
	}
}
