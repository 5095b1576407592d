package cluster

import (
	"fmt"
	"net/http"
	"strings"

	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubewright/kubewright/test/lab/serve"
)

// ServeHTTP serves lists and watches, see [serve.Resource].
func (c *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k, namespace := c.find(r.URL.Path)
	if k == nil || r.Method != http.MethodGet {
		serve.NotFound(w, r)
		return
	}
	r = c.routed(r)
	if c.answersWatch(w, r) {
		return
	}
	serve.Resource{
		Version: k.GroupVersion(), Scheme: scheme.Scheme, Codecs: scheme.Codecs,
		List: k.list, Watch: k.watch,
	}.Request(w, r, namespace)
}

// find returns the type and the namespace of a path. The type is nil if the cluster doesn't serve the path.
func (c *Cluster) find(path string) (k *Kind, namespace string) {
	for _, k := range c.kinds {
		root := fmt.Sprintf("/apis/%s/%s/", k.Group, k.Version)
		if k.Group == "" {
			root = fmt.Sprintf("/api/%s/", k.Version)
		}
		rest, ours := strings.CutPrefix(path, root)
		if !ours {
			continue
		}
		if rest == k.Resource {
			return k, ""
		}
		if in, is := strings.CutPrefix(rest, "namespaces/"); is {
			if namespace, resource, _ := strings.Cut(in, "/"); resource == k.Resource {
				return k, namespace
			}
		}
	}
	return nil, ""
}
