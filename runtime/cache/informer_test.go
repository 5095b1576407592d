package cache_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// plain has the constructors of informers that aren't shared, of both sides.
var plain = map[string]func(clientgo.InformerOptions) (clientgo.Store, clientgo.Controller){
	"ours":   cache.NewInformerWithOptions,
	"theirs": clientgo.NewInformerWithOptions,
}

// TestInformerLikeClientGo checks that an informer that isn't shared calls its handler as client-go's does.
func TestInformerLikeClientGo(t *testing.T) {
	for _, test := range []struct {
		name    string
		options clientgo.InformerOptions
		script  func(s *server, step func(string))
	}{
		{name: "changes", script: func(s *server, step func(string)) {
			s.Create(pod("x", "b", ""))
			step("create")
			s.Update(pod("x", "b", ""))
			step("update")
			s.Delete("x", "a")
			step("delete")
		}},
		{name: "relist", script: func(s *server, step func(string)) {
			s.FailWatches(expired)
			bubble.Advance(backoff)
			step("unchanged")
			s.OnRequest(func(_ context.Context, r runtimetest.Request) error {
				if r.Options.SendInitialEvents != nil && len(s.Objects()) == 1 {
					s.Delete("x", "a")
					s.Create(pod("x", "c", ""))
					s.Create(pod("x", "b", ""))
				}
				return nil
			})
			s.FailWatches(expired)
			bubble.Advance(backoff)
			step("changed")
		}},
		{name: "resync", options: clientgo.InformerOptions{ResyncPeriod: time.Hour},
			script: func(_ *server, step func(string)) {
				bubble.Advance(time.Hour)
				step("an hour")
				bubble.Advance(2 * time.Hour)
				step("three hours")
			}},
		{name: "transform", options: clientgo.InformerOptions{Transform: func(obj any) (any, error) {
			p := obj.(*corev1.Pod)
			p.Name += "!"
			return p, nil
		}}, script: func(s *server, step func(string)) {
			s.NoWatchList() // client-go transforms a watch-list twice
			s.Create(pod("x", "b", ""))
			step("create")
			s.Delete("x", "b")
			step("delete")
		}},
		{name: "bookmarks", script: func(s *server, step func(string)) {
			s.Skip(5)
			s.Bookmark()
			step("bookmark")
		}},
		{name: "list fails", script: func(s *server, step func(string)) {
			s.Fail("WATCH", forbidden)
			s.Fail("LIST", forbidden)
			s.FailWatches(expired)
			bubble.Advance(backoff)
			bubble.Advance(backoff)
			step("list failed")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := map[string][]string{}
			for side, newInformer := range plain {
				synctest.Test(t, func(t *testing.T) {
					s := newServer()
					s.Create(pod("x", "a", ""))
					if test.name == "transform" {
						s.NoWatchList()
					}
					j := &journal{}
					options := test.options
					options.ListerWatcher, options.ObjectType, options.Handler = s.ListerWatcher(),
						&corev1.Pod{}, j
					options.Indexers = indexers()
					store, controller := newInformer(options)
					step := func(what string) {
						settle()
						got[side] = append(got[side],
							fmt.Sprintf("%s: %s; store %s at %s, synced %t, last %s", what, j.take(),
								names(store.List(), true), store.LastStoreSyncResourceVersion(),
								controller.HasSynced(), controller.LastSyncResourceVersion()))
					}
					step("before")
					stop := running(t, controller.RunWithContext)
					defer stop()
					step("start")
					if !clientgo.IsDone(controller.HasSyncedChecker()) {
						t.Error("not synced")
					}
					test.script(s, step)
				})
			}
			for i := range got["theirs"] {
				if a, b := sortedSteps(got["ours"][i]), sortedSteps(got["theirs"][i]); a != b {
					t.Errorf("ours:   %s\ntheirs: %s", a, b)
				}
			}
		})
	}
}

// sortedSteps sorts the calls of one step, since a list has no order.
func sortedSteps(line string) string {
	return ordered(strings.Split(line, "; "))
}

// TestInformerConstructors checks that the older constructors set their options.
func TestInformerConstructors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.Create(pod("x", "a", "", "red"))
		upper := func(obj any) (any, error) { obj.(*corev1.Pod).Name = "A"; return obj, nil }
		for want, make := range map[string]func(h clientgo.ResourceEventHandler) (
			clientgo.Store, clientgo.Controller,
		){
			"x/a": func(h clientgo.ResourceEventHandler) (clientgo.Store, clientgo.Controller) {
				return cache.NewInformer(s.ListerWatcher(), &corev1.Pod{}, 0, h)
			},
			"x/a indexed": func(h clientgo.ResourceEventHandler) (clientgo.Store, clientgo.Controller) {
				return cache.NewIndexerInformer(s.ListerWatcher(), &corev1.Pod{}, 0, h, indexers())
			},
			"x/A": func(h clientgo.ResourceEventHandler) (clientgo.Store, clientgo.Controller) {
				return cache.NewTransformingInformer(s.ListerWatcher(), &corev1.Pod{}, 0, h, upper)
			},
			"x/A indexed": func(h clientgo.ResourceEventHandler) (clientgo.Store, clientgo.Controller) {
				return cache.NewTransformingIndexerInformer(s.ListerWatcher(), &corev1.Pod{}, 0, h,
					indexers(), upper)
			},
		} {
			store, controller := make(&journal{})
			stop := running(t, controller.RunWithContext)
			key, isIndexed, _ := strings.Cut(want, " ")
			if _, ok, _ := store.GetByKey(key); !ok {
				t.Errorf("%s: the store has %v", want, store.ListKeys())
			}
			if found, err := store.(clientgo.Indexer).ByIndex("label", "red"); isIndexed != "" &&
				(err != nil || len(found) != 1) {
				t.Errorf("%s: %v, %v", want, found, err)
			}
			stop()
		}
	})
}
