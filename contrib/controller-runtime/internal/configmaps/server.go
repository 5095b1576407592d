// Package configmaps is an API server for config maps, for tests. It has no sockets, so it works in a bubble
// of testing/synctest.
package configmaps

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// Server is an [http.RoundTripper] for all requests to one API server. Objects are sent in JSON, whole or as
// metadata. Of patches, it knows those that merge.
type Server struct {
	*runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList]
	// Lag is how much later watches send events, in a bubble. Set it before the first request.
	Lag    time.Duration
	writes sync.Mutex
}

// New returns a server without objects.
func New() *Server {
	return &Server{Server: runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()}
}

var resource = corev1.Resource("configmaps")

// Mapper returns a mapper that knows config maps.
func Mapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	return mapper
}

// Get returns a config map, or NotFound.
func (s *Server) Get(namespace, name string) (*corev1.ConfigMap, error) {
	if object, ok := s.Find(namespace, name); ok {
		return object, nil
	}
	return nil, apierrors.NewNotFound(resource, name)
}

// Change changes a config map. It can't conflict with other writes.
func (s *Server) Change(namespace, name string, change func(*corev1.ConfigMap)) {
	s.writes.Lock()
	defer s.writes.Unlock()
	object, err := s.Get(namespace, name)
	if err != nil {
		panic(err)
	}
	change(object)
	s.Update(object)
}

// RoundTrip answers a request.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	options, namespace, name := metav1.ListOptions{}, "", ""
	path, _ := strings.CutPrefix(r.URL.Path, "/api/v1/")
	if parts := strings.Split(path, "/"); len(parts) > 2 {
		namespace = parts[1]
		if len(parts) > 3 {
			name = parts[3]
		}
	}
	err := scheme.ParameterCodec.DecodeParameters(r.URL.Query(), corev1.SchemeGroupVersion, &options)
	if err != nil {
		return nil, err
	}
	e := encoder{metadata: strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")}
	switch {
	case options.Watch:
		return s.watch(r, e, namespace, options)
	case r.Method != http.MethodGet:
		object, err := s.write(r, namespace, name)
		if err == nil && r.Method == http.MethodDelete {
			return e.answer(&metav1.Status{
				Status: metav1.StatusSuccess, Details: &metav1.StatusDetails{Name: name, UID: object.UID},
			}, nil)
		}
		return e.answer(object, err)
	case name != "":
		return e.answer(s.Get(namespace, name))
	}
	list, err := s.List(r.Context(), options)
	if err == nil && namespace != "" {
		all := list.Items
		list.Items = nil
		for _, object := range all {
			if object.Namespace == namespace {
				list.Items = append(list.Items, object)
			}
		}
	}
	return e.answer(list, err)
}

// write answers a request that writes.
func (s *Server) write(r *http.Request, namespace, name string) (*corev1.ConfigMap, error) {
	var text []byte
	if r.Body != nil {
		var err error
		if text, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	s.writes.Lock()
	defer s.writes.Unlock()
	if r.Method == http.MethodPost {
		decoded, err := runtime.Decode(scheme.Codecs.UniversalDeserializer(), text)
		if err != nil {
			return nil, err
		}
		object := decoded.(*corev1.ConfigMap)
		if object.Namespace = namespace; object.Name == "" {
			return nil, apierrors.NewBadRequest("the object has no name")
		}
		if _, exists := s.Find(namespace, object.Name); exists {
			return nil, apierrors.NewAlreadyExists(resource, object.Name)
		}
		s.Create(object)
		return s.Get(namespace, object.Name)
	}
	object, err := s.Get(namespace, name)
	if err != nil {
		return nil, err
	}
	switch r.Method {
	case http.MethodDelete:
		s.Delete(namespace, name)
		return object, nil
	case http.MethodPatch:
		if err := json.Unmarshal(text, object); err != nil {
			return nil, err
		}
	default:
		decoded, err := runtime.Decode(scheme.Codecs.UniversalDeserializer(), text)
		if err != nil {
			return nil, err
		}
		old := object
		object = decoded.(*corev1.ConfigMap)
		if object.ResourceVersion != "" && old.ResourceVersion != object.ResourceVersion {
			return nil, apierrors.NewConflict(resource, name, errors.New("another version"))
		}
	}
	s.Update(object)
	return s.Get(namespace, name)
}

// watch answers with events until the request's context or the stream ends.
func (s *Server) watch(
	r *http.Request, e encoder, namespace string, options metav1.ListOptions,
) (*http.Response, error) {
	events, err := s.Watch(r.Context(), options)
	if err != nil {
		return e.answer((*corev1.ConfigMap)(nil), err)
	}
	body, out := io.Pipe()
	stop := context.AfterFunc(r.Context(), func() { _ = out.CloseWithError(r.Context().Err()) })
	go func() {
		defer stop()
		defer events.Stop()
		for event := range s.late(r.Context(), events.ResultChan()) {
			if o, ok := event.Object.(*corev1.ConfigMap); ok && event.Type != watch.Bookmark &&
				namespace != "" && o.Namespace != namespace {
				continue
			}
			w := metav1.WatchEvent{Type: string(event.Type)}
			w.Object.Raw = e.encode(event.Object)
			if json.NewEncoder(out).Encode(w) != nil {
				return
			}
		}
		_ = out.Close()
	}()
	return response(http.StatusOK, body), nil
}

// late sends each event by Lag later.
func (s *Server) late(ctx context.Context, events <-chan watch.Event) <-chan watch.Event {
	if s.Lag == 0 {
		return events
	}
	type timed struct {
		watch.Event
		due time.Time
	}
	waiting, late := make(chan timed, 100_000), make(chan watch.Event)
	go func() {
		defer close(waiting)
		for e := range events {
			waiting <- timed{e, time.Now().Add(s.Lag)}
		}
	}()
	go func() {
		defer close(late)
		for e := range waiting {
			select {
			case <-time.After(time.Until(e.due)):
			case <-ctx.Done():
				return
			}
			select {
			case late <- e.Event:
			case <-ctx.Done():
				return
			}
		}
	}()
	return late
}
