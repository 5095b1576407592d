package clientsource_test

import (
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// lists are responses of servers to a list.
var lists = []reply{
	{name: "items", body: listHead + configMap + "," + configMap + "]}\n"},
	{name: "no items", body: listHead + "]}"},
	{name: "null items",
		body: `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":null}`},
	{name: "other order", body: `{"items":[` + configMap +
		`],"metadata":{"resourceVersion":"9"},"apiVersion":"v1","kind":"ConfigMapList"}`},
	{name: "without kind", body: `{"metadata":{"resourceVersion":"9"},"items":[` + configMap + `]}`},
	{name: "items with kinds",
		body: listHead + strings.Replace(configMap, "{", `{"kind":"ConfigMap","apiVersion":"v1",`, 1) + "]}"},
	{name: "unknown fields",
		body: `{"zzz":[1,{"a":12}],` +
			listHead[1:] + strings.Replace(configMap, "{", `{"foo":[{}],`, 1) + `],"n":12}`},
	{name: "white space", body: " " + strings.ReplaceAll(listHead, ",", " ,\n") + " " + configMap + " \n,\t" +
		configMap + " ] } \n"},
	{name: "charset", headers: map[string]string{"Content-Type": "application/json; charset=utf-8"},
		body: listHead + configMap + "]}"},
	{name: "a warning", headers: map[string]string{"Warning": `299 - "old"`},
		body: listHead + configMap + "]}"},
	{name: "other kind",
		body: `{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]}`},
	{name: "unregistered kind",
		body: `{"kind":"Nothing","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]}`},
	{
		name: "table",
		body: `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"9"},"rows":[]}`},
	{name: "status success", body: `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`},
	{name: "status failure with 200", body: gone},
	{name: "expired", status: 410, body: gone},
	{name: "too many requests", status: 429,
		body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429}`},
	{name: "forbidden", status: 403,
		body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`},
	{name: "unauthorized", status: 401, headers: map[string]string{"Content-Type": "text/plain"},
		body: "who?"},
	{name: "internal error", status: 500, headers: map[string]string{"Content-Type": "text/html"},
		body: "<p>oh</p>"},
	{name: "other success", status: 203, body: listHead + configMap + "]}"},
	{name: "no content type", headers: map[string]string{"Content-Type": ""},
		body: listHead + configMap + "]}"},
	{name: "other content type", headers: map[string]string{"Content-Type": "text/plain"},
		body: listHead + configMap + "]}"},
	{name: "yaml", headers: map[string]string{"Content-Type": "application/yaml"},
		body: "kind: ConfigMapList\napiVersion: v1\nitems:\n- metadata: {name: a}\n"},
	{name: "empty", body: ""},
	{name: "truncated in an item", body: listHead + configMap + "," + configMap[:60]},
	{name: "truncated between items", body: listHead + configMap + ","},
	{name: "truncated after items", body: listHead + configMap + "]"},
	{name: "cut", body: listHead + configMap + ",", cut: true},
	{name: "no JSON", body: "hello"},
	{name: "no object", body: "[]"},
	{name: "bad item", body: listHead + configMap + `,{"metadata":{"name":7}}]}`},
	{name: "bad syntax", body: listHead + configMap + `,}`},
	{name: "bad syntax in what is skipped", body: listHead + `{"foo":{"a":tru}}]}`},
	{name: "garbage behind", body: listHead + configMap + "]}x"},
	{name: "metadata of another type",
		body: `{"kind":"ConfigMapList","apiVersion":"v1","metadata":[],"items":[]}`},
}

// TestRESTList checks that a list has the same result, streamed or not.
func TestRESTList(t *testing.T) {
	for _, r := range lists {
		t.Run(r.name, func(t *testing.T) {
			c := configMapClient(t, r.serve, withoutWarnings)
			both := bothSources(c)
			streamed, plain := readList(t, both["streamed"]), readList(t, both["plain"])
			if (streamed.err == nil) != (plain.err == nil) {
				t.Fatalf("streamed: %v, plain: %v", streamed.err, plain.err)
			}
			if plain.err != nil {
				if apierrors.ReasonForError(streamed.err) != apierrors.ReasonForError(plain.err) {
					t.Errorf("streamed: %v, plain: %v", streamed.err, plain.err)
				}
				return
			}
			if !reflect.DeepEqual(streamed, plain) {
				t.Errorf("streamed: %v, plain: %v", streamed, plain)
			}
		})
	}
}

func withoutWarnings(c *rest.Config) { c.WarningHandler = rest.NoWarnings{} }

// TestRESTListStreams checks that the first items arrive before the last is sent, and that the receiver of an
// item may end the list.
func TestRESTListStreams(t *testing.T) {
	received := make(chan struct{})
	c := configMapClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, listHead+configMap+",")
		w.(http.Flusher).Flush()
		<-received
		io.WriteString(w, configMap+"]}")
	})
	enough := errors.New("enough")
	n := 0
	_, err := each(t.Context(), bothSources(c)["streamed"], metav1.ListOptions{}, func(any) error {
		if n++; n == 1 {
			close(received)
			return nil
		}
		return enough
	})
	if err != enough || n != 2 {
		t.Errorf("%d items, %v", n, err)
	}
}
