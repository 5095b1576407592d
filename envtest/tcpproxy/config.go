package tcpproxy

import (
	"net/url"
	"testing"

	"k8s.io/client-go/rest"
)

// Before starts a proxy in front of config's API server. It returns a config that connects through the proxy,
// which runs until the test ends.
func Before(t testing.TB, config *rest.Config) (*rest.Config, *Proxy) {
	t.Helper()
	host, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(host.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	config = rest.CopyConfig(config)
	config.Host = "https://" + p.Addr()
	return config, p
}
