package eyes_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	clientgoqueue "k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// TestEmpty checks that lists without elements are such in JSON, also at the first look.
func TestEmpty(t *testing.T) {
	e := eyes.New(eyes.Options{})
	const want = `"findings":[],"informers":[],"queues":[],"members":[]}`
	for range 2 {
		text, err := json.Marshal(e.Snapshot())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(string(text), want) {
			t.Errorf("%s, want %s at the end", text, want)
		}
	}
}

// TestUnread checks that nothing is said of what can't be known of client-go's informers, and why.
func TestUnread(t *testing.T) {
	e := eyes.New(eyes.Options{})
	e.AddInformer("alone", cache.NewSharedInformer(&cache.ListWatch{}, &corev1.Pod{}, 0))
	f := factory.New(0)
	f.InformerFor(&corev1.Pod{}, func(any, time.Duration) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, nil)
	})
	if err := e.AddFactory("shop", f); err != nil {
		t.Fatal(err)
	}
	s := e.Snapshot()
	text, err := json.Marshal(s.Informers)
	const one = `{"source":%q,"name":"SharedIndexInformer *v1.Pod","group":"","version":"","resource":"",` +
		`"synced":false,"unread":"the informer isn't one of kubewright's"}`
	if want := fmt.Sprintf("["+one+","+one+"]", "alone", "shop"); err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
	var decoded []eyes.Informer
	if err := json.Unmarshal(text, &decoded); err != nil || len(decoded) != 2 || decoded[0].Unread == "" {
		t.Errorf("%+v, %v", decoded, err)
	}
	var page strings.Builder
	if err := s.WriteText(&page); err != nil {
		t.Fatal(err)
	}
	const row = " SharedIndexInformer *v1.Pod - - - no - - - - - -\n" +
		" not known, because: the informer isn't one of kubewright's\n"
	if got := spaces.ReplaceAllString(page.String(), " "); strings.Count(got, row) != 2 {
		t.Errorf("%q isn't there twice in\n%s", row, got)
	}
}

var spaces = regexp.MustCompile(" +")

// TestListItems checks that an informer tells how many objects its last list had, however it was read, and
// nothing before the first list.
func TestListItems(t *testing.T) {
	for name, prepare := range map[string]func(*rig){
		"streamed": func(*rig) {},
		"pages":    func(r *rig) { r.server.NoWatchList(); r.server.MaxPage(2) },
		"pages that expire": func(r *rig) {
			r.server.NoWatchList()
			r.server.MaxPage(2)
			r.server.OnRequest(func(_ context.Context, request runtimetest.Request) error {
				if request.Options.Continue == "" {
					return nil
				}
				return apierrors.NewResourceExpired("too old")
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				prepare(r)
				if i := r.eyes.Snapshot().Informers[0]; i.ListItems != nil {
					t.Errorf("before the start: %d", *i.ListItems)
				}
				for _, name := range []string{"a", "b", "c"} {
					r.server.Create(configMap(name))
				}
				r.start()
				r.server.Create(configMap("d"))
				synctest.Wait()
				if i := r.eyes.Snapshot().Informers[0]; i.ListItems == nil || *i.ListItems != 3 || i.Objects != 4 {
					t.Errorf("not 3 objects in the list, or %d in the cache, not 4", i.Objects)
				}
				for _, o := range r.server.Objects() {
					r.server.Delete(o.Namespace, o.Name)
				}
				r.server.FailWatches(apierrors.NewResourceExpired("too old"))
				bubble.Advance(10 * time.Second)
				text, err := json.Marshal(r.eyes.Snapshot().Informers[0])
				if err != nil || !strings.Contains(string(text), `"listItems":0,`) {
					t.Errorf("after all were deleted: %v, %s", err, text)
				}
			})
		})
	}
}

// TestURLs checks that the URL of a request that failed is shown up to the collection, unless names of
// objects are.
func TestURLs(t *testing.T) {
	const host = "https://10.0.0.1:6443"
	for path, want := range map[string]string{
		"/api/v1/pods?fieldSelector=metadata.name%3Dsecret&watch=true": "/api/v1/pods",
		"/api/v1/namespaces/x/secrets?limit=500#secret":                "/api/v1/namespaces/x/secrets",
		"/api/v1/namespaces/x/secrets/secret?timeout=9s":               "/api/v1/namespaces/x/secrets",
		"/api/v1/namespaces/secret":                                    "/api/v1/namespaces",
		"/apis/apps/v1/namespaces/x/deployments/secret/status":         "/apis/apps/v1/namespaces/x/deployments",
		"/apis/apps/v1/deployments/secret":                             "/apis/apps/v1/deployments",
		"/k8s/clusters/local/api/v1/nodes/secret":                      "/k8s/clusters/local/api/v1/nodes",
		"/bakeries/secret":                                             "",
		"/api/v1/pods/sec\x7fret":                                      "(URL)",
	} {
		refused := &url.Error{Op: "Get", URL: host + path, Err: errors.New("dial tcp 10.0.0.1:6443: refused")}
		if want != "(URL)" {
			want = host + want
		}
		text := `Get "` + want + `": dial tcp 10.0.0.1:6443: refused`
		for failed, want := range map[error]string{
			refused: text,
			fmt.Errorf("failed to list: %w", refused):            "failed to list: " + text,
			errors.Join(errors.New("odd"), refused):              "odd\n" + text,
			&url.Error{Op: "Post", URL: "/secret", Err: refused}: `Post "": ` + text,
		} {
			for _, keys := range []bool{false, true} {
				if keys {
					want = failed.Error()
				}
				e := eyes.New(eyes.Options{Keys: keys})
				e.AddCaches("shop", statuses{{State: informer.Watching, LastError: failed, Relisted: failed}})
				if i := e.Snapshot().Informers[0]; i.LastError != want || i.Relisted != want {
					t.Errorf("with keys %t, %q and %q, want %q", keys, i.LastError, i.Relisted, want)
				}
			}
		}
	}
}

// TestErrorsDontNameObjects checks that the name of an object goes from the text of an error, and that other
// words keep its letters.
func TestErrorsDontNameObjects(t *testing.T) {
	for name, want := range map[string]string{
		"pods":   `(name) "(name)" is forbidden: no`, // in doubt, more goes
		"is":     `pods "(name)" (name) forbidden: no`,
		"for":    `pods "(name)" is forbidden: no`,
		"a:b":    `pods "(name)" is forbidden: no`,
		":b":     `pods "(name)" is forbidden: no`,
		"ünused": `pods "(name)" is forbidden: no`,
	} {
		e := eyes.New(eyes.Options{})
		e.AddCaches("shop", statuses{{State: informer.Watching, LastError: apierrors.NewForbidden(
			schema.GroupResource{Resource: "pods"}, name, errors.New("no"))}})
		if got := e.Snapshot().Informers[0]; got.LastError != want || got.LastErrorKey != "" {
			t.Errorf("%s: the error is %q, want %q", name, got.LastError, want)
		}
	}
}

// TestNilQueue checks that AddQueue refuses what AsQueue returns for client-go's queues, where it is called.
func TestNilQueue(t *testing.T) {
	q := clientgoqueue.NewTyped[string]()
	defer q.ShutDown()
	for _, nothing := range []eyes.StatusQueue{nil, workqueue.AsQueue(q)} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, "bakeries needs a queue, got nil") {
					t.Errorf("AddQueue of %T: %q", nothing, text)
				}
			}()
			eyes.New(eyes.Options{}).AddQueue("bakeries", nothing)
		}()
	}
}
