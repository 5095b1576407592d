// Package eyesmetrics has Prometheus metrics of what package eyes sees.
package eyesmetrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/runtime/informer"
)

// New returns a collector of what an Eyes sees, for a registry:
//
//	registry.MustRegister(eyesmetrics.New(e))
//
// Its metrics are kubewright_informer_*, kubewright_handler_*, kubewright_queue_* and kubewright_findings.
// Their labels are the name that was given to Add (source), group, version, resource and form of an
// informer, the name of a handler, or its type and where it was added, a state, a reason in a word, and the
// kind of a finding: never a namespace, key, selector or text of an error. Informers with the same labels
// are one series: objects, counts, backlogs and buckets add up, of ages the worst counts, and it has synced
// if all have. What isn't known has no series. A count may go down when an informer is removed, as it does
// when a program starts anew. Folder monitoring of the module has alerts and a dashboard that use them.
func New(e *eyes.Eyes) prometheus.Collector { return collector{e} }

type collector struct{ eyes *eyes.Eyes }

// family is a metric of the collector.
type family struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	// merge is how the values of a series become one.
	merge func(a, b float64) float64
}

var (
	sum     = func(a, b float64) float64 { return a + b }
	highest = func(a, b float64) float64 { return max(a, b) }
	lowest  = func(a, b float64) float64 { return min(a, b) }

	families []*family

	ofInformer = []string{"source", "group", "version", "resource", "form"}
	ofHandler  = append(append([]string{}, ofInformer...), "handler")
	ofQueue    = []string{"source"}

	informerSynced  = gauge("informer_synced", "Whether the cache holds a complete list", lowest, ofInformer)
	informerState   = gauge("informer_state", "Informers in a state", sum, append(ofInformer[:5:5], "state"))
	informerObjects = gauge("informer_objects", "Objects in the cache", sum, ofInformer)
	informerFails   = gauge("informer_failures", "Failures in a row", highest, ofInformer)
	informerFailing = gauge("informer_failing_seconds", "How long lists or watches have failed", highest,
		ofInformer)
	informerFailed = gauge("informer_failing", "Informers that have failed twice in a row or more, by reason",
		sum, append(ofInformer[:5:5], "reason"))
	informerUnsynced = gauge("informer_unsynced_seconds",
		"How long an informer that runs and doesn't fail has been without its first complete list", highest,
		ofInformer)
	informerListing = gauge("informer_listing_seconds",
		"How long an informer that has synced and doesn't fail has had a list under way", highest, ofInformer)
	informerSilent = gauge("informer_silent_seconds",
		"How long an open watch that has delivered bookmarks delivers nothing", highest, ofInformer)
	informerThird = gauge("informer_third_list_seconds", "How long ago the last list but two became visible",
		lowest, ofInformer)
	informerLists   = counter("informer_lists_total", "Lists that became visible", ofInformer)
	informerWatches = counter("informer_watches_total", "Watches that were opened", ofInformer)

	informerMutations = counter("informer_mutations_total",
		"Cached objects that were found to be modified by someone they are shared with, where they are looked for",
		ofInformer)

	handlerBacklog   = gauge("handler_backlog", "Notifications that wait for the handler", sum, ofHandler)
	handlerDelivered = counter("handler_notifications_total", "Notifications that the handler was given",
		ofHandler)
	handlerPanics = counter("handler_panics_total", "Panics of the handler that were contained", ofHandler)

	queueReady     = gauge("queue_ready", "Items that wait for a worker", sum, ofQueue)
	queueInProcess = gauge("queue_in_process", "Items that are with a worker", sum, ofQueue)
	queueParked    = gauge("queue_parked", "Items that the queue's gate holds back", sum, ofQueue)
	queueDelayed   = gauge("queue_delayed", "Items whose delay isn't over", sum, ofQueue)
	queueHandedOut = counter("queue_handed_out_total", "Items that were handed out", ofQueue)
	queueFailing   = gauge("queue_failing",
		"Items in the queue that were requeued with back-off twelve times in a row or more", sum, ofQueue)
	queueLate = counter("queue_late_total",
		"Items that were handed out though a cache didn't show their own writes", ofQueue)
	queueStalled = gauge("queue_stalled_seconds",
		"How long items have been ready in each look, and none was handed out", highest, ofQueue)
	queueRunning = gauge("queue_longest_running_seconds",
		"How long the oldest item that is with a worker has been there", highest, ofQueue)
	queueWaiting = gauge("queue_oldest_waiting_seconds", "How long the oldest item has waited", highest, ofQueue)

	findings = gauge("findings", "What doesn't work, by kind", sum, []string{"source", "kind"})
)

func gauge(name, help string, merge func(a, b float64) float64, labels []string) *family {
	return newFamily(name, help, prometheus.GaugeValue, merge, labels)
}

func counter(name, help string, labels []string) *family {
	return newFamily(name, help, prometheus.CounterValue, sum, labels)
}

func newFamily(
	name, help string, kind prometheus.ValueType, merge func(a, b float64) float64, labels []string,
) *family {
	f := &family{prometheus.NewDesc("kubewright_"+name, help, labels, nil), kind, merge}
	families = append(families, f)
	return f
}

func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range families {
		ch <- f.desc
	}
	ch <- informerLag
}

func (c collector) Collect(ch chan<- prometheus.Metric) {
	all, lag := series{}, lags{}
	s := c.eyes.Snapshot()
	for n := range s.Informers {
		i := &s.Informers[n]
		all.addInformer(i, s.Taken)
		lag.add(i.Lag, labelsOf(i)...)
	}
	for n := range s.Queues {
		all.addQueue(&s.Queues[n], s.Taken)
	}
	for _, f := range s.Findings {
		all.add(findings, 1, f.Source, f.Kind)
	}
	lag.collect(ch)
	for at, value := range all {
		ch <- prometheus.MustNewConstMetric(at.desc, at.kind, value, strings.Split(at.labels, "\x00")...)
	}
}

// series are the values of a scrape.
type series map[place]float64

type place struct {
	*family
	labels string
}

func (all series) add(f *family, value float64, labels ...string) {
	at := place{f, joined(labels)}
	if before, ok := all[at]; ok {
		value = f.merge(before, value)
	}
	all[at] = value
}

// joined returns labels as a key of a map, valid for metrics.
func joined(labels []string) string {
	var b strings.Builder
	for n, l := range labels {
		if n > 0 {
			b.WriteByte(0)
		}
		b.WriteString(strings.ReplaceAll(strings.ToValidUTF8(l, "?"), "\x00", "?"))
	}
	return b.String()
}

// labelsOf returns the values of ofInformer.
func labelsOf(i *eyes.Informer) []string {
	return []string{i.Source, i.Group, i.Version, i.Resource, i.Form}
}

func (all series) addInformer(i *eyes.Informer, now time.Time) {
	labels := labelsOf(i)
	and := func(label string) []string { return append(labels[:5:5], label) }
	synced := 0.0
	if i.Synced {
		synced = 1
	}
	all.add(informerSynced, synced, labels...)
	if i.Unread != "" {
		return
	}
	all.add(informerState, 1, and(i.State)...)
	all.add(informerObjects, float64(i.Objects), labels...)
	all.add(informerFails, float64(i.Failures), labels...)
	failing := 0.0
	if !i.FailingSince.IsZero() {
		failing = now.Sub(i.FailingSince).Seconds()
	}
	all.add(informerFailing, failing, labels...)
	if i.State != string(informer.Idle) && i.State != string(informer.Stopped) {
		all.addRunning(i, now, labels)
	}
	if i.State == string(informer.Watching) && !i.LastBookmark.IsZero() {
		quiet := now.Sub(i.LastEvent)
		if !i.Since.IsZero() {
			quiet = min(quiet, now.Sub(i.Since)) // the watch is newer than what the one before delivered
		}
		all.add(informerSilent, quiet.Seconds(), labels...)
	}
	all.add(informerLists, float64(i.Lists), labels...)
	if i.Mutations != nil {
		all.add(informerMutations, float64(*i.Mutations), labels...)
	}
	all.add(informerWatches, float64(i.Watches), labels...)
	for _, h := range i.Handlers {
		name := h.Name
		if h.At != "" { // Others may have that type or function, too.
			name += " (" + h.At + ")"
		}
		all.add(handlerBacklog, float64(h.Backlog), and(name)...)
		all.add(handlerDelivered, float64(h.Delivered), and(name)...)
		all.add(handlerPanics, float64(h.Panics), and(name)...)
	}
}

// addRunning adds what findings look at only while an informer runs.
func (all series) addRunning(i *eyes.Informer, now time.Time, labels []string) {
	unsynced, listing := 0.0, 0.0
	switch {
	case i.Failures > 1:
		all.add(informerFailed, 1, append(labels[:5:5], i.Reason)...)
	case i.Synced && i.ListingSince != nil:
		listing = now.Sub(*i.ListingSince).Seconds()
	case !i.Synced && i.ListingSince != nil:
		unsynced = now.Sub(*i.ListingSince).Seconds()
	case !i.Synced && !i.Since.IsZero():
		unsynced = now.Sub(i.Since).Seconds()
	}
	all.add(informerUnsynced, unsynced, labels...)
	all.add(informerListing, listing, labels...)
	if i.ThirdListed != nil {
		all.add(informerThird, now.Sub(*i.ThirdListed).Seconds(), labels...)
	}
}

func (all series) addQueue(q *eyes.Queue, now time.Time) {
	all.add(queueReady, float64(q.Ready), q.Source)
	all.add(queueInProcess, float64(q.InProcess), q.Source)
	all.add(queueParked, float64(q.Parked), q.Source)
	all.add(queueDelayed, float64(q.Delayed), q.Source)
	all.add(queueHandedOut, float64(q.HandedOut), q.Source)
	all.add(queueFailing, float64(q.Failing), q.Source)
	all.add(queueLate, float64(q.Late), q.Source)
	stalled := 0.0
	if !q.StalledSince.IsZero() {
		stalled = now.Sub(q.StalledSince).Seconds()
	}
	all.add(queueStalled, stalled, q.Source)
	if q.LongestRunningSeconds != nil {
		all.add(queueRunning, *q.LongestRunningSeconds, q.Source)
		all.add(queueWaiting, *q.OldestWaitingSeconds, q.Source)
	}
}
