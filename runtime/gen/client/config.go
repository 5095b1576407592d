package client

import (
	"errors"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

// errNoBurst has upstream's text, which is all that a program can recognise it by.
var errNoBurst = errors.New(
	"burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0")

// Group describes how a clientset talks to a group and version of an API.
type Group struct {
	// Version is the group and version.
	Version schema.GroupVersion
	// APIPath is the root of the group's URLs: "/api" for the core group, else "/apis".
	APIPath string
	// Scheme and Codecs are those of the clientset.
	Scheme *runtime.Scheme
	Codecs serializer.CodecFactory
}

// RESTClient returns a REST client of the group. It uses client's transport, not config's,
// and doesn't modify config.
func (g *Group) RESTClient(config *rest.Config, client *http.Client) (rest.Interface, error) {
	config = withUserAgent(config)
	version := g.Version
	config.APIPath, config.GroupVersion = g.APIPath, &version
	config.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(g.Scheme, g.Codecs).WithoutConversion()
	return rest.RESTClientForConfigAndClient(config, client)
}

// InternalRESTClient returns a REST client of the internal version of the group. It sends requests for
// config's GroupVersion if that is of the group, otherwise for the version that the scheme prefers, and
// converts objects from and to the internal version. It ignores g.Version.Version. It is a separate method so
// that clientsets without internal versions don't link it.
func (g *Group) InternalRESTClient(config *rest.Config, client *http.Client) (rest.Interface, error) {
	config = withUserAgent(config)
	config.APIPath = g.APIPath
	config.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(g.Scheme, g.Codecs)
	preferred := g.Scheme.PrioritizedVersionsForGroup(g.Version.Group)[0]
	if config.GroupVersion == nil || config.GroupVersion.Group != preferred.Group {
		config.GroupVersion = &preferred
	}
	return rest.RESTClientForConfigAndClient(config, client)
}

// ForConfig makes an HTTP client from config and calls build with it and a copy of config
// that has a user agent. All clients that build makes share the transport.
func ForConfig[C any](config *rest.Config, build func(*rest.Config, *http.Client) (C, error)) (C, error) {
	config = withUserAgent(config)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return *new(C), err
	}
	return build(config, client)
}

// ForGroup makes a client of a group by calling build with the group's REST client.
func ForGroup[C any](
	config *rest.Config, client *http.Client, group Group, build func(rest.Interface) C,
) (C, error) {
	restClient, err := group.RESTClient(config, client)
	if err != nil {
		return *new(C), err
	}
	return build(restClient), nil
}

// ForInternalGroup is [ForGroup] for the internal version of a group.
func ForInternalGroup[C any](
	config *rest.Config, client *http.Client, group Group, build func(rest.Interface) C,
) (C, error) {
	restClient, err := group.InternalRESTClient(config, client)
	if err != nil {
		return *new(C), err
	}
	return build(restClient), nil
}

// GroupClient makes the clients of a group version's resources. Generated code defines a
// type of its own for each group version. Its methods are safe for concurrent use.
type GroupClient struct {
	// It is a pointer because generated types must be comparable.
	shared *shared
}

// shared is the state that the clients of a group version's resources share.
type shared struct {
	rest   rest.Interface
	writes Writes
}

// NewGroupClient returns a GroupClient that sends requests through c.
func NewGroupClient(c rest.Interface) *GroupClient { return &GroupClient{&shared{rest: c}} }

// RESTClient returns the client that sends the requests, or nil for a nil GroupClient.
func (c *GroupClient) RESTClient() rest.Interface {
	if c == nil {
		return nil
	}
	return c.shared.rest
}

// Writes returns the record of the writes of all these clients, or nil for a nil GroupClient.
func (c *GroupClient) Writes() *Writes {
	if c == nil {
		return nil
	}
	return &c.shared.writes
}

// WithRateLimiter returns a copy of config with a rate limiter that all clients of a clientset share:
// config's own, else one with its QPS and Burst. It returns an error if QPS is set and Burst isn't. If config
// sets none of the three, the copy has none either, and each client gets a limiter of its own with package
// rest's default limits.
func WithRateLimiter(config *rest.Config) (*rest.Config, error) {
	shared := *config
	if shared.RateLimiter == nil && shared.QPS > 0 {
		if shared.Burst <= 0 {
			return nil, errNoBurst
		}
		shared.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(shared.QPS, shared.Burst)
	}
	return &shared, nil
}

// Must returns made if err is nil, and otherwise panics with err.
func Must[C any](made C, err error) C {
	if err != nil {
		panic(err)
	}
	return made
}

// withUserAgent returns a copy of config that has a user agent.
func withUserAgent(config *rest.Config) *rest.Config {
	named := *config
	if named.UserAgent == "" {
		named.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	return &named
}
