// Package builtins adds ConfigMaps, Secrets, Namespaces, Events and Leases to a generic API server.
// Kubernetes' own implementation of them is in a module that isn't meant to be imported.
//
// Each kind has a few rules: how objects are prepared and validated before they are stored. Everything else
// is upstream's generic registry over etcd.
package builtins

import (
	"errors"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
)

// Install adds the kinds to a server that isn't running yet. Their objects are kept in the given etcd. The
// server's OpenAPI configuration must include [Definitions] and the names of [Published].
func Install(server *genericapiserver.GenericAPIServer, etcd genericoptions.EtcdOptions) error {
	scheme := newScheme()
	codecs := serializer.NewCodecFactory(scheme)
	storedAs := func(version schema.GroupVersion) generic.RESTOptionsGetter {
		config := etcd.StorageConfig
		config.Codec = codec{codecs.LegacyCodec(version)}
		config.EncodeVersioner = version
		return etcd.CreateRESTOptionsGetter(&genericoptions.SimpleStorageFactory{StorageConfig: config}, nil)
	}
	group := func(
		version schema.GroupVersion, resources map[string]rest.Storage,
	) *genericapiserver.APIGroupInfo {
		info := genericapiserver.NewDefaultAPIGroupInfo(version.Group, scheme, metav1.ParameterCodec, codecs)
		info.VersionedResourcesStorageMap[version.Version] = resources
		return &info
	}

	var errs []error
	built := func(s *store, err error) rest.Storage {
		errs = append(errs, err)
		return s
	}
	core := storedAs(corev1.SchemeGroupVersion)
	// Both groups show the same Events, as Kubernetes' do.
	events := built(newStore(scheme, eventRules, core))
	coreResources := map[string]rest.Storage{
		"configmaps": built(newStore(scheme, configMapRules, core)),
		"secrets":    built(newStore(scheme, secretRules, core)),
		"namespaces": built(newStore(scheme, namespaceRules, core)),
		"events":     events,
	}
	leases := built(newStore(scheme, leaseRules, storedAs(coordinationv1.SchemeGroupVersion)))
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := server.InstallLegacyAPIGroup(
		genericapiserver.DefaultLegacyAPIPrefix, group(corev1.SchemeGroupVersion, coreResources),
	); err != nil {
		return err
	}
	return server.InstallAPIGroups(
		group(coordinationv1.SchemeGroupVersion, map[string]rest.Storage{"leases": leases}),
		group(eventsv1.SchemeGroupVersion, map[string]rest.Storage{"events": events}),
	)
}
