package check

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/test/lab/cluster"
)

// sort is how an informer of ours is made.
type sort int

const (
	alone     sort = iota // by the constructor that generated code calls
	ofFactory             // by a factory, which releases it
	ofSet                 // by a set of namespaces
)

// options are those of an informer. An implementation ignores the options that it doesn't have.
type options struct {
	kind      int
	sort      sort
	namespace string
	labels    string
	fields    string
	resync    time.Duration
	transform bool
	// slowTransform is set only without resyncs: while one waits for a mutex, the clock of a bubble stands
	// still.
	slowTransform bool

	protobuf      bool
	noWatchList   bool
	plain         bool // the client doesn't show that it can stream
	off           bool // streaming is off
	keepUnchanged bool
	shareValues   bool
	limited       bool          // it shares the world's limiter
	timeout       time.Duration // of the client, for whole responses, those of watches too
	tuning        informer.Options
}

func drawOptions(r *rand.Rand, kinds int) options {
	yes := func(n int) bool { return r.IntN(n) == 0 }
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	o := options{
		kind: r.IntN(kinds), sort: sort(r.IntN(3)),
		resync: time.Duration(r.IntN(3)) * time.Minute, transform: yes(4),
		protobuf: yes(2), noWatchList: yes(2), plain: yes(4), off: yes(8),
		keepUnchanged: yes(3), shareValues: yes(3), limited: yes(4),
	}
	if yes(3) {
		o.namespace = namespaces[r.IntN(len(namespaces))]
	}
	if yes(3) {
		o.labels = one("color=red", "color!=red", "color in (red,blue)", "shape", "!shape",
			"color=red,shape=round")
	}
	if yes(6) {
		o.fields = one("metadata.name=o1", "metadata.name!=o1")
	}
	if !yes(4) {
		o.tuning.SilenceTimeout = time.Duration(70+r.IntN(30)) * time.Second
	}
	if !yes(4) {
		o.tuning.InitialEventsTimeout = time.Duration(10+r.IntN(20)) * time.Second
	}
	o.tuning.RecreationIsDeletion = yes(3)
	if yes(3) {
		o.tuning.MutationSample = 1
	}
	// In the limiter a list may have to wait for longer.
	if yes(4) && !o.limited {
		o.timeout = time.Duration(40+r.IntN(30)) * time.Second
	}
	o.slowTransform = o.transform && o.resync == 0 && yes(2)
	return o
}

// String lists the options that aren't the default.
func (o options) String() string {
	var b strings.Builder
	b.WriteString([]string{"alone", "of a factory", "of a set of namespaces"}[o.sort])
	for _, text := range []string{o.namespace, o.labels, o.fields} {
		if text != "" {
			fmt.Fprintf(&b, ", %s", text)
		}
	}
	for _, flag := range []struct {
		on   bool
		name string
	}{
		{o.transform, "transform"}, {o.slowTransform, "slow transform"},
		{o.protobuf, "protobuf"}, {o.noWatchList, "no watch-list"},
		{o.plain, "plain"}, {o.off, "not streamed"}, {o.keepUnchanged, "KeepUnchanged"},
		{o.shareValues, "ShareValues"}, {o.limited, "limited"},
	} {
		if flag.on {
			fmt.Fprintf(&b, ", %s", flag.name)
		}
	}
	fmt.Fprintf(&b, ", timeout %v", o.timeout)
	fmt.Fprintf(&b, ", resync %v, silence %v, initial events %v, recreation %v, mutations %d", o.resync,
		o.tuning.SilenceTimeout, o.tuning.InitialEventsTimeout, o.tuning.RecreationIsDeletion,
		o.tuning.MutationSample)
	return b.String()
}

// scope selects the objects of a type that an informer has.
type scope struct {
	labels labels.Selector
	fields fields.Selector
}

func (o options) scope() scope {
	return scope{must(labels.Parse(o.labels)), must(fields.ParseSelector(o.fields))}
}

func (s scope) includes(obj cluster.Object) bool {
	return s.labels.Matches(labels.Set(obj.GetLabels())) &&
		s.fields.Matches(fields.Set{"metadata.name": obj.GetName()})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
