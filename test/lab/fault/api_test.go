package fault_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

const (
	jsonType     = "application/json"
	protobufType = "application/vnd.kubernetes.protobuf"
	// second is the pause between two events.
	second = time.Second
	// changes are the events of a watch. A bookmark follows, and the watch ends at its timeout.
	changes = 10
)

// api is an API server of config maps. Every watch sends the same changes.
type api struct {
	mu   sync.Mutex
	seen []seen
	// version is added to the versions of lists.
	version int
}

// seen is a request, and when it came, counted from the start of the bubble.
type seen struct {
	query string
	at    time.Time
}

func (a *api) requests() []seen {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.seen = append(a.seen, seen{r.URL.RawQuery, time.Now()})
	version := a.version
	a.version++
	a.mu.Unlock()
	e, ok := encodingOf(r.Header.Get("Accept"))
	if !ok {
		http.Error(w, "not acceptable", http.StatusNotAcceptable)
		return
	}
	query := r.URL.Query()
	if query.Get("watch") == "" {
		w.Header().Set("Content-Type", e.MediaType)
		list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(100 + version)}}
		for i := range 5 {
			list.Items = append(list.Items, *configMap(i, 1+i))
		}
		w.Write(e.encode(list))
		return
	}
	w.Header().Set("Content-Type", e.MediaType+";stream=watch")
	w.(http.Flusher).Flush()
	a.watch(w, r, e, version)
}

func (a *api) watch(w http.ResponseWriter, r *http.Request, e encoding, version int) {
	query := r.URL.Query()
	seconds, _ := strconv.Atoi(query.Get("timeoutSeconds"))
	timeout := time.After(time.Duration(seconds) * time.Second)
	wait := func(d time.Duration) bool {
		select {
		case <-time.After(d):
			return true
		case <-timeout:
		case <-r.Context().Done():
		}
		return false
	}
	send := func(kind watch.EventType, obj runtime.Object) {
		frames := e.StreamSerializer.Framer.NewFrameWriter(w)
		raw := metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: e.encode(obj)}}
		if err := e.StreamSerializer.Serializer.Encode(&raw, frames); err == nil {
			w.(http.Flusher).Flush()
		}
	}
	if query.Get("sendInitialEvents") == "true" {
		for i := range 5 {
			send(watch.Added, configMap(i, 1+i))
		}
		end := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: strconv.Itoa(100 + version),
			Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}}
		send(watch.Bookmark, end)
	}
	for n := range changes {
		if !wait(second) {
			return
		}
		send(watch.Modified, configMap(n%5, 101+n))
	}
	if !wait(second) {
		return
	}
	send(watch.Bookmark, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "110"}})
	wait(time.Hour)
}

// configMap returns an object whose text has characters of several bytes.
func configMap(name, version int) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("object-", name),
			ResourceVersion: strconv.Itoa(version), UID: "uid"},
		Data: map[string]string{"text": "a naïve ☃ at " + strconv.Itoa(version)},
	}
}

// encoding is one of Kubernetes' encodings.
type encoding struct{ runtime.SerializerInfo }

func encodingOf(mediaType string) (encoding, bool) {
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	return encoding{info}, ok
}

func (e encoding) encode(obj runtime.Object) []byte {
	encoder := scheme.Codecs.EncoderForVersion(e.Serializer, corev1.SchemeGroupVersion)
	data, err := runtime.Encode(encoder, obj)
	if err != nil {
		panic(err)
	}
	return data
}

// list decodes a list, and returns "name@version" for each object.
func (e encoding) list(body []byte) (string, error) {
	obj, err := runtime.Decode(scheme.Codecs.UniversalDeserializer(), body)
	if err != nil {
		return "", err
	}
	list, ok := obj.(*corev1.ConfigMapList)
	if !ok {
		return "", fmt.Errorf("the list is a %T", obj)
	}
	var items []string
	for _, item := range list.Items {
		items = append(items, item.Name+"@"+item.ResourceVersion)
	}
	return strings.Join(items, " "), nil
}

// events decodes a watch as far as possible, and returns "TYPE name@version" for each event. The error is
// io.EOF if the watch is complete.
func (e encoding) events(body io.Reader) (events []string, err error) {
	frames := e.StreamSerializer.Framer.NewFrameReader(io.NopCloser(body))
	buffer := make([]byte, 1<<20)
	for {
		n, err := frames.Read(buffer)
		if err != nil {
			return events, err
		}
		var event metav1.WatchEvent
		if _, _, err := e.StreamSerializer.Serializer.Decode(buffer[:n], nil, &event); err != nil {
			return events, err
		}
		obj, err := runtime.Decode(scheme.Codecs.UniversalDeserializer(), event.Object.Raw)
		if err != nil {
			return events, err
		}
		if status, ok := obj.(*metav1.Status); ok {
			events = append(events, fmt.Sprint(event.Type, " ", status.Code))
			continue
		}
		m := obj.(metav1.Object)
		events = append(events, fmt.Sprint(event.Type, " ", m.GetName(), "@", m.GetResourceVersion()))
	}
}
