package sharding

import (
	"github.com/kubewright/kubewright/runtime/shard"
	"strings"
	"testing"
	"time"
)

func TestConfig(t *testing.T) {
	complete := func() Config {
		return Config{
			Leases: newServer().Client(nil), Group: "bakers", Identity: "a", Kinds: []string{"pods"},
			Hashes: func(shard.Range) ([]uint64, bool) { return nil, true },
		}
	}
	m, err := NewMember(complete())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(m.Identity(), "a-") || len(m.Identity()) != len("a-12345") {
		t.Errorf("identity %s", m.Identity())
	}
	if c := m.config; c.LeaseDuration != 15*time.Second || c.RenewDeadline != 10*time.Second ||
		c.RetryPeriod != 2*time.Second || c.Field != shard.ByNamespace {
		t.Errorf("defaults %+v", c)
	}
	for want, change := range map[string]func(*Config){
		"Config.Leases is nil":                    func(c *Config) { c.Leases = nil },
		"Config.Informers and Config.Hashes":      func(c *Config) { c.Hashes = nil },
		"name no Lease":                           func(c *Config) { c.Group = "" },
		"name no Lease: a lowercase":              func(c *Config) { c.Identity = "A b" },
		"name no Lease: must be no more than 63":  func(c *Config) { c.Group = strings.Repeat("g", 64) },
		"name no Lease: a valid label":            func(c *Config) { c.Group = "bakers-" },
		"names the Lease of an election":          func(c *Config) { c.Group = "bakers-balancer" },
		"doesn't name the resources":              func(c *Config) { c.Kinds = nil },
		`["a b"] doesn't name the resources`:      func(c *Config) { c.Kinds = []string{"a b"} },
		"neither ByNamespace nor ByUID":           func(c *Config) { c.Field = "metadata.name" },
		"isn't at least 1.25 times RenewDeadline": func(c *Config) { c.LeaseDuration = 12 * time.Second },
		"leaves no time to renew twice":           func(c *Config) { c.RetryPeriod = 6 * time.Second },
	} {
		c := complete()
		change(&c)
		if _, err := NewMember(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
