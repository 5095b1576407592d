package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/discovery"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	genericapiserver "k8s.io/apiserver/pkg/server"
)

// installDiscovery serves the groups at /apis, aggregated and plain. The extension server leaves that to an
// aggregator in front of it, but collects the content of the aggregated document.
func installDiscovery(server *genericapiserver.GenericAPIServer) {
	all := server.AggregatedDiscoveryGroupManager
	plain := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		groups, err := readGroups(all, r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		list := discovery.NewRootAPIsHandler(
			discovery.DefaultAddresses{DefaultAddress: server.ExternalAddress}, server.Serializer)
		for _, group := range groups {
			list.AddGroup(group)
		}
		list.ServeHTTP(w, r)
	})
	server.Handler.GoRestfulContainer.Add(
		aggregated.WrapAggregatedDiscoveryToHandler(plain, all, nil).
			GenerateWebService(genericapiserver.APIGroupPrefix, metav1.APIGroupList{}))
}

const acceptAggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// readGroups sends a request to the handler of the aggregated document: only HTTP gives access to the
// content.
func readGroups(all http.Handler, r *http.Request) ([]metav1.APIGroup, error) {
	ask := r.Clone(r.Context())
	ask.Header = http.Header{"Accept": {acceptAggregated}}
	answer := &response{header: http.Header{}, code: http.StatusOK}
	all.ServeHTTP(answer, ask)
	if answer.code != http.StatusOK {
		return nil, fmt.Errorf("the aggregated document answers %d: %s", answer.code, answer.body.Bytes())
	}
	var document apidiscoveryv2.APIGroupDiscoveryList
	if err := json.Unmarshal(answer.body.Bytes(), &document); err != nil {
		return nil, err
	}
	var groups []metav1.APIGroup
	for _, item := range document.Items {
		group := metav1.APIGroup{Name: item.Name}
		for _, v := range item.Versions {
			version := schema.GroupVersion{Group: item.Name, Version: v.Version}
			group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{
				GroupVersion: version.String(), Version: v.Version})
		}
		if len(group.Versions) > 0 {
			group.PreferredVersion = group.Versions[0]
			groups = append(groups, group)
		}
	}
	return groups, nil
}

// response keeps what a handler writes.
type response struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (r *response) Header() http.Header            { return r.header }
func (r *response) WriteHeader(code int)           { r.code = code }
func (r *response) Write(data []byte) (int, error) { return r.body.Write(data) }
