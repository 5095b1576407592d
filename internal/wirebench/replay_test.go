package wirebench

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	restwatch "k8s.io/client-go/rest/watch"
)

// objects is the number of objects. A test can do with fewer.
var objects = Setting("WIREBENCH_OBJECTS", 20000)

// recording is what a server sends for one collection.
type recording struct {
	contentType string
	objects     int
	// list and events write all objects, as a list and as initial events; extra is a further object, or nil.
	list, events func(w io.Writer, extra []byte)
	expired      []byte
}

const (
	bookmark = `{"type":"BOOKMARK","object":{"apiVersion":%q,"kind":%q,` +
		`"metadata":{"resourceVersion":"1000000","annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"
	expired = `{"type":"ERROR","object":{"apiVersion":"v1","kind":"Status","status":"Failure","code":410,` +
		`"reason":"Expired","message":"too old"}}` + "\n"
)

func recordedWorkloads() recording {
	recorded := make([][]byte, objects)
	for i := range recorded {
		recorded[i] = Object(i)
	}
	return recordedJSON("bench.example.com/v1", "Workload", recorded)
}

// recordedConfigMaps are small objects, of some 700 bytes of JSON.
func recordedConfigMaps(n int) recording {
	recorded := make([][]byte, n)
	for i := range recorded {
		recorded[i] = fmt.Appendf(nil,
			`{"apiVersion":"v1","kind":"ConfigMap",`+
				`"metadata":{"name":"config-%d","namespace":"namespace-%d",`+
				`"uid":"8a1ac4a4-4f3c-4f0b-9b0d-%012d","resourceVersion":"%d",`+
				`"creationTimestamp":"2026-11-01T10:00:00Z",`+
				`"labels":{"app":"shop","tier":"backend","revision":"%d"},`+
				`"managedFields":[{"manager":"controller","operation":"Update",`+
				`"apiVersion":"v1","time":"2026-11-01T10:00:00Z","fieldsType":"FieldsV1",`+
				`"fieldsV1":{"f:data":{"f:endpoint":{},"f:level":{}}}}]},`+
				`"data":{"endpoint":"https://service-%d.example.com","level":"info"}}`,
			i, i%10, i, i+1, i%7, i)
	}
	return recordedJSON("v1", "ConfigMap", recorded)
}

func recordedJSON(apiVersion, kind string, recorded [][]byte) recording {
	each := func(extra []byte, write func(i int, object []byte)) {
		for i, o := range recorded {
			write(i, o)
		}
		if extra != nil {
			write(len(recorded), extra)
		}
	}
	return recording{
		contentType: runtime.ContentTypeJSON,
		objects:     len(recorded),
		list: func(w io.Writer, extra []byte) {
			fmt.Fprintf(w, `{"apiVersion":%q,"items":[`, apiVersion)
			each(extra, func(i int, o []byte) {
				if i > 0 {
					io.WriteString(w, ",")
				}
				w.Write(o)
			})
			fmt.Fprintf(w, `],"kind":%q,"metadata":{"resourceVersion":"1000000"}}`+"\n", kind+"List")
		},
		events: func(w io.Writer, extra []byte) {
			each(extra, func(_ int, o []byte) {
				io.WriteString(w, `{"type":"ADDED","object":`)
				w.Write(o)
				io.WriteString(w, "}\n")
			})
			fmt.Fprintf(w, bookmark, apiVersion, kind)
		},
		expired: []byte(expired),
	}
}

func recordedPods() recording {
	info, _ := runtime.SerializerInfoForMediaType(clientscheme.Codecs.SupportedMediaTypes(),
		runtime.ContentTypeProtobuf)
	encoder := clientscheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
	all := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1000000"}}
	var events bytes.Buffer
	eventEncoder := restwatch.NewEncoder(
		streaming.NewEncoder(info.StreamSerializer.Framer.NewFrameWriter(&events),
			info.StreamSerializer.Serializer), encoder)
	send := func(typ watch.EventType, pod *corev1.Pod) {
		if err := eventEncoder.Encode(&watch.Event{Type: typ, Object: pod}); err != nil {
			panic(err)
		}
	}
	for i := range objects {
		pod := Pod(i)
		all.Items = append(all.Items, *pod)
		send(watch.Added, pod)
	}
	send(watch.Bookmark, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: "1000000", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}})
	list := must(runtime.Encode(encoder, all))
	return recording{
		contentType: runtime.ContentTypeProtobuf,
		objects:     objects,
		list:        func(w io.Writer, _ []byte) { w.Write(list) },
		events:      func(w io.Writer, _ []byte) { w.Write(events.Bytes()) },
	}
}

// replay is a server that answers lists and watches from a recording. A POST to /relist adds one
// object and makes all watches expire.
func replay(tb testing.TB, recorded recording, withRelist bool) Server {
	var mu sync.Mutex
	var extra []byte
	end := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /relist", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		extra = bytes.Replace(Object(objects), fmt.Appendf(nil, `"name":"workload-%d"`, objects),
			[]byte(`"name":"relisted"`), 1)
		close(end)
		end = make(chan struct{})
	})
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		more, ended := extra, end
		query := r.URL.Query()
		if query.Get("watch") == "" || query.Get("sendInitialEvents") == "true" {
			extra = nil // one list has it; those of later processes start over without it
		}
		mu.Unlock()
		w.Header().Set("Content-Type", recorded.contentType)
		switch {
		case query.Get("watch") == "":
			recorded.list(w, more)
			return
		case query.Get("sendInitialEvents") == "true":
			recorded.events(w, more)
		}
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-ended:
			w.Write(recorded.expired)
		}
	})
	server := httptest.NewServer(mux)
	tb.Cleanup(server.Close)
	s := Server{Host: server.URL, Objects: recorded.objects}
	if withRelist {
		s.Relist = server.URL + "/relist"
	}
	return s
}

// TestReplay checks that responses to POST and to lists end, as a measuring process needs.
func TestReplay(t *testing.T) {
	objects = 10
	t.Cleanup(func() { objects = Setting("WIREBENCH_OBJECTS", 20000) })
	for _, p := range append(Pairs("workloads"), relists...) {
		c := run(t, replay(t, recordedWorkloads(), strings.HasPrefix(p.Name, "relist")), p)
		if c.CPU == 0 || c.Mallocs == 0 {
			t.Errorf("%v: %+v", p, c)
		}
	}
	for _, p := range Pairs("pods") {
		run(t, replay(t, recordedPods(), false), p)
	}
}
