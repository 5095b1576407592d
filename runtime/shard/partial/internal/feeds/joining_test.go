package feeds

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/shard"
)

// only returns the ranges of some hashes.
func only(hashes ...uint64) shard.Ranges {
	var some []shard.Range
	for _, hash := range hashes {
		some = append(some, shard.Range{First: hash, Last: hash})
	}
	return shard.Join(some...)
}

// randomFeed returns a feed of some hashes at a version from 10 to 19, which may have watermarks.
func randomFeed(g *Group, r *rand.Rand, hashes []uint64) *feed {
	at := 10 + r.IntN(10)
	f := &feed{group: g, ranges: only(hashes...), listed: true, at: strconv.Itoa(at),
		since: strconv.Itoa(at - r.IntN(5))}
	for range r.IntN(3) {
		f.watermarks = append(f.watermarks,
			watermark{only(hashes[:r.IntN(len(hashes)+1)]...), strconv.Itoa(at + 1 + r.IntN(5))})
	}
	return f
}

// TestJoined checks that a joined feed, which reads from the position of the feed that was behind, takes
// exactly those events that the two would have taken.
func TestJoined(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 41))
	g := &Group{}
	for range 1000 {
		hashes := r.Perm(8)
		var of [3][]uint64
		for _, hash := range hashes {
			n := r.IntN(3)
			of[n] = append(of[n], uint64(hash))
		}
		a, b := randomFeed(g, r, of[0]), randomFeed(g, r, of[1])
		behind, ahead := a, b
		if isBefore(b.at, a.at) {
			behind, ahead = b, a
		}
		since := a.since
		if isBefore(since, b.since) {
			since = b.since
		}
		for _, f := range []*feed{joinFeeds(a, b), joinFeeds(b, a)} {
			if !f.listed || f.at != behind.at || f.since != since || !f.ranges.Equal(a.ranges.Plus(b.ranges)) {
				t.Fatalf("%+v and %+v are joined as %+v", a, b, f)
			}
			for _, mark := range f.watermarks {
				if !isBefore(f.at, mark.version) {
					t.Fatalf("%+v has the watermark %v", f, mark)
				}
			}
			for _, owner := range []*feed{behind, ahead} {
				for n := range uint64(8) {
					if !owner.covers(n) {
						continue
					}
					for version := number(f.at) + 1; version < 30; version++ {
						text := fmt.Sprint(version)
						takes := version > number(owner.at) && owner.lacks(n, text)
						if f.lacks(n, text) != takes {
							t.Fatalf("%+v and %+v are joined as %+v, which takes hash %d at %d: %t", a, b, f, n,
								version, !takes)
						}
					}
					if !f.lacks(n, "") {
						t.Fatalf("%+v doesn't take what has no version", f)
					}
				}
			}
		}
	}
}

// TestWatermarks checks which watermarks a feed has: those that are later than its position.
func TestWatermarks(t *testing.T) {
	f := &feed{at: "7"}
	for _, version := range []string{"6", "9", "7", "8"} {
		f = f.withWatermark(only(number64(version)), version)
	}
	versions := func(marks []watermark) (versions []string) {
		for _, mark := range marks {
			versions = append(versions, mark.version)
			if !mark.ranges.Equal(only(number64(mark.version))) {
				t.Errorf("%v", mark)
			}
		}
		return versions
	}
	if got := versions(f.watermarks); !slices.Equal(got, []string{"9", "8"}) {
		t.Errorf("at 7: %v", got)
	}
	for version, want := range map[string][]string{"7": {"9", "8"}, "8": {"9"}, "9": nil, "10": nil} {
		if got := versions(watermarksAfter(version, f.watermarks)); !slices.Equal(got, want) {
			t.Errorf("beyond %s: %v, want %v", version, got, want)
		}
	}
}

func number64(version string) uint64 { return uint64(number(version)) }

// TestJoinable checks that feeds are joined if each has passed the list of the other, or if no feed is ever
// far behind because all watches deliver everything.
func TestJoinable(t *testing.T) {
	versions := []string{"9", "10", "11"}
	var all []*feed
	for i, at := range versions {
		for _, since := range versions[:i+1] {
			all = append(all, &feed{listed: true, at: at, since: since})
		}
	}
	for _, filtering := range []Filtering{
		{Unknown, Unknown}, {Whole, Unknown}, {Filtered, Whole}, {Whole, Filtered},
	} {
		g := &Group{filtering: filtering}
		for _, a := range all {
			for _, b := range all {
				want := filtering.watchesAreWhole() ||
					number(a.at) >= number(b.since) && number(b.at) >= number(a.since)
				if g.canJoin(a, b) != want {
					t.Errorf("%v: %+v and %+v: they can be joined: %t", filtering, a, b, !want)
				}
			}
		}
	}
	g := &Group{filtering: Filtering{Whole, Whole}}
	ready := all[0]
	for what, f := range map[string]*feed{
		"hasn't listed": {at: "9", since: "9"}, "lists again": {listed: true, listing: true, at: "9", since: "9"},
		"has an opaque version": {listed: true, at: "opaque", since: "opaque"},
	} {
		if g.canJoin(f, ready) || g.canJoin(ready, f) {
			t.Errorf("a feed is joined that %s", what)
		}
	}
	if g.versionless = true; g.canJoin(ready, ready) {
		t.Error("feeds of objects without versions are joined")
	}
}

// TestLook checks that one object without a version is remembered for good, and that other things than API
// objects have no hash.
func TestLook(t *testing.T) {
	g := &Group{options: Options{Field: shard.ByNamespace}}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", ResourceVersion: "7"}}
	for _, step := range []struct {
		obj                   any
		hash                  uint64
		isObject, versionless bool
	}{
		{object, shard.Hash("town"), true, false}, {"text", 0, false, false},
		{&corev1.ConfigMap{}, shard.Hash(""), true, true}, {object, shard.Hash("town"), true, true},
	} {
		hash, ok := g.hashObject(step.obj)
		if hash != step.hash || ok != step.isObject || g.versionless != step.versionless {
			t.Errorf("%v: %d, %t, versionless %t", step.obj, hash, ok, g.versionless)
		}
		if hash := HashOf(shard.ByNamespace, step.obj); hash != step.hash {
			t.Errorf("%v: %d", step.obj, hash)
		}
	}
}
