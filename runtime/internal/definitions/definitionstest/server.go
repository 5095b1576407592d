// Package definitionstest is an API server in memory for tests of optional kinds: it serves the metadata of
// CustomResourceDefinitions, the resources of each group and version, and discovery. It works in a bubble of
// testing/synctest.
package definitionstest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// Server is the server. All methods are safe for concurrent use.
type Server struct {
	mu      sync.Mutex
	version int
	// definitions are the versions of the definitions, by name.
	definitions map[string]int
	// served are the resources of each group and version. stale are those of which discovery knows nothing.
	served   map[schema.GroupVersion]map[string]bool
	stale    map[schema.GroupVersion]bool
	streams  map[*stream]bool
	fault    func(path string) int
	plain    bool
	requests []string
}

// New returns a server that serves nothing.
func New() *Server {
	return &Server{
		version: 10, definitions: map[string]int{}, streams: map[*stream]bool{},
		served: map[schema.GroupVersion]map[string]bool{}, stale: map[schema.GroupVersion]bool{},
	}
}

// Config returns a configuration whose requests the server answers.
func (s *Server) Config() *rest.Config { return &rest.Config{Host: "http://server.test", Transport: s} }

// Define creates or changes the definition of a resource, which is served in these versions from now on.
func (s *Server) Define(resource schema.GroupResource, versions ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serveOnly(resource, versions)
	event := "ADDED"
	if s.definitions[resource.String()] != 0 {
		event = "MODIFIED"
	}
	s.version++
	s.definitions[resource.String()] = s.version
	s.send(event, resource.String(), s.version)
}

// Delete deletes the definition of a resource, which isn't served from now on.
func (s *Server) Delete(resource schema.GroupResource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serveOnly(resource, nil)
	s.version++
	delete(s.definitions, resource.String())
	s.send("DELETED", resource.String(), s.version)
}

// Serve serves a resource in these versions only, without a change of its definition.
func (s *Server) Serve(resource schema.GroupResource, versions ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serveOnly(resource, versions)
}

func (s *Server) serveOnly(resource schema.GroupResource, versions []string) {
	for version, resources := range s.served {
		if version.Group == resource.Group && !slices.Contains(versions, version.Version) {
			if delete(resources, resource.Resource); len(resources) == 0 {
				delete(s.served, version)
			}
		}
	}
	for _, version := range versions {
		at := schema.GroupVersion{Group: resource.Group, Version: version}
		if s.served[at] == nil {
			s.served[at] = map[string]bool{}
		}
		s.served[at][resource.Resource] = true
	}
}

// Serves reports whether a resource is served.
func (s *Server) Serves(resource schema.GroupVersionResource) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served[resource.GroupVersion()][resource.Resource]
}

// Stale makes discovery know nothing of a group and version, as if its backend were down.
func (s *Server) Stale(version schema.GroupVersion, stale bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale[version] = stale
}

// Plain makes discovery answer without resources, as before Kubernetes 1.26.
func (s *Server) Plain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plain = true
}

// Fault sets a function from the path of a request to the status of its answer, 0 for the true answer.
func (s *Server) Fault(fault func(path string) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// ForbidDefinitions forbids requests for definitions, and ends the watches of them.
func (s *Server) ForbidDefinitions() {
	s.Fault(func(path string) int {
		if path == definitionsPath {
			return http.StatusForbidden
		}
		return 0
	})
	s.CloseWatches()
}

// CloseWatches ends all watches.
func (s *Server) CloseWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for open := range s.streams {
		open.end()
	}
}

// Requests returns the requests since the last call: the paths, "LIST" or "WATCH" for definitions.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	return requests
}

// RoundTrip answers a request.
func (s *Server) RoundTrip(request *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path, query := request.URL.Path, request.URL.Query()
	name := path
	switch {
	case path == definitionsPath && query.Get("watch") != "":
		name = "WATCH"
	case path == definitionsPath:
		name = "LIST"
	}
	s.requests = append(s.requests, name)
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	if s.fault != nil {
		if status := s.fault(path); status != 0 {
			return failure(request, status), nil
		}
	}
	switch {
	case name == "WATCH":
		return s.watch(request, query.Get("sendInitialEvents") == "true"), nil
	case name == "LIST":
		return s.list(request), nil
	case path == "/apis":
		return s.discovery(request), nil
	default:
		return s.resources(request, strings.TrimPrefix(path, "/apis/")), nil
	}
}

func (s *Server) resources(request *http.Request, path string) *http.Response {
	version, err := schema.ParseGroupVersion(path)
	resources := s.served[version]
	if err != nil || resources == nil {
		return failure(request, http.StatusNotFound)
	}
	list := metav1.APIResourceList{GroupVersion: version.String()}
	list.Kind, list.APIVersion = "APIResourceList", "v1"
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: name})
	}
	return answer(request, http.StatusOK, list)
}

func (s *Server) discovery(request *http.Request) *http.Response {
	versions := map[string][]any{}
	groups := []metav1.APIGroup{}
	for version, resources := range s.served {
		if s.stale[version] {
			continue
		}
		var served []any
		for _, name := range slices.Sorted(maps.Keys(resources)) {
			served = append(served, map[string]any{"resource": name})
		}
		versions[version.Group] = append(versions[version.Group],
			map[string]any{"version": version.Version, "freshness": "Current", "resources": served})
		groups = append(groups, metav1.APIGroup{Name: version.Group,
			Versions: []metav1.GroupVersionForDiscovery{{Version: version.Version}}})
	}
	if s.plain {
		return answer(request, http.StatusOK, map[string]any{"kind": "APIGroupList", "groups": groups})
	}
	for version, stale := range s.stale {
		if stale {
			versions[version.Group] = append(versions[version.Group],
				map[string]any{"version": version.Version, "freshness": "Stale"})
		}
	}
	items := []any{}
	for _, group := range slices.Sorted(maps.Keys(versions)) {
		items = append(items, map[string]any{
			"metadata": map[string]any{"name": group}, "versions": versions[group]})
	}
	document := answer(request, http.StatusOK, map[string]any{"kind": "APIGroupDiscoveryList", "items": items})
	etag := fmt.Sprintf("%q", fmt.Sprint(items))
	document.Header.Set("ETag", etag)
	if request.Header.Get("If-None-Match") == etag {
		return answer(request, http.StatusNotModified, nil)
	}
	return document
}

func definition(kind, name string, version int) map[string]any {
	return map[string]any{
		"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": map[string]any{
			"name": name, "resourceVersion": fmt.Sprint(version), "annotations": map[string]any{kind: "x"}}}
}

func (s *Server) list(request *http.Request) *http.Response {
	items := []any{}
	for _, name := range slices.Sorted(maps.Keys(s.definitions)) {
		items = append(items, definition("listed", name, s.definitions[name]))
	}
	return answer(request, http.StatusOK, map[string]any{
		"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "items": items,
		"metadata": map[string]any{"resourceVersion": fmt.Sprint(s.version)}})
}

func answer(request *http.Request, status int, body any) *http.Response {
	recorder := httptest.NewRecorder()
	recorder.Header().Set("Content-Type", "application/json")
	recorder.WriteHeader(status)
	if status != http.StatusNotModified {
		_ = json.NewEncoder(recorder).Encode(body)
	}
	response := recorder.Result()
	response.Request = request
	return response
}

func failure(request *http.Request, status int) *http.Response {
	return answer(request, status, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: int32(status), Message: http.StatusText(status), Reason: map[int]metav1.StatusReason{
			http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusNotFound: metav1.StatusReasonNotFound,
			http.StatusServiceUnavailable: metav1.StatusReasonServiceUnavailable,
		}[status]})
}

// stream is an open watch. Its events wait in a queue, because the client may read slowly.
type stream struct {
	mu     sync.Mutex
	more   *sync.Cond
	events []any
	ended  bool
}

// watch opens a watch, from the current state.
func (s *Server) watch(request *http.Request, initial bool) *http.Response {
	open := &stream{}
	open.more = sync.NewCond(&open.mu)
	s.streams[open] = true
	if initial {
		for _, name := range slices.Sorted(maps.Keys(s.definitions)) {
			open.put("ADDED", definition("initial", name, s.definitions[name]))
		}
		end := definition("end", "", s.version)
		end["metadata"].(map[string]any)["annotations"] = map[string]any{metav1.InitialEventsAnnotationKey: "true"}
		open.put("BOOKMARK", end)
	}
	read, write := io.Pipe()
	stop := func() {
		open.end()
		_ = read.CloseWithError(request.Context().Err())
	}
	unwatched := make(chan struct{})
	go func() { // Ends with the watch, or with the client's request.
		defer close(unwatched)
		open.writeTo(write)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.streams, open)
	}()
	go func() {
		bookmarks := time.NewTicker(time.Minute)
		defer bookmarks.Stop()
		for {
			select {
			case <-bookmarks.C:
				s.bookmark(open)
			case <-request.Context().Done():
				stop()
				return
			case <-unwatched:
				return
			}
		}
	}()
	return &http.Response{StatusCode: http.StatusOK, Request: request, Body: body{read, open.end},
		Header: http.Header{"Content-Type": {"application/json"}}}
}

func (s *Server) bookmark(open *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	open.put("BOOKMARK", definition("bookmark", "", s.version))
}

// body ends the watch when it is closed.
type body struct {
	*io.PipeReader
	end func()
}

func (b body) Close() error {
	b.end()
	return b.PipeReader.Close()
}

func (s *Server) send(event, name string, version int) {
	for open := range s.streams {
		open.put(event, definition("event", name, version))
	}
}

func (o *stream) put(event string, object any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events = append(o.events, map[string]any{"type": event, "object": object})
	o.more.Broadcast()
}

func (o *stream) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	o.more.Broadcast()
}

// next waits for an event. It returns nil at the end.
func (o *stream) next() any {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.events) == 0 {
		if o.ended {
			return nil
		}
		o.more.Wait()
	}
	event := o.events[0]
	o.events = o.events[1:]
	return event
}

func (o *stream) writeTo(w *io.PipeWriter) {
	defer w.Close()
	for event := o.next(); event != nil; event = o.next() {
		if json.NewEncoder(w).Encode(event) != nil {
			return
		}
	}
}
