package reflector

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestPages checks, for random pages, that a list ends with an error when a token comes again, or when 100
// pages in a row bring no new key, and not before.
func TestPages(t *testing.T) {
	ends := map[string]int{}
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 35))
		const limit = 5
		p := newPages(limit)
		known, tokens, stalled := map[string]bool{}, map[string]bool{}, 0
		news := []int{1, 2, 40, 1000}[random.IntN(4)] // one in so many objects is new
		for number := 1; ; number++ {
			fresh := false
			for range random.IntN(limit + 1) {
				name := fmt.Sprint(random.IntN(len(known) + 1))
				if random.IntN(news) == 0 {
					name = fmt.Sprint(len(known))
				}
				fresh = fresh || !known[name]
				known[name] = true
				p.received(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}})
			}
			if stalled++; fresh {
				stalled = 0
			}
			token := strconv.Itoa(number)
			if random.IntN(2000) == 0 {
				token = strconv.Itoa(1 + random.IntN(number))
			}
			want := ""
			switch {
			case tokens[token]:
				want = "token"
			case stalled == 100:
				want = "no new object"
			}
			tokens[token] = true
			err := p.next(token)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Fatalf("seed %d: page %d: %v, want %q", seed, number, err, want)
			}
			if err != nil || number == 2000 {
				ends[want]++
				break
			}
		}
	}
	for _, end := range []string{"", "token", "no new object"} {
		if ends[end] == 0 {
			t.Errorf("no list ended with %q: %v", end, ends)
		}
	}
}

// TestKeysOfPages checks that objects of one name in two namespaces differ, and what isn't an API object
// brings no key.
func TestKeysOfPages(t *testing.T) {
	p := newPages(2)
	for n, step := range []struct {
		object any
		fresh  bool
	}{
		{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "x"}}, true},
		{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "x"}}, true},
		{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "x"}}, false},
		{"no object", false},
		{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, true},
	} {
		p.received(step.object)
		if p.fresh != step.fresh {
			t.Errorf("object %d: fresh is %t", n, p.fresh)
		}
		if err := p.next(strconv.Itoa(n)); err != nil {
			t.Error(err)
		}
	}
}

// TestLongLists checks that both reflectors read lists of many small pages, in any order, some of which are
// empty or repeat objects.
func TestLongLists(t *testing.T) {
	const size = 500
	for name, names := range map[string]func(page int) []int{
		"in order":          func(page int) []int { return []int{page} },
		"backwards":         func(page int) []int { return []int{size - page} },
		"with a header":     func(page int) []int { return []int{0, page} },
		"with empty pages":  func(page int) []int { return []int{page}[:min(1, (page+1)%50)] },
		"overlapping":       func(page int) []int { return []int{max(page-1, 0), page} },
		"with known pages":  func(page int) []int { return []int{page / 100 * 100} },
		"all on each page":  func(page int) []int { return []int{0, 1, 2, 3, page % 99} },
		"without new pages": func(page int) []int { return []int{page % 99} },
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			pages := size
			if name == "without new pages" || name == "all on each page" {
				pages = 99 + 99
			}
			server := &hostile{lists: func(n int, opts metav1.ListOptions) (*corev1.ConfigMapList, error) {
				at, _ := strconv.Atoi(opts.Continue)
				list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "100"}}
				if at+1 < pages {
					list.Continue = strconv.Itoa(at + 1)
				}
				for _, name := range names(at) {
					list.Items = append(list.Items, *versioned(strconv.Itoa(name), 90))
				}
				return list, nil
			}, watches: watchesFail(forbidden)}
			for _, run := range []func(context.Context, *world){
				func(ctx context.Context, w *world) { server.ours(w, options{}).Run(ctx) },
				func(ctx context.Context, w *world) { server.upstream(w, options{}).RunWithContext(ctx) },
			} {
				synctest.Test(t, func(t *testing.T) {
					w := &world{t: t, transcript: newTranscript()}
					ctx, cancel := context.WithCancel(t.Context())
					ended := make(chan struct{})
					go func() { run(ctx, w); close(ended) }()
					w.advanceUntil(func() bool { return !w.empty() })
					cancel()
					<-ended
				})
			}
		})
	}
}
