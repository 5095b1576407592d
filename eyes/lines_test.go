package eyes_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/queue"
)

// TestLineOfKey asks for a key before and after an informer has synced and the key was added, as text and as
// JSON, and without the option for names.
func TestLineOfKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.server.Create(configMap("one"))
		e := eyes.New(eyes.Options{Keys: true})
		e.AddInformer("shop", r.informer)
		q := queue.New(queue.Config[string]{})
		defer q.ShutDown()
		e.AddQueue("bakeries", q)
		get := func(from http.Handler, query string) (int, string) {
			w := httptest.NewRecorder()
			from.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/debug/eyes?"+query, nil))
			return w.Code, w.Body.String()
		}
		if code, text := get(e, "key=ns/one"); code != http.StatusOK ||
			!strings.HasPrefix(text, "looked at 2000-01-01T00:00:00Z\n\nns/one is not in queue bakeries, and these "+
				"informers haven't synced: ") ||
			!strings.Contains(text, "\n  none\n") {
			t.Errorf("before the start: %d %s", code, text)
		}
		r.start()
		q.Add("ns/one")
		bubble.Advance(time.Minute)
		_, text := get(e, "key=ns/one")
		for _, want := range []string{
			"ns/one in queue bakeries: pending because it is ready, with 0 before it, and no worker takes any\n  ",
			"  added\n", `configmaps of "shop", version `,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%q isn't in %s", want, text)
			}
		}
		e.AddCaches("odd", statusesFunc(func() []informer.Status { panic("odd") }))
		_, text = get(e, "key=ns/two")
		if !strings.Contains(text, "\n\nns/two is not in queue bakeries: nothing has added it") ||
			!strings.Contains(text, "\n\nwhat doesn't work in this program, which may be why:\n  source panics: ") {
			t.Errorf("a key that nobody added: %s", text)
		}
		_, text = get(e, "key=ns/one&format=json")
		var line struct {
			Queues []struct {
				Steps []struct {
					Time time.Time
					What string
				}
			}
			Objects []struct{ ResourceVersion string }
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil || len(line.Queues) != 1 ||
			len(line.Queues[0].Steps) != 1 || time.Since(line.Queues[0].Steps[0].Time) != time.Minute ||
			len(line.Objects) != 1 || line.Objects[0].ResourceVersion == "" {
			t.Errorf("%v in %s", err, text)
		}
		if code, text := get(r.eyes, "key=ns/one"); code != http.StatusBadRequest ||
			!strings.Contains(text, "Options.Keys") {
			t.Errorf("without the option: %d %s", code, text)
		}
		e.Remove("bakeries")
		if _, text := get(e, "key=ns/one"); !strings.Contains(text, "\n\nno queue was added") {
			t.Errorf("without a queue: %s", text)
		}
	})
}
