package informer_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	restwatch "k8s.io/client-go/rest/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/gen/client"
	"github.com/kubewright/kubewright/runtime/gen/informer"
)

// flaky is a server in memory whose responses are cut or corrupted at random places until it has sent a given
// number of changes.
type flaky struct {
	contentType string
	changes     int

	mu     sync.Mutex
	random *rand.Rand
	// log has the change of version i+1 at i; state is their result.
	log    []watch.Event
	state  map[string]*corev1.ConfigMap
	spoilt int
	// allSent is called when all changes were sent and a watch waits for more.
	allSent func()
}

// content returns the content of an object at a version.
func content(name, version string) map[string]string {
	return map[string]string{"head": name + version, "body": fmt.Sprintf("%0200s", version),
		"tail": name + version}
}

// change makes some changes.
func (s *flaky) change() {
	for range s.random.Intn(4) {
		if len(s.log) >= s.changes {
			return
		}
		name, version := fmt.Sprint("object-", s.random.Intn(20)), strconv.Itoa(len(s.log)+1)
		obj := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: version},
			Data:       content(name, version)}
		typ := watch.Added
		switch {
		case s.state[name] != nil && s.random.Intn(3) == 0:
			typ = watch.Deleted
			delete(s.state, name)
		case s.state[name] != nil:
			typ = watch.Modified
			s.state[name] = obj
		default:
			s.state[name] = obj
		}
		s.log = append(s.log, watch.Event{Type: typ, Object: obj})
	}
}

// RoundTrip answers a list or a watch.
func (s *flaky) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change()
	query := r.URL.Query()
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), s.contentType)
	encoder := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
	version := strconv.Itoa(len(s.log))
	var body bytes.Buffer
	if query.Get("watch") == "" {
		list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: version}}
		for _, obj := range s.state {
			list.Items = append(list.Items, *obj)
		}
		if err := encoder.Encode(list, &body); err != nil {
			return nil, err
		}
	} else {
		framer := info.StreamSerializer.Framer
		events := restwatch.NewEncoder(
			streaming.NewEncoder(framer.NewFrameWriter(&body), info.StreamSerializer.Serializer), encoder)
		since, _ := strconv.Atoi(query.Get("resourceVersion"))
		send := s.log[min(since, len(s.log)):]
		if query.Get("sendInitialEvents") == "true" {
			send = nil
			for _, obj := range s.state {
				send = append(send, watch.Event{Type: watch.Added, Object: obj})
			}
			send = append(send,
				watch.Event{Type: watch.Bookmark, Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
					ResourceVersion: version,
					Annotations:     map[string]string{metav1.InitialEventsAnnotationKey: "true"},
				}}})
		}
		for _, e := range send {
			if err := events.Encode(&e); err != nil {
				return nil, err
			}
		}
	}
	var from io.Reader = &body
	switch {
	case len(s.log) < s.changes && body.Len() > 0 && s.random.Intn(2) == 0:
		s.spoil(&body)
	case len(s.log) == s.changes && query.Get("watch") != "":
		s.allSent()
		from = io.MultiReader(&body, endless{r.Context()})
	}
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Header: http.Header{"Content-Type": {s.contentType}},
		Body: io.NopCloser(from), Request: r, ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// spoil cuts a body, or inserts something that isn't JSON.
func (s *flaky) spoil(body *bytes.Buffer) {
	s.spoilt++
	at := s.random.Intn(body.Len())
	if s.contentType == runtime.ContentTypeJSON && s.random.Intn(2) == 0 {
		body.Bytes()[at] = 1
		return
	}
	body.Truncate(at)
}

// endless is a body that delivers nothing until its context ends.
type endless struct{ ctx context.Context }

func (e endless) Read([]byte) (int, error) {
	<-e.ctx.Done()
	return 0, e.ctx.Err()
}

// TestRecovery checks that only whole objects arrive from lists and watches that are cut or corrupted at any
// place, and that all of them arrive in the end.
func TestRecovery(t *testing.T) {
	seeds := int64(10)
	if testing.Short() {
		seeds = 4
	}
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		for _, lister := range []any{nil, listsOnly{}} {
			for seed := range seeds {
				t.Run(fmt.Sprintf("%s/lists only %v/%d", contentType, lister != nil, seed),
					func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) { recovery(t, contentType, lister, seed) })
					})
			}
		}
	}
}

func recovery(t *testing.T, contentType string, lister any, seed int64) {
	settled := make(chan struct{})
	s := &flaky{
		contentType: contentType, changes: 300, random: rand.New(rand.NewSource(seed)),
		state:   map[string]*corev1.ConfigMap{},
		allSent: sync.OnceFunc(func() { close(settled) }),
	}
	config := &rest.Config{Host: "http://server", QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: contentType}}
	group := client.Group{Version: corev1.SchemeGroupVersion, APIPath: "/api", Scheme: scheme.Scheme,
		Codecs: scheme.Codecs}
	c := client.NewWithList[*corev1.ConfigMap, *corev1.ConfigMapList](
		client.Must(group.RESTClient(config, &http.Client{Transport: s})), scheme.ParameterCodec,
		"configmaps", "")
	i := informer.NewShared[*corev1.ConfigMap](
		func() informer.ResourceClient[*corev1.ConfigMapList] { return c }, informer.Options{Client: lister})
	whole := func(obj any) {
		m, ok := obj.(*corev1.ConfigMap)
		if !ok {
			m = obj.(cache.DeletedFinalStateUnknown).Obj.(*corev1.ConfigMap)
		}
		if want := content(m.Name, m.ResourceVersion); m.Namespace != "ns" ||
			fmt.Sprint(m.Data) != fmt.Sprint(want) {
			t.Errorf("%s of version %s has %v", m.Name, m.ResourceVersion, m.Data)
		}
	}
	if _, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: whole, UpdateFunc: func(_, obj any) { whole(obj) }, DeleteFunc: whole,
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		i.RunWithContext(ctx)
	}()
	defer func() {
		cancel()
		<-ended
	}()
	select {
	case <-settled:
	case <-time.After(7 * 24 * time.Hour):
		t.Fatalf("after %d changes there are no more requests", len(s.log))
	}
	synctest.Wait()
	if s.spoilt < 10 {
		t.Errorf("only %d responses were spoilt", s.spoilt)
	}
	if keys := i.GetStore().ListKeys(); len(keys) != len(s.state) {
		t.Errorf("%d objects, expected %d", len(keys), len(s.state))
	}
	for name, want := range s.state {
		if obj, _, _ := i.GetStore().GetByKey("ns/" + name); obj == nil ||
			obj.(*corev1.ConfigMap).ResourceVersion != want.ResourceVersion {
			t.Errorf("%s: %v, expected version %s", name, obj, want.ResourceVersion)
		}
	}
}
