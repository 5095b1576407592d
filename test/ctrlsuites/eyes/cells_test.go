package eyes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/eyes"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// shop is a server that counts, with an informer of it and a handler that counts.
type shop struct {
	*testing.T
	server       *runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList]
	informer     cache.SharedIndexInformer
	registration cache.ResourceEventHandlerRegistration
	lists        atomic.Int64
	watches      atomic.Int64
	handled      atomic.Int64
	// opened is when the server got the request of the last watch.
	opened atomic.Int64
	// pause is held while the handler may not return.
	pause sync.Mutex
}

func newShop(t *testing.T, gvr schema.GroupVersionResource, handler string) *shop {
	t.Helper()
	s := &shop{T: t, server: runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()}
	s.server.NoWatchListClient()
	s.server.Observe(func(r runtimetest.Request) {
		if r.Verb == "LIST" {
			s.lists.Add(1)
			return
		}
		s.opened.Store(time.Now().UnixNano())
		s.watches.Add(1)
	})
	client := func() gen.ResourceClient[*corev1.ConfigMapList] { return s.server }
	s.informer = gen.NewShared[*corev1.ConfigMap](client, gen.Options{Client: s.server, Resource: gvr})
	handle := func(any) {
		s.handled.Add(1)
		s.pause.Lock()
		defer s.pause.Unlock()
	}
	var err error
	s.registration, err = informer.AddEventHandler(s.informer,
		cache.ResourceEventHandlerFuncs{AddFunc: handle}, informer.HandlerOptions{Name: handler})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *shop) start() {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.informer.RunWithContext(ctx) })
	s.Cleanup(func() {
		cancel()
		running.Wait()
	})
}

func (s *shop) create(names ...string) {
	for _, name := range names {
		s.server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}})
	}
}

// between are the least and the greatest duration that a cell may have. Cells have whole seconds, and the
// page reads times to the millisecond.
type between [2]time.Duration

// has reports an error for each cell of a row that differs.
func (b *browser) has(row, want map[string]string, ranges map[string]between) {
	b.Helper()
	for title, text := range row {
		if limits, ok := ranges[title]; ok {
			got, err := time.ParseDuration(text)
			low, high := limits[0].Round(time.Second), (limits[1] + time.Millisecond).Round(time.Second)
			if err != nil || got < low || got > high {
				b.Errorf("%s: %s, want %v to %v", title, text, low, high)
			}
		} else if text != want[title] {
			b.Errorf("%s: %q, want %q", title, text, want[title])
		}
	}
	if got := slices.Sorted(maps.Keys(row)); len(got) != len(want)+len(ranges) {
		b.Errorf("columns %q", got)
	}
}

// TestCells compares each cell of the page with what a server and handlers have counted.
func TestCells(t *testing.T) {
	s := newShop(t, schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, "baker")
	e := eyes.New(eyes.Options{})
	e.AddInformer("shop", s.informer)
	q := queue.New(queue.Config[string]{})
	t.Cleanup(q.ShutDown)
	e.AddQueue("bakeries", q)
	owned := time.Now().Add(-time.Hour)
	e.AddMember("bakers", func() (eyes.Member, bool, error) {
		return eyes.Member{
			Identity: "anna", Owned: []string{"0-7", "8-b"}, Since: owned, Giving: []string{"8-b"}, Owners: 3,
			Unowned: []string{"c-f"}, Gained: 5, Lost: 4, Running: 6, Waiting: 7, Hung: 8,
			LostMembers: []string{"ben"}, LostAt: owned,
		}, true, nil
	}, nil)
	b := open(t, e)
	b.has(b.cells("informers")[0], map[string]string{
		"Informer": "deployments.apps", "Source": "shop", "Namespace": "-", "Form": "typed", "State": "Idle",
		"For": "-", "Synced": "no", "Objects": "0", "Lists": "0", "Watches": "0", "Last event": "-",
		"Failures": "0", "Lag, 99%": "-",
	}, nil)

	// Two objects are listed, three come by the watch, and the handler doesn't return from the first.
	s.create("a", "b")
	s.pause.Lock()
	s.start()
	b.wait(`shown.informers[0].watches === 1 && shown.informers[0].handlers[0].busy`)
	s.create("c", "d", "e")
	for n := range 5 {
		q.Add("ns/" + strconv.Itoa(n))
	}
	soonest := time.Now().Add(time.Hour)
	q.AddAfter("ns/later", time.Hour)
	latest := time.Now().Add(time.Hour)
	item, _ := q.Get()
	q.Add(item)
	b.wait(`shown.informers[0].objects === 5 && shown.queues[0].again === 1`)
	b.pause()
	var shown eyes.Snapshot
	b.snapshot(&shown)
	since := shown.Taken.Sub
	b.has(b.cells("informers")[0], map[string]string{
		"Informer": "deployments.apps", "Source": "shop", "Namespace": "-", "Form": "typed", "State": "Watching",
		"Synced": "yes", "Objects": strconv.Itoa(len(s.server.Objects())),
		"Lists": fmt.Sprint(s.lists.Load()), "Watches": fmt.Sprint(s.watches.Load()), "Failures": "0",
		"Lag, 99%": "-", // the objects have no managedFields
	}, map[string]between{
		"For":        {0, since(time.Unix(0, s.opened.Load()))},
		"Last event": {0, since(time.Unix(0, s.opened.Load()))},
	})
	b.has(b.cells("handlers")[0], map[string]string{
		"Handler": "baker", "Source": "shop", "Informer": "apps/v1 deployments", "Synced": "no",
		"Backlog":   fmt.Sprint(int64(len(s.server.Objects())) - s.handled.Load()),
		"Delivered": fmt.Sprint(s.handled.Load()), "Busy": "yes", "Panics": "0",
	}, nil)
	b.has(b.cells("queues")[0], map[string]string{
		"Queue": "bakeries", "Ready": "4", "In process": "1", "Again": "1", "Parked": "0", "Delayed": "1",
		"Handed out": "1", "Longest running": "no metrics", "Oldest waiting": "no metrics",
		"Shut down": "no", "Failing": "0",
	}, map[string]between{"Next due": {time.Until(soonest), latest.Sub(shown.Taken)}})

	b.has(b.cells("members")[0], map[string]string{
		"Member": "anna", "Source": "bakers", "Owned": "2", "Giving": "1", "Owners": "3", "Unowned": "1",
		"Gained": "5", "Lost": "4", "Running": "6", "Waiting": "7", "Hung": "8",
	}, map[string]between{"For": {since(owned), since(owned)}})

	// The handler goes on. The page sees it by itself.
	s.pause.Unlock()
	b.value(`look()`, nil)
	b.wait(`document.querySelector("#handlers tbody").textContent.includes("apps/v1 deployments05noyes0shop")`)
	if got := s.handled.Load(); got != 5 {
		t.Errorf("%d notifications were handled", got)
	}

	// Its permission is removed. The error is in the row that opens, as the server has sent it.
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "", errors.New("no role"))
	s.server.OnRequest(func(context.Context, runtimetest.Request) error { return forbidden })
	s.server.CloseWatches()
	b.wait(`shown.informers[0].failures > 0`)
	b.do(chromedp.Click("#informers tbody button", chromedp.ByQuery))
	b.wait(`[...document.querySelectorAll("#informers dd")].some(dd => dd.textContent.includes("no role"))`)
	b.check(`document.querySelector("#informers tbody td:nth-child(2)").className === "bad"`)
}

// TestUnread checks that the page says of client-go's informers what it can't know, and why.
func TestUnread(t *testing.T) {
	e := eyes.New(eyes.Options{})
	e.AddInformer("shop", cache.NewSharedInformer(&cache.ListWatch{}, &corev1.Pod{}, 0))
	b := open(t, e)
	b.has(b.cells("informers")[0], map[string]string{
		"Informer": "SharedIndexInformer *v1.Pod", "Source": "shop", "Namespace": "-", "Form": "-", "State": "-",
		"For": "-", "Synced": "no", "Objects": "-", "Lists": "-", "Watches": "-", "Last event": "-",
		"Failures": "-", "Lag, 99%": "-",
	}, nil)
	b.html() // opens the row
	b.check(`document.querySelector("dl").textContent.includes("the informer isn't one of kubewright's")`)
}
