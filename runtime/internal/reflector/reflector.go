package reflector

import (
	"cmp"
	"context"
	"errors"
	"math"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/naming"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// The numbers are client-go's.
const (
	// minWatchTimeout is the shortest timeout that a watch requests; the longest
	// is twice that. Spread out, the watches of a restarted server don't all end
	// at once.
	minWatchTimeout = 5 * time.Minute

	backoffInit   = 800 * time.Millisecond
	backoffMax    = 30 * time.Second
	backoffReset  = 2 * time.Minute
	backoffFactor = 2.0
	backoffJitter = 1.0
)

// Options configure a reflector. The zero value gives client-go's behaviour.
type Options struct {
	// Name is the reflector's name in logs. By default it is the file and line that
	// led to its construction.
	Name string
	// TypeDescription describes in logs what is reflected, see [DescribeType].
	TypeDescription string

	// ResyncPeriod is the time between two calls of Sink.Resync; each list starts it
	// again. Zero is never.
	ResyncPeriod time.Duration
	// ShouldResync, if not nil, is called at each tick. Resync is called if it
	// returns true.
	ShouldResync func() bool

	// PageSize is the limit of each page of a list. By default it is 500 if
	// that doesn't bypass the server's watch cache, otherwise there is none.
	PageSize int64
	// Consistent makes the first list request the newest state, "" rather than "0".
	Consistent bool
	// ListFirst makes the first list one in pages, even if the source can stream lists. A server that has just
	// begun to serve a kind refuses to stream it for about a second.
	ListFirst bool
	// From, if not "", is the version that the sink has reached already: the first round watches from it,
	// without a list.
	From string
	// MinWatchTimeout is the shortest timeout that a watch requests. Values
	// under five minutes, the default, are ignored. Each watch requests a random
	// timeout up to twice that.
	MinWatchTimeout time.Duration
	// MaxInternalErrorRetryDuration is how long a watch that ends with an
	// internal error of the server is reopened at once before listing again.
	// By default it isn't.
	MaxInternalErrorRetryDuration time.Duration
	// InitialEventsTimeout is how long to wait for the bookmark that ends a
	// watch-list before falling back to an ordinary one. Time in which the
	// list waits for the source's limiter doesn't count. By default the wait is
	// unlimited, with a warning every ten seconds without an event.
	InitialEventsTimeout time.Duration
	// SilenceTimeout is how long a watch may deliver nothing, from its request
	// on, before it is opened anew: a dead connection may look like a quiet one.
	// Servers send bookmarks about once a minute. After two such watches in a row
	// the server is asked whether it has reached their version. By default the
	// silence is unlimited, up to the timeout of the watch.
	SilenceTimeout time.Duration
	// Backoff replaces the default one (0.8 s doubled up to 30 s, each with up
	// to as much again at random, started over every two minutes).
	Backoff *wait.Backoff

	// ErrorHandler is called, from the reflector's goroutine, with each error
	// that ends a round before its watch could begin. The default is LogError.
	ErrorHandler func(ctx context.Context, err error)
	// Failed, if not nil, is called from the reflector's goroutine with every
	// failure, including those that a retry overcomes. Health already includes it then.
	// Problems that a list overcomes at once don't count as failures: a version that isn't
	// available, pages or a watch that have expired, a server that can't stream lists. A watch that has
	// expired as soon as it is opened counts if the one before had, too.
	Failed func(error)
	// Newest, if not nil, is called before each request for the newest state that a list makes because the
	// server couldn't serve the version. The function that it returns is called once the list was committed, if
	// that is older than what the sink had: the server's data was restored. An older list without such a
	// request comes from a server that lags.
	Newest func() (wentBack func())
	// Lag counts how old the objects are that have Written. It is the source's, nil if that never sets Written.
	Lag *sources.Lag
	// ResourceVersionUpdated, if not nil, is called after each event on a watch
	// with the version from which the reflector would watch again.
	ResourceVersionUpdated func(resourceVersion string)
}

// Reflector keeps the contents of a Sink equal to those of a Source. Run and ListAndWatch are
// for one goroutine at a time; everything else is safe for concurrent use.
type Reflector struct {
	name, typ string
	source    sources.Source
	sink      Sink
	opts      Options
	watchList bool
	delay     wait.DelayFunc

	// paginated is true when the first list came in several pages: this server
	// has no watch cache for the resource, so nothing is gained by requesting
	// everything at once. Only the running goroutine uses it.
	paginated bool
	// resumes is true until the first round, if that begins with a watch. Only the running goroutine uses it.
	resumes bool
	// expiredAtOnce is true if the last watch had expired when it was opened. Only the running goroutine
	// uses it.
	expiredAtOnce bool

	// sinkMu serializes calls of the current sink by the running goroutine and by
	// the resync ticks.
	sinkMu   sync.Mutex
	position position
	health   health
}

// New returns a reflector that doesn't run yet. Its lists are watch-lists if the feature
// gate WatchListClient of client-go is on when New is called, and the source doesn't report
// that its client can't stream them
// (see [k8s.io/client-go/util/watchlist.DoesClientNotSupportWatchListSemantics]).
func New(source sources.Source, sink Sink, opts Options) *Reflector {
	r := &Reflector{
		name:   opts.Name,
		typ:    cmp.Or(opts.TypeDescription, DescribeType(nil)),
		source: source,
		sink:   sink,
		opts:   opts,
	}
	r.resumes = opts.From != ""
	r.health.resumed = r.resumes
	r.position.version, r.position.consistent = opts.From, opts.Consistent
	r.health.enter(Idle)
	r.health.onFailure = opts.Failed
	if r.name == "" {
		r.name = naming.GetNameFromCallsite(
			"/runtime/internal/reflector/reflector.go", "/runtime/internal/engine/", "/runtime/factory/",
			"/runtime/cache/")
	}
	r.opts.MinWatchTimeout = max(opts.MinWatchTimeout, minWatchTimeout)
	if r.opts.ErrorHandler == nil {
		r.opts.ErrorHandler = func(ctx context.Context, err error) { LogError(ctx, r.name, r.typ, err) }
	}
	backoff := cmp.Or(opts.Backoff, &wait.Backoff{
		Duration: backoffInit,
		Cap:      backoffMax,
		Steps:    int(math.Ceil(float64(backoffMax) / float64(backoffInit))),
		Factor:   backoffFactor,
		Jitter:   backoffJitter,
	})
	r.delay = backoff.DelayWithReset(clock.RealClock{}, backoffReset)

	if features.FeatureGates().Enabled(features.WatchListClient) {
		r.watchList = !watchlist.DoesClientNotSupportWatchListSemantics(source)
		if !r.watchList {
			klog.Background().V(2).Info(
				"The client doesn't support WatchList semantics, listing instead; expected of fakes only",
				"reflector", r.name, "feature", features.WatchListClient)
		}
	}
	return r
}

// DescribeType returns the TypeDescription of reflectors of objects like example:
// the kind of an unstructured object that has one, otherwise the Go type.
func DescribeType(example any) string {
	if example == nil {
		return "<unspecified>"
	}
	if u, ok := example.(*unstructured.Unstructured); ok {
		if gvk := u.GroupVersionKind(); !gvk.Empty() {
			return gvk.String()
		}
	}
	return reflect.TypeOf(example).String()
}

// ClientGoStub returns a reflector of client-go's type with r's name and type description.
// It must not be run. It is an argument for handlers of watch errors, which have client-go's
// signature and learn from it which reflector failed.
func (r *Reflector) ClientGoStub() *cache.Reflector {
	return cache.NewReflectorWithOptions(&cache.ListWatch{}, nil, nil,
		cache.ReflectorOptions{Name: r.name, TypeDescription: r.typ})
}

// LastSyncResourceVersion returns the version that the sink has reached, "" before the
// first list.
func (r *Reflector) LastSyncResourceVersion() string { return r.position.last() }

// Health returns how the reflector is doing.
func (r *Reflector) Health() Health { return r.health.read() }

// Run lists and watches until ctx is done, and returns when all goroutines that it started
// have ended. Only a list function that ignores its context is left behind, see
// [sources.Source].
func (r *Reflector) Run(ctx context.Context) {
	r.announce(ctx, "Starting reflector")
	defer r.announce(ctx, "Stopping reflector")
	defer r.health.enter(Stopped)
	for ctx.Err() == nil {
		r.runRound(ctx)
		r.pause(ctx, 0)
	}
}

func (r *Reflector) announce(ctx context.Context, what string) {
	r.logger(ctx).V(3).Info(what, "resyncPeriod", r.opts.ResyncPeriod)
}

// logger returns the logger of ctx, with the reflector's name and type.
func (r *Reflector) logger(ctx context.Context) klog.Logger {
	return klog.FromContext(ctx).WithValues("reflector", r.name, "type", r.typ)
}

// errPanic is the failure of a round that ended with a panic. It doesn't have the panic's value, which may be
// an object. The log has it.
var errPanic = errors.New("a transform, or another function that the informer calls, has panicked;" +
	" see the log")

// runRound handles a panic as utilruntime decides. If the program survives it,
// the next round continues from the last version that the sink has received, and the health has errPanic.
func (r *Reflector) runRound(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx, func(context.Context, any) {
		r.health.failed(errPanic)
		r.health.relists(errPanic)
	})
	if err := r.ListAndWatch(ctx); err != nil {
		r.opts.ErrorHandler(ctx, err)
	}
}

// ListAndWatch does one round: it lists, then watches until listing is needed
// again. It returns an error if it couldn't begin to watch, nil otherwise and
// when ctx is done.
func (r *Reflector) ListAndWatch(ctx context.Context) error {
	ctx = klog.NewContext(ctx, r.logger(ctx))
	round := &round{Reflector: r}
	defer round.endSession()
	for s := round.start(ctx); s != nil && ctx.Err() == nil; {
		r.health.enter(s.name())
		s = s.step(ctx, round)
	}
	if ctx.Err() != nil {
		return nil
	}
	return round.err
}

// position is the version that the sink has reached, from which the reflector continues.
type position struct {
	// mu is held while version is written, and while others than the running goroutine read it.
	mu sync.Mutex
	// version is that of the last list, event or bookmark.
	version string
	// unavailable is true after the server couldn't serve version. Then the next list requests the newest
	// state. Only the running goroutine uses it.
	unavailable bool
	// consistent is Options.Consistent.
	consistent bool
}

func (p *position) last() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.version
}

// set returns the version before.
func (p *position) set(version string) (before string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, p.version = p.version, version
	return before
}

// forList is the version to list at. The first list requests "0", any state that the server's watch cache
// has, unless it must be consistent. Later lists request a state no older than the last seen one, so that the
// sink never goes back in time. If the server can't serve that, "" requests the newest state, a quorum read.
func (p *position) forList() string {
	switch {
	case p.unavailable:
		return ""
	case p.version == "" && !p.consistent:
		return "0"
	}
	return p.version
}

// forWatchList is the version to request a watch-list at. There, too, "" means the newest
// state, and costs the server little.
func (p *position) forWatchList() string {
	if p.unavailable {
		return ""
	}
	return p.version
}
