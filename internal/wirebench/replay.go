package wirebench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
)

// Recording is the recorded answer of a server for one collection.
type Recording struct {
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

// RecordWorkloads returns n workloads in JSON.
func RecordWorkloads(n int) Recording {
	recorded := make([][]byte, n)
	for i := range recorded {
		recorded[i] = Object(i)
	}
	return recordJSON(GroupVersion.String(), "Workload", recorded)
}

// RecordConfigMaps returns n small objects, of some 700 bytes of JSON.
func RecordConfigMaps(n int) Recording {
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
	return recordJSON("v1", "ConfigMap", recorded)
}

func recordJSON(apiVersion, kind string, recorded [][]byte) Recording {
	each := func(extra []byte, write func(i int, object []byte)) {
		for i, o := range recorded {
			write(i, o)
		}
		if extra != nil {
			write(len(recorded), extra)
		}
	}
	return Recording{
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

// listed is the metadata of a list, marked that of the bookmark at the end of initial events.
var (
	listed = metav1.ListMeta{ResourceVersion: "1000000"}
	marked = metav1.ObjectMeta{ResourceVersion: "1000000",
		Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}
)

// RecordPods returns n pods in protobuf.
func RecordPods(n int) Recording {
	kind := metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	list := &corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, ListMeta: listed}
	objects := make([]runtime.Object, n)
	for i := range objects {
		pod := Pod(i)
		pod.TypeMeta = kind
		list.Items = append(list.Items, *pod)
		objects[i] = pod
	}
	return recordProtobuf(list, objects, &corev1.Pod{TypeMeta: kind, ObjectMeta: marked})
}

// RecordMetadata returns the metadata of n workloads in protobuf.
func RecordMetadata(n int) Recording { return recordMetadata(n, Object) }

// recordMetadata returns the metadata of n objects in protobuf.
func recordMetadata(n int, object func(i int) []byte) Recording {
	kind := metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}
	list := &metav1.PartialObjectMetadataList{ListMeta: listed,
		TypeMeta: metav1.TypeMeta{APIVersion: kind.APIVersion, Kind: kind.Kind + "List"}}
	objects := make([]runtime.Object, n)
	for i := range objects {
		o := &metav1.PartialObjectMetadata{}
		if err := json.Unmarshal(object(i), o); err != nil {
			panic(err)
		}
		o.TypeMeta = kind
		list.Items = append(list.Items, *o)
		objects[i] = o
	}
	return recordProtobuf(list, objects, &metav1.PartialObjectMetadata{TypeMeta: kind, ObjectMeta: marked})
}

// recordProtobuf encodes objects that have a kind.
func recordProtobuf(list runtime.Object, objects []runtime.Object, end runtime.Object) Recording {
	serializer := protobuf.NewSerializer(nil, nil)
	encode := func(obj runtime.Object) []byte {
		var text bytes.Buffer
		if err := serializer.Encode(obj, &text); err != nil {
			panic(err)
		}
		return text.Bytes()
	}
	var events bytes.Buffer
	frames := protobuf.LengthDelimitedFramer.NewFrameWriter(&events)
	send := func(typ watch.EventType, obj runtime.Object) {
		event := metav1.WatchEvent{Type: string(typ), Object: runtime.RawExtension{Raw: encode(obj)}}
		must(frames.Write(must(event.Marshal())))
	}
	for _, obj := range objects {
		send(watch.Added, obj)
	}
	send(watch.Bookmark, end)
	whole := encode(list)
	return Recording{
		contentType: runtime.ContentTypeProtobuf,
		objects:     len(objects),
		list:        func(w io.Writer, _ []byte) { w.Write(whole) },
		events:      func(w io.Writer, _ []byte) { w.Write(events.Bytes()) },
	}
}

// answer answers a list, or a watch. A watch ends as expired when ended is closed. extra is a further object,
// or nil.
func (r Recording) answer(w http.ResponseWriter, req *http.Request, extra []byte, ended <-chan struct{}) {
	query := req.URL.Query()
	w.Header().Set("Content-Type", r.contentType)
	switch {
	case query.Get("watch") == "":
		r.list(w, extra)
		return
	case query.Get("sendInitialEvents") == "true":
		r.events(w, extra)
	}
	w.(http.Flusher).Flush()
	select {
	case <-req.Context().Done():
	case <-ended:
		w.Write(r.expired)
	}
}

// Replay starts a server that answers lists and watches of any resource from a recording.
func Replay(tb testing.TB, recorded Recording) Server { return replay(tb, recorded, false) }

// replay is Replay. With withRelist, a POST to /relist adds one object and makes all watches expire.
func replay(tb testing.TB, recorded Recording, withRelist bool) Server {
	var mu sync.Mutex
	var extra []byte
	end := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /relist", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		n := recorded.objects
		extra = bytes.Replace(Object(n), fmt.Appendf(nil, `"name":"workload-%d"`, n),
			[]byte(`"name":"relisted"`), 1)
		close(end)
		end = make(chan struct{})
	})
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		more, ended := extra, end
		query := r.URL.Query()
		if query.Get("watch") == "" || query.Get("sendInitialEvents") == "true" {
			extra = nil // only one list has it; those of later processes start over without it
		}
		mu.Unlock()
		recorded.answer(w, r, more, ended)
	})
	server := httptest.NewServer(mux)
	tb.Cleanup(server.Close)
	s := Server{Host: server.URL, Objects: recorded.objects}
	if withRelist {
		s.Relist = server.URL + "/relist"
	}
	return s
}
