package apiserver

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	noopoteltrace "go.opentelemetry.io/otel/trace/noop"
	extensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	apiextensionslisters "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	generatedopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/runtime/schema"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/etcd3/metrics"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/envtest/apiserver/internal/builtins"
)

// watchGrace is how long a server that shuts down waits for watches to end.
const watchGrace = 5 * time.Second

// newAPIServer prepares the extension server over the etcd at the given address, with the built-in kinds and
// discovery. The server listens when newAPIServer returns, and serves once it is run.
func newAPIServer(
	dir, etcdAddress, address string, opts Options,
) (_ *genericapiserver.GenericAPIServer, err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			listener.Close()
		}
	}()
	o, err := serverOptions(dir, etcdAddress, listener, opts)
	if err != nil {
		return nil, err
	}
	config, err := serverConfig(o)
	if err != nil {
		return nil, fmt.Errorf("configuring the API server: %w", err)
	}
	var definitions apiextensionslisters.CustomResourceDefinitionLister // set before requests arrive
	isCustom := func(resource schema.GroupResource) bool {
		_, err := definitions.Get(resource.String())
		return err == nil
	}
	config.GenericConfig.BuildHandlerChainFunc = func(
		api http.Handler, c *genericapiserver.Config,
	) http.Handler {
		return genericapiserver.DefaultBuildHandlerChain(refuseProtobuf(api, isCustom), c)
	}
	extended, err := config.Complete().New(genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, fmt.Errorf("creating the API server: %w", err)
	}
	definitions = extended.Informers.Apiextensions().V1().CustomResourceDefinitions().Lister()
	server := extended.GenericAPIServer
	etcd := *o.RecommendedOptions.Etcd
	etcd.StorageConfig.StorageObjectCountTracker = config.GenericConfig.StorageObjectCountTracker
	if err := builtins.Install(server, etcd); err != nil {
		return nil, fmt.Errorf("installing the built-in kinds: %w", err)
	}
	installDiscovery(server)
	return server, nil
}

// serverOptions switches off everything that needs a cluster around the server: delegated authentication and
// authorization, the API of the cluster around it, admission plugins, fairness.
func serverOptions(
	dir, etcdAddress string, listener net.Listener, opts Options,
) (*options.CustomResourceDefinitionsServerOptions, error) {
	logs := opts.Logs
	if logs == nil {
		logs = io.Discard
	}
	o := options.NewCustomResourceDefinitionsServerOptions(logs, logs)

	// The default registry can be set only once in a process.
	registry := basecompatibility.NewComponentGlobalsRegistry()
	gate := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	version := compatibility.DefaultKubeEffectiveVersionForTest()
	version.SetEmulationVersion(gate.EmulationVersion())
	if err := registry.Register(basecompatibility.DefaultKubeComponent, version, gate); err != nil {
		return nil, err
	}
	if err := registry.Set(); err != nil {
		return nil, err
	}
	o.ServerRunOptions.ComponentGlobalsRegistry = registry
	// By default a server that shuts down doesn't notify watches, and waits a minute for them. With a grace
	// period it notifies them at once, and waits for that period at most.
	o.ServerRunOptions.ShutdownWatchTerminationGracePeriod = watchGrace

	r := o.RecommendedOptions
	r.Authentication, r.Authorization, r.CoreAPI, r.Admission = nil, nil, nil, nil
	r.Features.EnablePriorityAndFairness = false
	r.Etcd.StorageConfig.Transport.ServerList = []string{"http://" + etcdAddress}
	r.Etcd.EnableWatchCache = !opts.DisableWatchCache
	o.APIEnablement.RuntimeConfig = map[string]string{"api/all": "true"}

	address := listener.Addr().(*net.TCPAddr)
	r.SecureServing.Listener = listener
	r.SecureServing.BindPort = address.Port
	r.SecureServing.ExternalAddress = address.IP
	r.SecureServing.ServerCert.CertDirectory = dir
	return o, o.Complete()
}

// serverConfig does what the options' own Config method does, except for two things that Config can't leave
// out: informers of the cluster around the server, and a second certificate for the server's own client.
// Every client, before and after a restart, trusts the certificate in the server's directory.
func serverConfig(o *options.CustomResourceDefinitionsServerOptions) (*extensions.Config, error) {
	r := o.RecommendedOptions
	generic := genericapiserver.NewRecommendedConfig(extensions.Codecs)
	if err := serveSecurely(r.SecureServing.SecureServingOptions, &generic.Config); err != nil {
		return nil, err
	}
	r.SecureServing = nil
	if err := o.ServerRunOptions.ApplyTo(&generic.Config); err != nil {
		return nil, err
	}
	if err := r.ApplyTo(generic); err != nil {
		return nil, err
	}
	// The metrics of etcd are those of the server that was configured last in this process. Once that has
	// stopped, they would block every request for the metrics of another one.
	metrics.SetStorageMonitorGetter(func() ([]metrics.Monitor, error) { return nil, nil })
	if err := o.APIEnablement.ApplyTo(
		&generic.Config, extensions.DefaultAPIResourceConfigSource(), extensions.Scheme,
	); err != nil {
		return nil, err
	}
	definitions := openapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(
		builtins.Definitions(generatedopenapi.GetOpenAPIDefinitions))
	namer := openapinamer.NewDefinitionNamer(extensions.Scheme, builtins.Published())
	generic.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions, namer)
	generic.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, namer)
	generic.MaxRequestsInFlight, generic.MaxMutatingRequestsInFlight = 0, 0

	return &extensions.Config{
		GenericConfig: generic,
		ExtraConfig: extensions.ExtraConfig{
			CRDRESTOptionsGetter: options.NewCRDRESTOptionsGetter(*r.Etcd, generic.ResourceTransformers,
				generic.StorageObjectCountTracker),
			ServiceResolver: noServices{},
			AuthResolverWrapper: webhook.NewDefaultAuthenticationInfoResolverWrapper(
				nil, nil, generic.LoopbackClientConfig, noopoteltrace.NewTracerProvider()),
		},
	}, nil
}

func serveSecurely(serving *genericoptions.SecureServingOptions, config *genericapiserver.Config) error {
	if err := serving.MaybeDefaultWithSelfSignedCerts(
		"localhost", nil, []net.IP{net.IPv4(127, 0, 0, 1)},
	); err != nil {
		return err
	}
	if err := serving.ApplyTo(&config.SecureServing); err != nil {
		return err
	}
	authority, err := os.ReadFile(serving.ServerCert.CertKey.CertFile)
	if err != nil {
		return err
	}
	config.LoopbackClientConfig, err = config.SecureServing.NewClientConfig(authority)
	return err
}

// noServices refuses conversion webhooks that name a Service, since there are no Services.
type noServices struct{}

func (noServices) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	return nil, fmt.Errorf("service %s/%s:%d: this API server has no services", namespace, name, port)
}

// setLogs points klog at w. If w is nil, only errors are logged, to stderr.
func setLogs(w io.Writer) error {
	onStderr := "FATAL"
	if w == nil {
		w, onStderr = io.Discard, "ERROR"
	}
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{
		"logtostderr": "false", "stderrthreshold": onStderr, "one_output": "true",
	} {
		if err := flags.Set(name, value); err != nil {
			return err
		}
	}
	klog.SetOutput(w)
	return nil
}

func unversioned(config *rest.Config) *rest.Config {
	config.GroupVersion = nil
	config.NegotiatedSerializer = extensions.Codecs
	return config
}
