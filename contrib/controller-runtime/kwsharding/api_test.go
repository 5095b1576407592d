package kwsharding_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// mapServer is an API server for config maps. It is an http.RoundTripper and has no sockets, so that it works
// in a bubble.
type mapServer struct {
	*runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList]
	writes sync.Mutex
}

func newMapServer() *mapServer {
	return &mapServer{Server: runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()}
}

var mapResource = corev1.Resource("configmaps")

// get returns a config map, or NotFound.
func (s *mapServer) get(namespace, name string) (*corev1.ConfigMap, error) {
	if object, ok := s.Find(namespace, name); ok {
		return object, nil
	}
	return nil, apierrors.NewNotFound(mapResource, name)
}

// change changes a config map. It can't conflict with other writes.
func (s *mapServer) change(namespace, name string, change func(*corev1.ConfigMap)) {
	s.writes.Lock()
	defer s.writes.Unlock()
	object, err := s.get(namespace, name)
	if err != nil {
		panic(err)
	}
	change(object)
	s.Update(object)
}

// put writes a config map if it has the current version.
func (s *mapServer) put(object *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	s.writes.Lock()
	defer s.writes.Unlock()
	old, err := s.get(object.Namespace, object.Name)
	switch {
	case err != nil:
		return nil, err
	case old.ResourceVersion != object.ResourceVersion:
		return nil, apierrors.NewConflict(mapResource, object.Name, errors.New("another version"))
	}
	s.Update(object)
	return s.get(object.Namespace, object.Name)
}

func (s *mapServer) RoundTrip(r *http.Request) (*http.Response, error) {
	options, namespace, name := metav1.ListOptions{}, "", ""
	path, _ := strings.CutPrefix(r.URL.Path, "/api/v1/")
	if parts := strings.Split(path, "/"); len(parts) == 4 {
		namespace, name = parts[1], parts[3]
	}
	err := scheme.ParameterCodec.DecodeParameters(r.URL.Query(), corev1.SchemeGroupVersion, &options)
	if err != nil {
		return nil, err
	}
	switch {
	case options.Watch:
		return s.watch(r, options)
	case r.Method == http.MethodPut:
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		decoded, err := runtime.Decode(scheme.Codecs.UniversalDeserializer(), text)
		if err != nil {
			return nil, err
		}
		return answer(s.put(decoded.(*corev1.ConfigMap)))
	case name != "":
		return answer(s.get(namespace, name))
	}
	return answer(s.List(r.Context(), options))
}

// watch answers with events until the request's context or the stream ends.
func (s *mapServer) watch(r *http.Request, options metav1.ListOptions) (*http.Response, error) {
	events, err := s.Watch(r.Context(), options)
	if err != nil {
		return answer[*corev1.ConfigMap](nil, err)
	}
	body, out := io.Pipe()
	stop := context.AfterFunc(r.Context(), func() { _ = out.CloseWithError(r.Context().Err()) })
	go func() {
		defer stop()
		defer events.Stop()
		for event := range events.ResultChan() {
			e := metav1.WatchEvent{Type: string(event.Type)}
			e.Object.Raw = encode(event.Object)
			if json.NewEncoder(out).Encode(e) != nil {
				return
			}
		}
		_ = out.Close()
	}()
	return response(http.StatusOK, body), nil
}

func answer[T runtime.Object](object T, err error) (*http.Response, error) {
	if err == nil {
		return response(http.StatusOK, io.NopCloser(strings.NewReader(string(encode(object))))), nil
	}
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		return nil, err
	}
	failure := status.Status()
	return response(int(failure.Code), io.NopCloser(strings.NewReader(string(encode(&failure))))), nil
}

func response(code int, body io.ReadCloser) *http.Response {
	header := http.Header{"Content-Type": {runtime.ContentTypeJSON}}
	return &http.Response{StatusCode: code, Status: http.StatusText(code), Header: header, Body: body}
}

// encode returns an object in JSON, with its kind.
func encode(object runtime.Object) []byte {
	object = object.DeepCopyObject()
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		panic(err)
	}
	object.GetObjectKind().SetGroupVersionKind(kinds[0])
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return text
}

// leases is a client of Leases in memory.
type leases struct {
	coordination.LeaseInterface // nil: other methods than those below aren't called

	server *runtimetest.Server[*coordinationv1.Lease, *coordinationv1.LeaseList]
	mu     sync.Mutex
	down   bool
}

func newLeases() *leases {
	return &leases{server: runtimetest.NewServer[coordinationv1.Lease, coordinationv1.LeaseList]()}
}

var leaseResource = coordinationv1.Resource("leases")

// setDown begins or ends an outage.
func (l *leases) setDown(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down = down; down {
		l.server.CloseWatches()
	}
}

var errDown = errors.New("no connection")

// names are those of the Leases.
func (l *leases) names() (names []string) {
	for _, lease := range l.server.Objects() {
		names = append(names, lease.Name)
	}
	return names
}

// find returns a Lease. The caller holds mu.
func (l *leases) find(name string) (*coordinationv1.Lease, error) {
	if l.down {
		return nil, errDown
	}
	if lease, ok := l.server.Find("", name); ok {
		return lease, nil
	}
	return nil, apierrors.NewNotFound(leaseResource, name)
}

func (l *leases) Get(_ context.Context, name string, _ metav1.GetOptions) (*coordinationv1.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.find(name)
}

func (l *leases) Create(
	_ context.Context, lease *coordinationv1.Lease, _ metav1.CreateOptions,
) (*coordinationv1.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch _, err := l.find(lease.Name); {
	case err == nil:
		return nil, apierrors.NewAlreadyExists(leaseResource, lease.Name)
	case !apierrors.IsNotFound(err):
		return nil, err
	}
	l.server.Create(lease)
	return l.find(lease.Name)
}

func (l *leases) Update(
	_ context.Context, lease *coordinationv1.Lease, _ metav1.UpdateOptions,
) (*coordinationv1.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch old, err := l.find(lease.Name); {
	case err != nil:
		return nil, err
	case old.ResourceVersion != lease.ResourceVersion:
		return nil, apierrors.NewConflict(leaseResource, lease.Name, errors.New("another version"))
	}
	l.server.Update(lease)
	return l.find(lease.Name)
}

func (l *leases) Delete(_ context.Context, name string, o metav1.DeleteOptions) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	old, err := l.find(name)
	if err != nil {
		return err
	}
	if p := o.Preconditions; p != nil && p.ResourceVersion != nil && *p.ResourceVersion != old.ResourceVersion {
		return apierrors.NewConflict(leaseResource, name, errors.New("another version"))
	}
	l.server.Delete(old.Namespace, name)
	return nil
}

func (l *leases) List(ctx context.Context, o metav1.ListOptions) (*coordinationv1.LeaseList, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return nil, errDown
	}
	return l.server.List(ctx, o)
}

func (l *leases) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return nil, errDown
	}
	return l.server.Watch(ctx, o)
}
