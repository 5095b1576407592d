// Package eyes loads the page of package eyes in a browser. Its tests are skipped where there is none.
package eyes

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var screenshots = flag.String("screenshots", "", "a folder for images of the page")

// browser is a tab that shows the page of a handler.
type browser struct {
	*testing.T
	ctx context.Context
	url string
}

// open loads a page in a browser, and waits until it shows a snapshot.
func open(t *testing.T, h http.Handler) *browser {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)),
		chromedp.WindowSize(1280, 900), chromedp.WSURLReadTimeout(2*time.Minute)) // It may start slowly.
	if os.Geteuid() == 0 { // Chromium refuses root otherwise. It loads nothing but our page.
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	b := &browser{t, ctx, server.URL + "/debug/eyes"}
	b.do(chromedp.Navigate(b.url))
	b.wait("typeof shown === 'object'")
	return b
}

// chromium returns the path of a browser, or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no chromium here, so nobody looks at the page of eyes: apt-get install chromium")
	return ""
}

func (b *browser) do(actions ...chromedp.Action) {
	b.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// wait waits until an expression of JavaScript is true.
func (b *browser) wait(expression string) {
	b.Helper()
	if err := chromedp.Run(b.ctx, chromedp.Poll(expression, nil)); err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
}

// value sets v to the value of an expression of JavaScript.
func (b *browser) value(expression string, v any) {
	b.Helper()
	if err := chromedp.Run(b.ctx, chromedp.Evaluate(expression, v)); err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
}

// check reports an error if an expression of JavaScript isn't true.
func (b *browser) check(expression string) {
	b.Helper()
	var holds bool
	if b.value(expression, &holds); !holds {
		b.Errorf("not true: %s", expression)
	}
}

// cells returns the texts of a table, by the titles of its columns.
func (b *browser) cells(table string) (rows []map[string]string) {
	b.Helper()
	b.value(`(() => {
		const texts = nodes => [...nodes].map(node => node.textContent);
		const titles = texts(document.querySelectorAll("#`+table+` th"));
		const rows = [...document.querySelectorAll("#`+table+` tbody tr")].filter(tr => tr.cells.length > 1);
		return rows.map(tr => Object.fromEntries(texts(tr.cells).map((text, n) => [titles[n], text])));
	})()`, &rows)
	return rows
}

// html returns the whole document, with all rows open.
func (b *browser) html() (text string) {
	b.Helper()
	b.value(`document.querySelectorAll("[aria-expanded=false]").forEach(button => button.click());
		document.documentElement.outerHTML`, &text)
	return text
}

// snapshot reads what the page shows into v, a *eyes.Snapshot.
func (b *browser) snapshot(v any) {
	b.Helper()
	var text string
	b.value("JSON.stringify(shown)", &text)
	if err := json.Unmarshal([]byte(text), v); err != nil {
		b.Fatal(err)
	}
}

// look makes the page read a snapshot now, and waits until it shows a later one than before.
func (b *browser) look() {
	b.Helper()
	b.do(chromedp.Evaluate("globalThis.before = shown; look()", nil))
	b.wait("shown !== before")
}

// pause ends the page's looks until the next call of its look.
func (b *browser) pause() {
	b.Helper()
	b.wait("!looking && (clearTimeout(next), true)")
}

// screen sets the size of the screen and its colours.
func (b *browser) screen(width int64, colours string) {
	b.Helper()
	b.do(chromedp.EmulateViewport(width, 900), emulation.SetEmulatedMedia().WithFeatures(
		[]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: colours}}))
}

// picture writes an image of the page to the folder of the flag, if it was given.
func (b *browser) picture(name string) {
	b.Helper()
	if *screenshots == "" {
		return
	}
	var text []byte
	var width, height int64
	b.value("innerWidth", &width)
	b.value("document.documentElement.scrollHeight", &height)
	b.do(chromedp.EmulateViewport(width, height), chromedp.CaptureScreenshot(&text))
	whole, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		b.Fatal(err)
	}
	var small bytes.Buffer
	if err := png.Encode(&small, paletted(whole)); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), small.Bytes(), 0o644); err != nil {
		b.Fatal(err)
	}
}

// paletted returns an image in its 200 most frequent colours: its file is a third as long.
func paletted(whole image.Image) image.Image {
	frequent := map[color.Color]int{}
	size := whole.Bounds()
	for y := range size.Dy() {
		for x := range size.Dx() {
			frequent[whole.At(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(frequent), func(a, b color.Color) int {
		return frequent[b] - frequent[a]
	})
	small := image.NewPaletted(size, colours[:min(200, len(colours))])
	draw.Draw(small, size, whole, size.Min, draw.Src)
	return small
}

// get returns what a handler answers.
func get(t *testing.T, h http.Handler, target string) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
	var text bytes.Buffer
	if _, err := text.ReadFrom(w.Result().Body); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(text.String())
}
