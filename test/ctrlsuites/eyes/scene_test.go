package eyes

import (
	"errors"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/queue"
)

// queueStatus is that of a queue that a test makes up.
type queueStatus queue.Status

func (s queueStatus) Status() queue.Status { return queue.Status(s) }

// scene is a program in which three things don't work.
func scene() *eyes.Eyes {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	watching := func(
		gvr schema.GroupVersionResource, objects int, handlers ...informer.HandlerStatus,
	) informer.Status {
		return informer.Status{
			Name: "informer of " + gvr.GroupVersion().String() + " " + gvr.Resource, Type: "*T", Resource: gvr,
			State: informer.Watching, Since: ago(3 * time.Minute), Synced: true, Listed: ago(2 * time.Hour),
			Lists: 1, ListItems: objects, Watches: 17, ListTook: 312 * time.Millisecond,
			LastEvent: ago(4 * time.Second), LastBookmark: ago(31 * time.Second), ResourceVersion: "48211907",
			Objects: objects, Handlers: handlers,
		}
	}
	group := func(name, resource string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Group: name, Version: "v1", Resource: resource}
	}
	baker := informer.HandlerStatus{Name: "baker", Synced: true, Delivered: 48312}
	ovens := watching(group("example.com", "ovens"), 0)
	ovens.State, ovens.Since, ovens.Synced = informer.BackingOff, ago(11*time.Second), false
	ovens.Listed, ovens.LastEvent, ovens.LastBookmark = time.Time{}, time.Time{}, time.Time{}
	ovens.Lists, ovens.Watches, ovens.ListTook, ovens.ResourceVersion = 0, 0, 0, ""
	ovens.Failures, ovens.FailingSince = 14, ago(7*time.Minute)
	ovens.LastError = apierrors.NewForbidden(ovens.Resource.GroupResource(), "",
		errors.New(`User "system:serviceaccount:shop:bakery" cannot list resource "ovens" in API group `+
			`"example.com" at the cluster scope`))
	silent := watching(group("", "configmaps"), 812,
		informer.HandlerStatus{Name: "recipes", Synced: true, Delivered: 9001})
	silent.LastEvent, silent.LastBookmark, silent.Since = ago(9*time.Minute), ago(9*time.Minute), ago(time.Hour)
	silent.Type = "*v1.PartialObjectMetadata"
	e := eyes.New(eyes.Options{})
	e.AddCaches("manager", &statuses{list: []informer.Status{
		watching(group("example.com", "bakeries"), 1204, baker),
		watching(group("apps", "deployments"), 3127, baker,
			informer.HandlerStatus{Name: "rollout", Synced: true, Backlog: 212, Delivered: 90112, Busy: true}),
		ovens, silent,
	}})
	e.AddQueue("bakeries", queueStatus{
		Ready: 41, InProcess: 5, Again: 2, Delayed: 17, NextDue: 8 * time.Second, HandedOut: 90117, Timed: true,
		LongestRunning: 26 * time.Minute, OldestWaiting: 14 * time.Second,
	})
	e.AddMember("bakers", func() (eyes.Member, bool, error) {
		return eyes.Member{
			Identity: "bakery-7d9f-x2k4p", Started: true, Owned: []string{"0000-3fff", "8000-9fff"}, Owners: 3,
			Gained: 2, Running: 5,
		}, true, nil
	}, nil)
	e.AddQueue("ovens", queueStatus{HandedOut: 12})
	return e
}

// TestFindings checks that the page shows findings first, and that they are in its title.
func TestFindings(t *testing.T) {
	b := open(t, scene())
	var kinds []string
	b.value(`[...document.querySelectorAll("#findings b")].map(node => node.textContent)`, &kinds)
	if !slices.Equal(kinds, []string{"reconcile hangs", "cannot list", "silent watch"}) {
		t.Errorf("findings %q", kinds)
	}
	b.check(`document.title === "(3) Eyes"`)
	b.check(`document.querySelector("#findings").compareDocumentPosition(document.querySelector("table")) ===
		Node.DOCUMENT_POSITION_FOLLOWING`)
	for _, colours := range []string{"light", "dark"} {
		b.screen(1280, colours)
		b.picture(colours)
	}
	b.screen(360, "light")
	b.picture("narrow")
	b.html() // opens the rows
	b.picture("narrow-open")
	b.screen(1280, "dark")
	b.picture("dark-open")
}
