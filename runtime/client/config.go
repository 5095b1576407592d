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

// errNoBurst has upstream's text, which is all that tells it from others.
var errNoBurst = errors.New("burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0")

// Group is a group and version of an API as a clientset talks to it.
type Group struct {
	// Version is what is served.
	Version schema.GroupVersion
	// APIPath is the root that groups are served under: "/apis", and "/api"
	// for the core group.
	APIPath string
	// Scheme and Codecs are the clientset's.
	Scheme *runtime.Scheme
	Codecs serializer.CodecFactory
}

// RESTClient makes the REST client of the group. The HTTP client wins over what
// config says of transport; config itself is not changed.
func (g *Group) RESTClient(config *rest.Config, client *http.Client) (rest.Interface, error) {
	config = withUserAgent(config)
	version := g.Version
	config.APIPath, config.GroupVersion = g.APIPath, &version
	config.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(g.Scheme, g.Codecs).WithoutConversion()
	return rest.RESTClientForConfigAndClient(config, client)
}

// InternalRESTClient makes the REST client of the internal version of the group.
// It speaks the version that config names if that is of the group, else the one
// that the scheme prefers, and converts objects from and to the internal ones;
// Version.Version is not used. It is apart so that who has no internal versions
// links nothing of it.
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

// ForConfig makes an HTTP client from config and calls build with it and a copy
// of config that has a user agent. Whatever build makes shares the transport.
func ForConfig[C any](config *rest.Config, build func(*rest.Config, *http.Client) (C, error)) (C, error) {
	config = withUserAgent(config)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return *new(C), err
	}
	return build(config, client)
}

// ForGroup makes a client of a group: build is called with its REST client.
func ForGroup[C any](config *rest.Config, client *http.Client, group Group, build func(rest.Interface) C) (C, error) {
	restClient, err := group.RESTClient(config, client)
	if err != nil {
		return *new(C), err
	}
	return build(restClient), nil
}

// ForInternalGroup is [ForGroup] for the internal version of a group.
func ForInternalGroup[C any](config *rest.Config, client *http.Client, group Group, build func(rest.Interface) C) (C, error) {
	restClient, err := group.InternalRESTClient(config, client)
	if err != nil {
		return *new(C), err
	}
	return build(restClient), nil
}

// GroupClient is what makes the clients of a group version's resources: generated
// code defines types of their own of it. Its methods are safe for concurrent use.
type GroupClient struct {
	// One pointer, because generated types are comparable.
	shared *shared
}

// shared is what the clients of a group version's resources have in common.
type shared struct {
	rest   rest.Interface
	writes Writes
}

// NewGroupClient makes a GroupClient that sends requests through c.
func NewGroupClient(c rest.Interface) *GroupClient { return &GroupClient{&shared{rest: c}} }

// RESTClient returns what requests are sent through, nil for a nil GroupClient.
func (c *GroupClient) RESTClient() rest.Interface {
	if c == nil {
		return nil
	}
	return c.shared.rest
}

// Writes returns what remembers the writes of all these clients, nil for a nil
// GroupClient.
func (c *GroupClient) Writes() *Writes {
	if c == nil {
		return nil
	}
	return &c.shared.writes
}

// WithRateLimiter returns a copy of config for all clients of a clientset to
// share one rate limiter: that of config, else one of its QPS and Burst. It is
// an error to set QPS and not Burst. Without any of them each client has rest's
// default limits to itself.
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

// Must returns made, and panics with err unless it is nil.
func Must[C any](made C, err error) C {
	if err != nil {
		panic(err)
	}
	return made
}

// withUserAgent returns a copy of config that names the program to the server.
func withUserAgent(config *rest.Config) *rest.Config {
	named := *config
	if named.UserAgent == "" {
		named.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	return &named
}
