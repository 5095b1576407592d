package ownwrites_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/ownwrites"
)

// echoRig is a rig with SkipEchoes, an informer that runs, and an object called one.
type echoRig struct {
	*rig
	lag *lagging
	one *corev1.ConfigMap
}

func newEchoRig(t *testing.T) *echoRig {
	t.Helper()
	s := newServer()
	lag := newLagging(s)
	i := newInformer(lag)
	r := &echoRig{rig: newRigWith(t, &ownwrites.Tracker{SkipEchoes: true}, s, i), lag: lag}
	start(t, i)
	synctest.Wait()
	s.Create(configMap("one"))
	synctest.Wait()
	r.one = r.object("one")
	return r
}

func (r *echoRig) object(name string) *corev1.ConfigMap {
	obj, found := r.api.server.Find("shop", name)
	if !found {
		r.Fatalf("%s doesn't exist", name)
	}
	return obj
}

// patch sends a patch in the context of a key.
func (r *echoRig) patch(key string, patch types.PatchType, body string) {
	r.Helper()
	ctx := r.queue.Context(context.Background(), key)
	req, err := http.NewRequestWithContext(ctx, http.MethodPatch, "http://api"+path+"/one",
		strings.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	req.Header.Set("Content-Type", string(patch))
	resp, err := r.client.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		r.Fatalf("patch: %v, %v", resp, err)
	}
	if err := readAll(resp); err != nil {
		r.Fatal(err)
	}
}

// put updates one in the context of a key, with a version or without.
func (r *echoRig) put(key, version string) {
	r.Helper()
	obj := r.one.DeepCopy()
	obj.ResourceVersion = version
	if code, err := r.send(key, http.MethodPut, path+"/one", obj); code != http.StatusOK || err != nil {
		r.Fatalf("put: %d, %v", code, err)
	}
}

// skips reports whether the addition of a key, because an object has changed, is skipped.
func (r *echoRig) skips(key string, old, changed *corev1.ConfigMap) bool {
	var before any
	if old != nil {
		before = old
	}
	if r.queue.Skips(key, before, changed) {
		return true
	}
	r.queue.Add(key)
	return false
}

// TestEchoRules checks which additions of the key a are skipped.
func TestEchoRules(t *testing.T) {
	for name, test := range map[string]struct {
		// act writes, and returns the object before and after.
		act  func(r *echoRig) (old, changed *corev1.ConfigMap)
		skip bool
	}{
		"an update with a version": {func(r *echoRig) (_, _ *corev1.ConfigMap) {
			r.put("a", r.one.ResourceVersion)
			return r.one, r.object("one")
		}, true},
		"an update without a version": {func(r *echoRig) (_, _ *corev1.ConfigMap) {
			r.put("a", "")
			return r.one, r.object("one")
		}, false},
		"a creation": {func(r *echoRig) (_, _ *corev1.ConfigMap) {
			mustSend(r.rig, "a", http.MethodPost, path, configMap("two"))
			return nil, r.object("two")
		}, true},
		"somebody else's creation, and an update without a version": {func(r *echoRig) (_, _ *corev1.ConfigMap) {
			r.put("a", "")
			return nil, r.object("one")
		}, false},
		"a creation and an update": {func(r *echoRig) (_, _ *corev1.ConfigMap) {
			mustSend(r.rig, "a", http.MethodPost, path, configMap("two"))
			mustSend(r.rig, "a", http.MethodPut, path+"/two", r.object("two"))
			return nil, r.object("two")
		}, true},
		"an update of another key": {func(r *echoRig) (_, _ *corev1.ConfigMap) {
			r.put("b", r.one.ResourceVersion)
			return r.one, r.object("one")
		}, false},
		"an update of another key between": {func(r *echoRig) (_, _ *corev1.ConfigMap) {
			r.put("a", r.one.ResourceVersion)
			r.put("b", r.object("one").ResourceVersion)
			r.put("a", r.object("one").ResourceVersion)
			return r.one, r.object("one")
		}, false},
		"somebody else's update before": {func(r *echoRig) (_, _ *corev1.ConfigMap) {
			r.api.server.Update(configMap("one"))
			r.put("a", r.object("one").ResourceVersion)
			return r.one, r.object("one")
		}, false},
		"a resync": {func(r *echoRig) (_, _ *corev1.ConfigMap) {
			r.put("a", r.one.ResourceVersion)
			return r.object("one"), r.object("one")
		}, false},
		"a recreation": {func(r *echoRig) (_, _ *corev1.ConfigMap) {
			r.api.server.Delete("shop", "one")
			mustSend(r.rig, "a", http.MethodPost, path, configMap("one"))
			return r.one, r.object("one")
		}, false},
		"after the bound": {func(r *echoRig) (_, _ *corev1.ConfigMap) {
			r.put("a", r.one.ResourceVersion)
			bubble.Pass(time.Minute)
			return r.one, r.object("one")
		}, false},
		"without a version, after the next run has begun": {func(r *echoRig) (_, _ *corev1.ConfigMap) {
			r.put("a", "")
			r.queue.Context(context.Background(), "a")
			return r.one, r.object("one")
		}, true},
		"without a version, after another key's run has begun": {func(r *echoRig) (_, _ *corev1.ConfigMap) {
			r.put("a", "")
			r.queue.Context(context.Background(), "b")
			return r.one, r.object("one")
		}, false},
		"without a version, after the next run has begun, but an informer begins later": {
			func(r *echoRig) (_, _ *corev1.ConfigMap) {
				if err := r.tracker.Add(newInformer(r.api.server)); err != nil {
					r.Fatal(err)
				}
				r.put("a", "")
				r.queue.Context(context.Background(), "a")
				return r.one, r.object("one")
			}, false},
		"a merge patch with a version": {func(r *echoRig) (_, _ *corev1.ConfigMap) {
			r.patch("a", types.MergePatchType, `{"data":{"a":"b"},"metadata":{"resourceVersion":"`+
				r.one.ResourceVersion+`"}}`)
			return r.one, r.object("one")
		}, true},
		"an apply with a version": {func(r *echoRig) (_, _ *corev1.ConfigMap) {
			r.patch("a", types.ApplyPatchType, `{"kind":"ConfigMap","metadata":{"name":"one","resourceVersion":"`+
				r.one.ResourceVersion+`"}}`)
			return r.one, r.object("one")
		}, true},
		"an apply without a version": {func(r *echoRig) (_, _ *corev1.ConfigMap) {
			r.patch("a", types.ApplyPatchType, `{"kind":"ConfigMap","metadata":{"name":"one"}}`)
			return r.one, r.object("one")
		}, false},
		"a version of 0": {func(r *echoRig) (_, _ *corev1.ConfigMap) {
			r.patch("a", types.MergePatchType, `{"metadata":{"resourceVersion":"0"}}`)
			return r.one, r.object("one")
		}, false},
		"a JSON patch": {func(r *echoRig) (_, _ *corev1.ConfigMap) {
			r.patch("a", types.JSONPatchType, `[{"op":"test","path":"/metadata/resourceVersion","value":"`+
				r.one.ResourceVersion+`"}]`)
			return r.one, r.object("one")
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newEchoRig(t)
				r.lag.hold()
				defer r.lag.flow()
				old, changed := test.act(r)
				if got := r.skips("a", old, changed); got != test.skip {
					t.Errorf("skipped: %v, want %v", got, test.skip)
				}
			})
		})
	}
}

func mustSend(r *rig, key, method, path string, body any) {
	r.Helper()
	if code, err := r.send(key, method, path, body); code >= 300 || err != nil {
		r.Fatalf("%s %s: %d, %v", method, path, code, err)
	}
}

// TestEchoBeforeAnswer checks that an addition waits for the answers of the run, and no longer than the run
// lasts.
func TestEchoBeforeAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		version, ends bool
		skip          bool
	}{
		"the answer tells":          {version: true, skip: true},
		"the answer doesn't tell":   {},
		"the run ends before":       {version: true, ends: true},
		"the run ends, and nothing": {ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newEchoRig(t)
				answer := make(chan struct{})
				r.api.edits = []edit{func(resp *http.Response) (*http.Response, error) {
					<-answer
					return resp, nil
				}}
				r.queue.Add("a")
				key, _ := r.queue.Get()
				sent := make(chan struct{})
				version := ""
				if test.version {
					version = r.one.ResourceVersion
				}
				go func() {
					defer close(sent)
					obj := r.one.DeepCopy()
					obj.ResourceVersion = version
					if _, err := r.send(key, http.MethodPut, path+"/one", obj); err != nil {
						t.Error(err)
					}
				}()
				synctest.Wait()
				if !r.skips("a", r.one, r.object("one")) {
					t.Error("the addition isn't kept while the answer is missing")
				}
				if test.ends {
					r.queue.Done(key)
					if r.queue.Pending() != 1 {
						t.Error("the end of the run doesn't add the key")
					}
				}
				close(answer)
				<-sent
				if !test.ends {
					r.queue.Done(key)
				}
				synctest.Wait()
				if skipped := r.queue.Pending() == 0; skipped != test.skip {
					t.Errorf("skipped: %v, want %v", skipped, test.skip)
				}
			})
		})
	}
}

// TestEchoAfterBound checks that a key that runs on a cache without its write hears of the write.
func TestEchoAfterBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEchoRig(t)
		r.lag.hold()
		defer r.lag.flow()
		r.queue.Add("a")
		key, _ := r.queue.Get()
		r.queue.Add("a") // It is parked when it is done.
		bubble.Pass(5 * time.Second)
		r.put(key, r.one.ResourceVersion)
		r.queue.Done(key)
		bubble.Pass(5 * time.Second)
		mustSend(r.rig, key, http.MethodPut, path+"/one", r.object("one")) // a write that outlives the run
		bubble.Pass(6 * time.Second)
		if r.queue.Len() != 1 {
			t.Fatal("the bound doesn't hand the key out")
		}
		key, _ = r.queue.Get()
		r.queue.Context(context.Background(), key)
		if r.skips("a", r.one, r.object("one")) {
			t.Error("skipped")
		}
	})
}

// TestEchoOfRestoredServer checks that own versions end with a restore.
func TestEchoOfRestoredServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEchoRig(t)
		r.api.server.Skip(100_000)
		r.put("a", "")
		synctest.Wait()
		changed := r.object("one")
		r.put("a", changed.ResourceVersion)
		synctest.Wait()
		if _, _, versions := r.tracker.Left(); versions != 2 {
			t.Fatalf("%d own versions, want 2", versions)
		}
		r.api.restore(func(*corev1.ConfigMap) bool { return true }, r.lag)
		bubble.Pass(5 * time.Second)
		r.api.direct(func(s *server) { s.Bookmark() })
		synctest.Wait()
		if _, _, versions := r.tracker.Left(); versions != 0 {
			t.Errorf("%d own versions after the restore", versions)
		}
	})
}

// TestEchoOfStatus checks that the answer of a deletion is no own version.
func TestEchoOfStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEchoRig(t)
		mustSend(r.rig, "a", http.MethodDelete, path+"/one", metav1.DeleteOptions{})
		if _, _, versions := r.tracker.Left(); versions != 0 {
			t.Errorf("%d own versions", versions)
		}
	})
}

// TestEchoOfLateWrite checks that a write that outlives its run, and whose answer arrives after the next run
// has ended, doesn't disturb the key.
func TestEchoOfLateWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEchoRig(t)
		answers := []chan struct{}{make(chan struct{}), make(chan struct{})}
		var sent sync.WaitGroup
		defer sent.Wait()
		var key string
		for _, answer := range answers {
			r.api.edits = []edit{func(resp *http.Response) (*http.Response, error) {
				<-answer
				return resp, nil
			}}
			r.queue.Add("a")
			key, _ = r.queue.Get()
			if answer == answers[0] {
				r.queue.Done(key) // The write comes afterwards.
			}
			sent.Go(func() { r.put(key, "") })
			synctest.Wait()
		}
		r.queue.Done(key)
		close(answers[0])
		synctest.Wait()
		close(answers[1])
		synctest.Wait()
		r.lag.hold()
		defer r.lag.flow()
		old := r.object("one")
		r.api.direct(func(s *server) { s.Update(configMap("one", "foreign")) })
		if r.skips("a", old, r.object("one")) {
			t.Error("a foreign change is skipped")
		}
	})
}
