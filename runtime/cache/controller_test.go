package cache_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// queueJournal is a queue that records how a controller's reflector uses it. It never returns an item.
type queueJournal struct {
	*journal
	clientgo.Queue // for Pop and the other methods
}

func (s queueJournal) Add(obj any) error             { s.add("add %s", text(obj)); return nil }
func (s queueJournal) Update(obj any) error          { s.add("update %s", text(obj)); return nil }
func (s queueJournal) Delete(obj any) error          { s.add("delete %s", text(obj)); return nil }
func (s queueJournal) Resync() error                 { s.add("resync"); return nil }
func (s queueJournal) Bookmark(version string) error { s.add("bookmark %s", version); return nil }
func (s queueJournal) UpdateResourceVersion(version string) {
	s.add("version %s", version)
}
func (s queueJournal) Replace(list []any, version string) error {
	s.add("replace [%s] at %s", names(list, true), version)
	return nil
}

var controllers = map[string]func(*clientgo.Config) clientgo.Controller{
	"ours": cache.New, "theirs": clientgo.New,
}

// TestControllerLikeClientGo checks that a controller sends the same requests, and makes the same calls to
// its queue, as client-go's.
func TestControllerLikeClientGo(t *testing.T) {
	for _, test := range []struct {
		name   string
		config clientgo.Config
		before func(*server)
		script func(*server)
	}{
		{name: "changes", script: func(s *server) {
			s.Create(pod("x", "b", ""))
			s.Update(pod("x", "b", ""))
			s.Delete("x", "a")
			s.Skip(3)
			s.Bookmark()
		}},
		{name: "changes after a list", before: (*server).NoWatchListClient, script: func(s *server) {
			s.Create(pod("x", "b", ""))
			s.Update(pod("x", "b", ""))
		}},
		{name: "changes before the end of a watch-list",
			before: func(s *server) { s.OmitEndBookmark(true) }, script: func(s *server) {
				s.Create(pod("x", "b", ""))
				s.Update(pod("x", "a", ""))
				s.Delete("x", "a")
				s.Update(pod("x", "b", ""))
				s.EndInitialEvents()
			}},
		{name: "closed", script: func(s *server) {
			bubble.Advance(time.Minute)
			s.CloseWatches()
			settle()
			s.Create(pod("x", "b", ""))
		}},
		{name: "expired", script: func(s *server) {
			s.FailWatches(expired)
			bubble.Advance(backoff)
			s.Create(pod("x", "b", ""))
		}},
		{name: "very short", script: func(s *server) { s.CloseWatches(); bubble.Advance(backoff) }},
		{name: "throttled", before: func(s *server) {
			s.NoWatchListClient()
			s.Fail("WATCH", apierrors.NewTooManyRequests("busy", 0))
		}, script: func(*server) { bubble.Advance(backoff) }},
		{name: "list forbidden", before: func(s *server) { s.NoWatchListClient(); s.Fail("LIST", forbidden) },
			script: func(*server) { bubble.Advance(backoff) }},
		{name: "watch forbidden",
			before: func(s *server) { s.NoWatchListClient(); s.Fail("WATCH", forbidden) },
			script: func(*server) { bubble.Advance(backoff) }},
		{name: "pages", before: (*server).NoWatchListClient, config: clientgo.Config{WatchListPageSize: 1},
			script: func(s *server) {
				s.Create(pod("x", "b", ""))
				s.FailWatches(expired)
				bubble.Advance(backoff)
			}},
		{name: "resync", config: clientgo.Config{FullResyncPeriod: time.Minute},
			script: func(*server) { bubble.Advance(2 * time.Minute) }},
		{name: "no resync",
			config: clientgo.Config{FullResyncPeriod: time.Minute,
				ShouldResync: func() bool { return false }},
			script: func(*server) { bubble.Advance(2 * time.Minute) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := map[string]string{}
			for side, newController := range controllers {
				synctest.Test(t, func(t *testing.T) {
					j := queueJournal{&journal{}, clientgo.NewFIFO(keyFunc)}
					s := newServer()
					s.Create(pod("x", "a", ""))
					s.Observe(func(r runtimetest.Request) { j.add("%s", r) })
					if test.before != nil {
						test.before(s)
					}
					config := test.config
					config.Queue, config.ListerWatcher, config.ObjectType = j,
						s.ListerWatcher(), &corev1.Pod{}
					c := newController(&config)
					stop := running(t, c.RunWithContext)
					test.script(s)
					settle()
					got[side] = fmt.Sprintf("%s; last %s", j.take(), c.LastSyncResourceVersion())
					stop()
					settle()
					if s.Watches() != 0 {
						t.Errorf("%d watches are open after the end", s.Watches())
					}
				})
			}
			if got["ours"] != got["theirs"] {
				t.Errorf("ours:   %s\ntheirs: %s", got["ours"], got["theirs"])
			}
		})
	}
}

// TestControllerErrorHandler checks that a controller's error handler receives a reflector with a name.
func TestControllerErrorHandler(t *testing.T) {
	for _, plain := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			s.NoWatchListClient()
			s.Fail("LIST", forbidden)
			var handled []string
			handle := func(r *cache.Reflector, err error) {
				handled = append(handled,
					fmt.Sprintf("%s %t %t", r.TypeDescription(), r.Name() != "", apierrors.IsForbidden(err)))
			}
			config := &clientgo.Config{
				Queue: cache.NewDeltaFIFO(keyFunc, nil), ListerWatcher: s.ListerWatcher(),
				ObjectType: &corev1.Pod{},
				Process:    func(any, bool) error { return errBad },
			}
			if plain {
				config.WatchErrorHandler = handle
			} else {
				config.WatchErrorHandlerWithContext = func(_ context.Context, r *cache.Reflector, err error) {
					handle(r, err)
				}
			}
			c := cache.New(config)
			if c.LastSyncResourceVersion() != "" || c.HasSynced() {
				t.Error("synced before the start")
			}
			stop := running(t, func(ctx context.Context) { c.Run(ctx.Done()) })
			bubble.Advance(backoff)
			stop()
			if got := fmt.Sprint(handled); got != "[*v1.Pod true true]" {
				t.Error(got)
			}
			if !c.HasSynced() || c.LastSyncResourceVersion() == "" {
				t.Error("not synced after an empty list")
			}
		})
	}
}
