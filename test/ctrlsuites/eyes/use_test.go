package eyes

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/runtime/informer"
)

// statuses are those of informers that a test makes up.
type statuses struct {
	mu   sync.Mutex
	list []informer.Status
}

func (s *statuses) Statuses() []informer.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

func (s *statuses) change(f func(list []informer.Status)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.list)
}

// counted is a handler that counts requests.
type counted struct {
	http.Handler
	n atomic.Int64
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.n.Add(1)
	c.Handler.ServeHTTP(w, r)
}

// TestHidden checks that a page which can't be seen sends no requests, and looks at once when it can.
func TestHidden(t *testing.T) {
	c := &counted{Handler: eyes.New(eyes.Options{})}
	b := open(t, c)
	const visibility = `Object.defineProperty(document, "visibilityState", {value: %q, configurable: true});
		document.dispatchEvent(new Event("visibilitychange"))`
	b.pause()
	b.value(fmt.Sprintf(visibility, "hidden"), nil)
	before := c.n.Load()
	b.value(`look()`, nil)
	b.check(`!looking`)
	if got := c.n.Load(); got != before {
		t.Errorf("%d requests while it was hidden", got-before)
	}
	b.value(`globalThis.before = shown`, nil)
	b.value(fmt.Sprintf(visibility, "visible"), nil)
	b.wait(`shown !== before`)
}

// TestUse checks what people do with the page: filter, sort, open rows, and use the keyboard.
func TestUse(t *testing.T) {
	e := eyes.New(eyes.Options{})
	var all statuses
	for n := range 60 {
		all.list = append(all.list, informer.Status{
			Name: fmt.Sprintf("informer of kind%d", n), State: informer.Watching, Synced: true, Objects: 100 - n,
			Resource: schema.GroupVersionResource{Version: "v1", Resource: fmt.Sprintf("kind%d", n)},
		})
	}
	e.AddCaches("shop", &all)
	b := open(t, e)
	first := func() (text string) {
		b.value(`document.querySelector("#informers tbody button").textContent`, &text)
		return text
	}
	objects := `[...document.querySelectorAll("#informers th button")].find(b => b.textContent === "Objects")`
	for n, want := range []string{"kind0", "kind59", "kind0", "kind0"} {
		if got := first(); got != want {
			t.Errorf("after %d clicks %s is first, want %s", n, got, want)
		}
		var sorted *string
		if b.value(objects+`.parentElement.getAttribute("aria-sort")`, &sorted); sorted != nil != (n%3 != 0) {
			t.Errorf("after %d clicks, aria-sort is %v", n, sorted)
		}
		b.value(objects+`.click()`, nil)
	}
	// A refresh keeps the sort, open rows, the focus, a selection and how far the page was scrolled.
	b.value(`document.querySelectorAll("#informers tbody button")[30].click();
		document.querySelectorAll("#informers tbody button")[41].focus();
		getSelection().selectAllChildren(document.querySelectorAll("#informers tbody tr")[20]);
		scrollTo(0, 700)`, nil)
	const state = `JSON.stringify([scrollY, document.activeElement.textContent, String(getSelection()),
		document.querySelectorAll("dl").length, document.querySelectorAll("#informers tbody tr").length])`
	var before, after string
	b.value(state, &before)
	all.change(func(list []informer.Status) { list[3].Objects, list[0].Name = 1000, "changed" })
	b.look()
	if b.value(state, &after); after != before || !strings.HasPrefix(before, "[700,") {
		t.Errorf("before a refresh %s, then %s", before, after)
	}
	all.change(func(list []informer.Status) { list[18].Objects = 0 })
	b.look()
	if got := first(); got != "kind18" {
		t.Errorf("%s has the fewest objects, and isn't first", got)
	}
	b.check(`document.activeElement.textContent === "kind18"`)
	// The keyboard: / goes to the filter, all words have to match, and Escape shows all again.
	b.value(`document.body.focus()`, nil)
	b.do(input.DispatchKeyEvent(input.KeyDown).WithKey("/").WithText("/"), chromedp.KeyEvent("kind5 shop"))
	b.check(`document.activeElement.id === "filter" && filter.value === "kind5 shop"`)
	b.wait(`document.querySelector("#informers small").textContent === "11 of 60"`)
	b.do(chromedp.KeyEvent("\x1b"))
	b.wait(`document.querySelector("#informers small").textContent === "60"`)
	b.check(`document.querySelector("#informers .scroll").tabIndex === 0`)
	// The first button of a table is reached by Tab, and Enter opens its row.
	b.value(`document.querySelector("#informers tbody button").focus()`, nil)
	b.do(chromedp.KeyEvent("\r"))
	b.check(`document.activeElement.getAttribute("aria-expanded") === "true"`)
	for _, width := range []int64{360, 800, 1280} {
		b.screen(width, "light")
		b.check(fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, width))
	}
}
