// Package shardingmetrics has Prometheus metrics of the members of package sharding. About a member itself:
//
//	sharding_acting
//	sharding_owned_ranges
//	sharding_giving_ranges
//	sharding_gained_ranges_total
//	sharding_lost_ranges_total
//	sharding_running_work
//	sharding_waiting_work
//	sharding_hung_work
//	sharding_dropped_items_total
//
// About its group, as each member knows it:
//
//	sharding_owners
//	sharding_unowned_ranges
//	sharding_unowned_objects
//
// sharding_acting is there while the member's Run runs, so that it isn't 0 for a standby. All have the labels
// group and member; sharding_dropped_items_total also has name, the queue's. member is the member's identity
// with its random suffix, so a restarted program has new series: aggregate by group. Values are computed when
// the registry is gathered.
package shardingmetrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubewright/kubewright/sharding"
)

// Member is a sharding.Member.
type Member interface {
	Identity() string
	Status() sharding.Status
}

// Queue is a queue that counts what it drops, such as sharding.Queue.
type Queue interface{ Dropped() uint64 }

// Collector is a prometheus.Collector. Its methods are safe for concurrent use.
type Collector struct {
	member  Member
	acting  *prometheus.Desc
	values  []value
	dropped *prometheus.Desc

	mu     sync.Mutex
	queues map[string][]Queue
}

// value is a metric of a member's status.
type value struct {
	*prometheus.Desc
	kind prometheus.ValueType
	read func(sharding.Status) float64
}

// New returns a collector of the metrics of a member of a group, for a registry:
//
//	registry.MustRegister(shardingmetrics.New("bakery-controller", member))
//
// A registry can have those of several members.
func New(group string, member Member) *Collector {
	c := &Collector{member: member, queues: map[string][]Queue{}}
	const subsystem = "sharding"
	labels := prometheus.Labels{"group": group, "member": member.Identity()}
	add := func(kind prometheus.ValueType, name, help string, read func(sharding.Status) float64) {
		desc := prometheus.NewDesc(prometheus.BuildFQName("", subsystem, name), help, nil, labels)
		c.values = append(c.values, value{desc, kind, read})
	}
	gauge := func(name, help string, read func(sharding.Status) int) {
		add(prometheus.GaugeValue, name, help, func(s sharding.Status) float64 { return float64(read(s)) })
	}
	counter := func(name, help string, read func(sharding.Status) uint64) {
		add(prometheus.CounterValue, name, help, func(s sharding.Status) float64 { return float64(read(s)) })
	}
	c.acting = prometheus.NewDesc(prometheus.BuildFQName("", subsystem, "acting"),
		"1 if the member may act on the ranges that it owns, 0 if it may not act at all", nil, labels)
	gauge("owned_ranges", "Ranges that the member may act on",
		func(s sharding.Status) int { return len(s.Owned) })
	gauge("giving_ranges", "Ranges that the member is asked to hand over and still has",
		func(s sharding.Status) int { return len(s.Giving) })
	gauge("running_work", "Work that the member does now", func(s sharding.Status) int { return s.Running })
	gauge("waiting_work", "Work that waits because the member may not begin it yet",
		func(s sharding.Status) int { return s.Waiting })
	gauge("hung_work", "Work that goes on though its context has ended, and keeps its range from moving",
		func(s sharding.Status) int { return len(s.Hung) })
	gauge("owners", "Members that own ranges", func(s sharding.Status) int { return s.Owners })
	gauge("unowned_ranges", "Ranges that nobody owns", func(s sharding.Status) int { return len(s.Unowned) })
	gauge("unowned_objects", "Objects in ranges that nobody owns, as they were counted last",
		func(s sharding.Status) int { return s.UnownedObjects })
	counter("gained_ranges_total", "Ranges that the member was given",
		func(s sharding.Status) uint64 { return s.Gained })
	counter("lost_ranges_total", "Ranges that were taken from the member, or that it handed over",
		func(s sharding.Status) uint64 { return s.Lost })
	c.dropped = prometheus.NewDesc(prometheus.BuildFQName("", subsystem, "dropped_items_total"),
		"Items that a queue dropped because the member doesn't own them", []string{"name"}, labels)
	return c
}

// AddQueue adds the metric of a queue. The counts of several queues of one name are added up.
func (c *Collector) AddQueue(name string, q Queue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queues[name] = append(c.queues[name], q)
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, v := range c.values {
		ch <- v.Desc
	}
	ch <- c.acting
	ch <- c.dropped
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	status := c.member.Status()
	if status.Started && !status.Left {
		acting := 0.0
		if status.Err == nil {
			acting = 1
		}
		ch <- prometheus.MustNewConstMetric(c.acting, prometheus.GaugeValue, acting)
	}
	for _, v := range c.values {
		ch <- prometheus.MustNewConstMetric(v.Desc, v.kind, v.read(status))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, queues := range c.queues {
		var dropped uint64
		for _, q := range queues {
			dropped += q.Dropped()
		}
		ch <- prometheus.MustNewConstMetric(c.dropped, prometheus.CounterValue, float64(dropped), name)
	}
}
