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
	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// notebook is a user's queue that records how a controller's reflector uses it. It never returns an item.
type notebook struct {
	cache.Queue // for Pop and the other methods
	b           *Bench
	// refuse reports whether to refuse an operation.
	refuse func(verb, name string) bool
}

func (b *Bench) notebook(refuse func(verb, name string) bool) *notebook {
	return &notebook{Queue: cache.NewFIFO(keyOfNamed), b: b, refuse: refuse}
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

// bookmarkbook is a notebook that accepts bookmarks, versionbook one that receives each version.
type (
	bookmarkbook struct{ *notebook }
	versionbook  struct{ *notebook }
)

func (s bookmarkbook) Bookmark(version string) error       { return s.note("bookmark", version) }
func (s versionbook) UpdateResourceVersion(version string) { s.b.Note("version %s", version) }

// run runs a function until the returned stop is called.
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

// fill runs a controller with a user's queue while script runs.
func (b *Bench) fill(queue cache.Queue, config cache.Config, script func()) {
	b.observe()
	config.Queue, config.ListerWatcher = queue, b.Server.ListerWatcher()
	c := b.Tools.Controller(&config)
	stop := b.run(c.RunWithContext)
	script()
	synctest.Wait()
	b.Note("last %q", c.LastSyncResourceVersion())
	stop()
}

// ofConfigMaps configures a controller of config maps.
var ofConfigMaps = cache.Config{ObjectType: &corev1.ConfigMap{}}

func (b *Bench) step(what string) {
	synctest.Wait()
	b.Note("-- %s", what)
}

// reflectors are scenarios of controllers' reflectors that fill users' queues.
var reflectors = []ToolScenario{
	{Name: "Controller: its queue refuses changes", Guarantee: guarantee.Converging, Script: func(b *Bench) {
		b.Server.NoWatchListClient()
		queue := b.notebook(func(verb, name string) bool { return verb == "add" || verb == "delete" })
		b.Server.Create(configMap("a"))
		b.fill(queue, ofConfigMaps, func() {
			b.Server.Create(configMap("b"))
			b.Server.Update(configMap("b"))
			b.Server.Delete(Namespace, "a")
		})
	}},
	{Name: "Controller: its queue refuses the list", Guarantee: guarantee.Converging, Script: func(b *Bench) {
		b.Server.NoWatchListClient()
		refused := 0
		queue := b.notebook(func(verb, _ string) bool { refused++; return verb == "replace" && refused < 3 })
		b.Server.Create(configMap("a"))
		b.fill(queue, ofConfigMaps, func() { bubble.Pass(3 * LongEnough) })
	}},
	{Name: "Controller: its queue refuses a watch-list", Guarantee: guarantee.Converging,
		Script: func(b *Bench) {
			refused := 0
			queue := b.notebook(func(verb, _ string) bool { refused++; return verb == "replace" && refused < 2 })
			b.Server.Create(configMap("a"))
			b.fill(queue, ofConfigMaps, func() { bubble.Pass(LongEnough) })
		}},
	{Name: "Controller: its queue refuses a resync", Guarantee: guarantee.Converging, Script: func(b *Bench) {
		b.Server.NoWatchListClient()
		queue := b.notebook(func(verb, _ string) bool { return verb == "resync" })
		b.fill(queue, cache.Config{ObjectType: &corev1.ConfigMap{}, FullResyncPeriod: time.Minute},
			func() { bubble.Pass(62 * time.Second) })
	}},
	{Name: "Controller: its queue takes bookmarks", Guarantee: guarantee.Resumable, Script: func(b *Bench) {
		b.fill(bookmarkbook{b.notebook(nil)}, ofConfigMaps, func() {
			b.Server.Skip(3)
			b.Server.Bookmark()
			b.step("bookmark")
			b.Server.Create(configMap("a"))
		})
	}},
	{Name: "Controller: its queue refuses bookmarks", Guarantee: guarantee.Converging, Script: func(b *Bench) {
		queue := bookmarkbook{b.notebook(func(verb, _ string) bool { return verb == "bookmark" })}
		b.fill(queue, ofConfigMaps, func() {
			b.Server.Skip(3)
			b.Server.Bookmark()
			b.step("bookmark")
			bubble.Pass(time.Minute)
			b.Server.CloseWatches()
		})
	}},
	{Name: "Controller: its queue wants to know versions", Guarantee: guarantee.NoTimeTravel,
		Script: func(b *Bench) {
			b.fill(versionbook{b.notebook(nil)}, ofConfigMaps, func() {
				b.Server.Create(configMap("a"))
				b.Server.Skip(3)
				b.Server.Bookmark()
				b.step("bookmark")
				b.Server.Delete(Namespace, "a")
			})
		}},
	{Name: "Controller: its queue isn't to be resynced each time", Guarantee: guarantee.Complete,
		Script: func(b *Bench) {
			asked := 0
			b.fill(b.notebook(nil), cache.Config{
				ObjectType: &corev1.ConfigMap{}, FullResyncPeriod: time.Minute,
				ShouldResync: func() bool { asked++; return asked%2 == 0 },
			}, func() { bubble.Pass(4*time.Minute + time.Second) })
			b.Note("asked %d times", asked)
		}},
	{Name: "Controller: pages of one", Guarantee: guarantee.Complete, Script: func(b *Bench) {
		b.Server.NoWatchListClient()
		b.Server.Create(configMap("a"))
		b.Server.Create(configMap("b"))
		b.fill(b.notebook(nil), cache.Config{ObjectType: &corev1.ConfigMap{}, WatchListPageSize: 1}, func() {
			b.Server.FailWatches(expired())
			bubble.Pass(LongEnough)
		})
	}},
	{Name: "Controller: objects of any type", Guarantee: guarantee.Complete, Script: func(b *Bench) {
		b.fill(b.notebook(nil), cache.Config{}, func() {
			b.Server.Inject(watch.Event{Type: watch.Added,
				Object: &corev1.Secret{ObjectMeta: object("s", "300").ObjectMeta}})
			b.step("secret")
		})
	}},
}
