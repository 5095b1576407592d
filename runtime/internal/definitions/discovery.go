package definitions

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/served"
)

// acceptDiscovery asks for the aggregated document, which has all groups, versions and resources. Servers
// before 1.26 send the groups and versions only.
const acceptDiscovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

// document is the part of a discovery that counts: metav1.APIGroupList, or the types of
// k8s.io/api/apidiscovery.
type document struct {
	Kind  string `json:"kind"`
	Items []struct {
		metav1.ObjectMeta `json:"metadata"`
		Versions          []struct {
			Version   string `json:"version"`
			Freshness string `json:"freshness"`
			Resources []struct {
				Resource string `json:"resource"`
			} `json:"resources"`
		} `json:"versions"`
	} `json:"items"`
	Groups []metav1.APIGroup `json:"groups"`
}

// content is what a discovery says.
type content struct {
	groups map[string][]versionContent
	// whole is false if parts are missing, because backends are down.
	whole bool
}

// versionContent is a version of a group. unclear is set if its resources aren't known.
type versionContent struct {
	version   string
	resources []string
	unclear   bool
}

// finding is what a discovery says of a kind: whether it is served, and in which versions.
type finding struct {
	answer   served.Answer
	versions []string
	whole    bool
}

// discover sends a discovery, and tells all kinds what it says.
func (r *run) discover(ctx context.Context) {
	began := time.Now()
	found, err := r.findings(ctx)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		klog.FromContext(ctx).V(2).Info("A discovery of optional kinds has failed", "err", err)
	}
	r.mu.Lock()
	defer r.unlock()
	r.discovering = false
	defer r.awake()
	for _, k := range r.kinds {
		f, ok := found[k]
		if !ok && err == nil {
			// Observed since the request, so nothing is known of it. If it wants one, it sends another.
			continue
		}
		if ok && f.answer != served.Unclear {
			k.versions = f.versions
		}
		r.tellLocked(k, func(m *served.Kind, now time.Time) {
			m.Discovered(began, now, f.answer, f.whole)
		})
	}
}

// findings sends a discovery for the kinds that are observed.
func (r *run) findings(ctx context.Context) (map[*kind]finding, error) {
	r.mu.Lock()
	kinds, etag, added := slices.Collect(maps.Values(r.kinds)), r.etag, r.added
	r.mu.Unlock()
	answer, err := r.set.fetch(ctx, "/apis", acceptDiscovery, etag)
	if err != nil {
		return nil, err
	}
	if answer.status == http.StatusNotModified {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.found, nil
	}
	if answer.status != http.StatusOK {
		return nil, errors.New("the server has no discovery")
	}
	all, err := r.read(ctx, answer.body, kinds)
	if err != nil {
		return nil, err
	}
	found := map[*kind]finding{}
	for _, k := range kinds {
		found[k] = all.find(k.resource)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.etag, r.found = "", found
	if all.whole && r.added == added {
		r.etag = answer.etag
	}
	return found, nil
}

// read reads a discovery. What it lacks for the kinds is requested: the resources of their groups if the
// document isn't an aggregated one, and the core group.
func (r *run) read(ctx context.Context, body []byte, kinds []*kind) (*content, error) {
	var d document
	if err := json.Unmarshal(body, &d); err != nil {
		return nil, err
	}
	all := &content{groups: map[string][]versionContent{}, whole: true}
	switch d.Kind {
	case "APIGroupDiscoveryList":
		for _, group := range d.Items {
			for _, v := range group.Versions {
				// A stale version is one whose backend doesn't answer.
				one := versionContent{version: v.Version, unclear: v.Freshness == "Stale"}
				for _, resource := range v.Resources {
					one.resources = append(one.resources, resource.Resource)
				}
				all.whole = all.whole && !one.unclear
				all.groups[group.Name] = append(all.groups[group.Name], one)
			}
		}
	case "APIGroupList":
		for _, group := range d.Groups {
			isWanted := slices.ContainsFunc(kinds, func(k *kind) bool { return k.resource.Group == group.Name })
			for _, v := range group.Versions {
				if isWanted {
					r.readVersion(ctx, all, schema.GroupVersion{Group: group.Name, Version: v.Version})
				}
			}
		}
	default:
		return nil, errors.New("the discovery is of no known kind")
	}
	for _, k := range kinds {
		if k.resource.Group == "" && !slices.ContainsFunc(all.groups[""], func(v versionContent) bool {
			return v.version == k.resource.Version
		}) {
			r.readVersion(ctx, all, k.resource.GroupVersion())
		}
	}
	return all, nil
}

func (r *run) readVersion(ctx context.Context, all *content, version schema.GroupVersion) {
	names, err := r.set.resources(ctx, version)
	all.groups[version.Group] = append(all.groups[version.Group],
		versionContent{version: version.Version, resources: names, unclear: err != nil})
	all.whole = all.whole && err == nil
}

// find returns what a discovery says of a resource.
func (c *content) find(resource schema.GroupVersionResource) finding {
	f := finding{answer: served.Lacks, whole: c.whole}
	for _, v := range c.groups[resource.Group] {
		serves := slices.Contains(v.resources, resource.Resource)
		if serves {
			f.versions = append(f.versions, v.version)
		}
		switch {
		case v.version != resource.Version:
		case v.unclear:
			f.answer = served.Unclear
		case serves:
			f.answer = served.Serves
		}
	}
	return f
}
