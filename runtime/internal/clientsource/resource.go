package clientsource

import (
	"net/http"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubewright/kubewright/runtime/internal/observe"
)

// requested is the resource that a source requests, as far as a transport sees the requests. It is safe for
// concurrent use.
type requested struct {
	mu       sync.Mutex
	resource schema.GroupVersionResource
	// scope is what was requested of the resource. seen means that a transport saw a request, so that the
	// scope is that of a request and not only of its options.
	scope observe.Scope
	seen  bool
	// several means that the source requests several resources: then none is its own.
	several bool
	// dropSent means that the last request asked the server to leave metadata.managedFields out.
	dropSent bool
}

// note notes the resource of a request of the source, and whether the server is asked to leave
// metadata.managedFields out.
func (r *requested) note(req *http.Request, drop bool) {
	if r == nil {
		return
	}
	resource, namespace, ok := requestOf(req)
	if !ok {
		return
	}
	query := req.URL.Query()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropSent = drop
	if r.seen && r.scope.Namespace != namespace {
		namespace = "" // It requests several.
	}
	r.seen, r.scope = true, observe.Scope{
		Namespace: namespace, Labels: query.Get("labelSelector"), Fields: query.Get("fieldSelector"),
	}
	switch {
	case r.several || r.resource == resource:
	case r.resource.Empty():
		r.resource = resource
	default:
		r.several, r.resource = true, schema.GroupVersionResource{}
	}
}

func (r *requested) get() (resource schema.GroupVersionResource, dropSent bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.resource, r.dropSent
}

// requestOf returns the resource that a request lists or watches, and its namespace. ok is false for other
// requests.
func requestOf(req *http.Request) (resource schema.GroupVersionResource, namespace string, ok bool) {
	if req.Method != http.MethodGet {
		return resource, "", false
	}
	return resourceIn(req.URL.Path)
}

// plan notes the selectors in the options of a request, which no transport may see.
func (r *requested) plan(opts *metav1.ListOptions) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.seen {
		r.scope.Labels, r.scope.Fields = opts.LabelSelector, opts.FieldSelector
	}
}

// scoped returns the scope of the requests.
func (r *requested) scoped() observe.Scope {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.scope
}

// resourceIn returns the resource that a path of an API server lists or watches, and its namespace. ok is
// false for paths of other forms than these, behind any prefix:
//
//	/api/v1/pods
//	/api/v1/namespaces/shop/pods
//	/apis/apps/v1/deployments
//	/apis/apps/v1/namespaces/shop/deployments
//
// It searches from the end, because a prefix may contain the same words.
func resourceIn(path string) (resource schema.GroupVersionResource, namespace string, ok bool) {
	steps := strings.Split(strings.Trim(path, "/"), "/")
	for i := len(steps) - 1; i >= 0; i-- {
		rest := steps[i+1:]
		group, within := "", ""
		switch {
		case steps[i] == "api":
		case steps[i] == "apis" && len(rest) > 0:
			group, rest = rest[0], rest[1:]
		default:
			continue
		}
		if len(rest) == 0 {
			continue
		}
		version, rest := rest[0], rest[1:]
		if len(rest) > 1 && rest[0] == "watch" { // A form of old clients.
			rest = rest[1:]
		}
		if len(rest) == 3 && rest[0] == "namespaces" {
			within, rest = rest[1], rest[2:]
		}
		if len(rest) == 1 && rest[0] != "" {
			return schema.GroupVersionResource{Group: group, Version: version, Resource: rest[0]}, within, true
		}
	}
	return resource, "", false
}
