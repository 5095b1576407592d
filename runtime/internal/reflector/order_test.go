package reflector

import (
	"testing"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/internal/bubble"
)

// TestDisorderIsTold checks that a server whose versions go back, or whose events come twice, is reported,
// and that permitted orders aren't.
func TestDisorderIsTold(t *testing.T) {
	event := func(kind watch.EventType, version string) func(*world) {
		return func(w *world) {
			obj := configMap("a")
			obj.ResourceVersion = version
			w.server.Inject(watch.Event{Type: kind, Object: obj})
		}
	}
	for name, c := range map[string]struct {
		then func(*world)
		want string
	}{
		"an event twice":      {event(watch.Modified, "102"), "the server sent two events of version 102"},
		"an older event":      {event(watch.Added, "101"), "the server sent event 101 after version 102"},
		"an older deletion":   {event(watch.Deleted, "9"), "the server sent event 9 after version 102"},
		"an older bookmark":   {event(watch.Bookmark, "101"), "the server sent event 101 after version 102"},
		"a bookmark twice":    {event(watch.Bookmark, "102"), ""},
		"a later event":       {event(watch.Modified, "1000"), ""},
		"an event without":    {event(watch.Modified, ""), ""},
		"an opaque version":   {event(watch.Modified, "x7"), ""},
		"a version with zero": {event(watch.Modified, "0102"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			scenario{before: listed, then: func(w *world) {
				w.create("b")
				c.then(w)
				w.settle()
				h := w.ours.Health()
				if got := errorText(h.LastError); got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
				if h.Failures > 0 || h.State != Watching {
					t.Errorf("%d failures, it is %s", h.Failures, h.State)
				}
			}}.play(t, ours)
		})
	}
}

// TestOlderListIsTold checks that a list that is older than the last seen version is reported, too.
func TestOlderListIsTold(t *testing.T) {
	scenario{before: listed, then: func(w *world) {
		obj := configMap("a")
		obj.ResourceVersion = "200"
		w.server.Inject(watch.Event{Type: watch.Modified, Object: obj})
		w.server.FailWatches(expired)
		w.server.Fail("LIST", expired) // then it lists at no version
		bubble.Advance(backoff)
		const want = "the server sent list 101 after version 200"
		if got := errorText(w.ours.Health().LastError); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}}.play(t, ours)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
