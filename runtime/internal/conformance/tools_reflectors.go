package conformance

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// notebook is a user's store, which notes what is done to it.
type notebook struct {
	b *Bench
	// refuse says what is refused.
	refuse func(verb, name string) bool
}

func (s *notebook) note(verb string, obj any) error {
	what := describe(obj)
	if s.refuse != nil && s.refuse(verb, what) {
		s.b.Note("%s %s refused", verb, what)
		return errBroken
	}
	s.b.Note("%s %s", verb, what)
	return nil
}

func (s *notebook) Add(obj any) error    { return s.note("add", obj) }
func (s *notebook) Update(obj any) error { return s.note("update", obj) }
func (s *notebook) Delete(obj any) error { return s.note("delete", obj) }
func (s *notebook) Resync() error        { return s.note("resync", "") }
func (s *notebook) Replace(list []any, version string) error {
	names := make([]string, len(list))
	for i, obj := range list {
		names[i] = describe(obj)
	}
	slices.Sort(names)
	return s.note("replace", strings.Join(names, " ")+" at "+version)
}

// bookmarks is a notebook that takes bookmarks, and versions is one that wants to
// know each version.
type (
	bookmarkbook struct{ *notebook }
	versionbook  struct{ *notebook }
)

func (s bookmarkbook) Bookmark(version string) error       { return s.note("bookmark", version) }
func (s versionbook) UpdateResourceVersion(version string) { s.b.Note("version %s", version) }

// run runs something until the function that it returns is called.
func (b *Bench) run(run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(b.T.Context())
	var running sync.WaitGroup
	running.Go(func() { run(ctx) })
	synctest.Wait()
	return func() {
		cancel()
		running.Wait()
	}
}

// observe notes the requests.
func (b *Bench) observe() { b.Server.Observe(func(r runtimetest.Request) { b.Note("%s", r) }) }

// reflect runs a reflector while script does something.
func (b *Bench) reflect(store cache.ReflectorStore, o cache.ReflectorOptions, set func(*cache.Reflector), script func()) {
	b.observe()
	o.Name = "r"
	r := b.Tools.Reflector(b.Server.ListerWatcher(), &corev1.ConfigMap{}, store, o)
	if set != nil {
		set(r)
	}
	stop := b.run(r.RunWithContext)
	script()
	synctest.Wait()
	b.Note("last %q", r.LastSyncResourceVersion())
	stop()
}

func (b *Bench) step(what string) {
	synctest.Wait()
	b.Note("-- %s", what)
}

// reflectors are what happens to reflectors with stores of their users.
var reflectors = []ToolScenario{
	{Name: "Reflector: a store refuses changes", Script: func(b *Bench) {
		b.Server.NoWatchListClient()
		store := &notebook{b: b, refuse: func(verb, name string) bool { return verb == "add" || verb == "delete" }}
		b.Server.Create(configMap("a"))
		b.reflect(store, cache.ReflectorOptions{}, nil, func() {
			b.Server.Create(configMap("b"))
			b.Server.Update(configMap("b"))
			b.Server.Delete(Namespace, "a")
		})
	}},
	{Name: "Reflector: a store refuses the list", Script: func(b *Bench) {
		b.Server.NoWatchListClient()
		refused := 0
		store := &notebook{b: b, refuse: func(verb, _ string) bool { refused++; return verb == "replace" && refused < 3 }}
		b.Server.Create(configMap("a"))
		b.reflect(store, cache.ReflectorOptions{}, nil, func() { bubble.Pass(3 * LongEnough) })
	}},
	{Name: "Reflector: a store refuses a streamed list", Script: func(b *Bench) {
		refused := 0
		store := &notebook{b: b, refuse: func(verb, _ string) bool { refused++; return verb == "replace" && refused < 2 }}
		b.Server.Create(configMap("a"))
		b.reflect(store, cache.ReflectorOptions{}, nil, func() { bubble.Pass(LongEnough) })
	}},
	{Name: "Reflector: a store refuses a resync", Script: func(b *Bench) {
		b.Server.NoWatchListClient()
		store := &notebook{b: b, refuse: func(verb, _ string) bool { return verb == "resync" }}
		b.reflect(store, cache.ReflectorOptions{ResyncPeriod: time.Minute}, nil, func() { bubble.Pass(62 * time.Second) })
	}},
	{Name: "Reflector: a store that takes bookmarks", Script: func(b *Bench) {
		b.reflect(bookmarkbook{&notebook{b: b}}, cache.ReflectorOptions{}, nil, func() {
			b.Server.Skip(3)
			b.Server.Bookmark()
			b.step("bookmark")
			b.Server.Create(configMap("a"))
		})
	}},
	{Name: "Reflector: a store that refuses bookmarks", Script: func(b *Bench) {
		store := bookmarkbook{&notebook{b: b, refuse: func(verb, _ string) bool { return verb == "bookmark" }}}
		b.reflect(store, cache.ReflectorOptions{}, nil, func() {
			b.Server.Skip(3)
			b.Server.Bookmark()
			b.step("bookmark")
			bubble.Pass(time.Minute)
			b.Server.CloseWatches()
		})
	}},
	{Name: "Reflector: a store that wants to know versions", Script: func(b *Bench) {
		b.reflect(versionbook{&notebook{b: b}}, cache.ReflectorOptions{}, nil, func() {
			b.Server.Create(configMap("a"))
			b.Server.Skip(3)
			b.Server.Bookmark()
			b.step("bookmark")
			b.Server.Delete(Namespace, "a")
		})
	}},
	{Name: "Reflector: asked whether to resync", Script: func(b *Bench) {
		asked := 0
		b.reflect(&notebook{b: b}, cache.ReflectorOptions{ResyncPeriod: time.Minute}, func(r *cache.Reflector) {
			r.ShouldResync = func() bool { asked++; return asked%2 == 0 }
		}, func() { bubble.Pass(4*time.Minute + time.Second) })
		b.Note("asked %d times", asked)
	}},
	{Name: "Reflector: pages of one", Script: func(b *Bench) {
		b.Server.NoWatchListClient()
		b.Server.Create(configMap("a"))
		b.Server.Create(configMap("b"))
		b.reflect(&notebook{b: b}, cache.ReflectorOptions{}, func(r *cache.Reflector) { r.WatchListPageSize = 1 }, func() {
			b.Server.FailWatches(expired())
			bubble.Pass(LongEnough)
		})
	}},
	{Name: "Reflector: patient with a server's errors", Script: func(b *Bench) {
		b.reflect(&notebook{b: b}, cache.ReflectorOptions{}, func(r *cache.Reflector) { r.MaxInternalErrorRetryDuration = time.Minute }, func() {
			for range 3 {
				bubble.Pass(25 * time.Second)
				b.Server.FailWatches(errBroken)
				b.step("broken")
			}
			bubble.Pass(25 * time.Second)
			b.Server.FailWatches(errBroken)
			b.step("broken once more")
			bubble.Pass(LongEnough)
		})
	}},
	{Name: "Reflector: objects of any type", Script: func(b *Bench) {
		b.observe()
		r := b.Tools.Reflector(b.Server.ListerWatcher(), nil, &notebook{b: b}, cache.ReflectorOptions{Name: "r"})
		stop := b.run(r.RunWithContext)
		b.Server.Inject(watch.Event{Type: watch.Added, Object: &corev1.Secret{ObjectMeta: object("s", "300").ObjectMeta}})
		b.step("secret")
		b.Note("%s %q", r.TypeDescription(), r.LastSyncResourceVersion())
		stop()
	}},
	{Name: "Reflector: one round", Script: func(b *Bench) {
		b.observe()
		b.Server.Create(configMap("a"))
		r := b.Tools.Reflector(b.Server.ListerWatcher(), &corev1.ConfigMap{}, &notebook{b: b}, cache.ReflectorOptions{Name: "r"})
		stop := b.run(func(ctx context.Context) { b.Note("%v", r.ListAndWatchWithContext(ctx)) })
		b.Server.FailWatches(expired())
		b.step("expired")
		stop()
	}},
	{Name: "Reflector: one round that fails", Script: func(b *Bench) {
		b.Server.NoWatchListClient()
		b.Server.Fail("LIST", errDenied)
		r := b.Tools.Reflector(b.Server.ListerWatcher(), &corev1.ConfigMap{}, &notebook{b: b}, cache.ReflectorOptions{Name: "r"})
		stop := b.run(func(ctx context.Context) { b.Note("%v", r.ListAndWatchWithContext(ctx)) })
		stop()
	}},
	{Name: "Reflector: run twice, one after the other", Script: func(b *Bench) {
		b.observe()
		b.Server.Create(configMap("a"))
		r := b.Tools.Reflector(b.Server.ListerWatcher(), &corev1.ConfigMap{}, &notebook{b: b}, cache.ReflectorOptions{Name: "r"})
		b.run(r.RunWithContext)()
		b.Server.Create(configMap("b"))
		b.run(r.RunWithContext)()
	}},
	{Name: "Reflector: a store of client-go's", Script: func(b *Bench) {
		store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"letter": byLetter})
		b.Server.Create(configMap("ab"))
		b.reflect(store, cache.ReflectorOptions{}, nil, func() {
			b.Server.Create(configMap("b"))
			b.step("created")
			b.contents(store)
			b.Server.Delete(Namespace, "ab")
			b.step("deleted")
			b.contents(store)
		})
	}},
}
