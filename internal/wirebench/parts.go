package wirebench

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/runtime/shard/partial"
)

// part is the part of a server's objects that an informer reads. The zero value is all of them.
type part struct {
	// path is where the server has the objects. selector is sent with the requests.
	path, selector string
	// objects is the number of the objects.
	objects int
}

// narrow restricts an informer to a part.
func narrow(i cache.SharedInformer, selector string) {
	field, ranges, err := shard.ParseSelector(selector)
	if err != nil {
		panic(err)
	}
	if err := must(partial.Shard(i, field)).SetRanges(ranges...); err != nil {
		panic(err)
	}
}

// Parts is a benchmark of a replica that has an n-th of the objects, for several n, with a server that
// filters and with one that doesn't, beside an informer of client-go's that has all. Each part also gets a
// third measurement, "share": the cost of an informer of ours without objects, plus the part's fraction of
// what all objects add to it.
func Parts(b *testing.B, objects int) {
	server := serveParts(b, objects)
	pairs := server.pairs()
	costs := measureAll(b, server.Server, pairs)
	reportAll(b, pairs, costs, partColumns)
	for _, p := range pairs {
		if p.part.selector != "" {
			all, none := costs[server.all(p).ours()], costs[server.none(p).ours()]
			report(b, p.Name+"/share", partColumns, func(col column) float64 {
				return share(median(all, col), median(none, col), p.part.objects, objects)
			})
		}
	}
}

// share is what some of the objects should cost: the cost without objects, plus their fraction of what all
// objects add.
func share(all, none float64, some, objects int) float64 {
	return none + (all-none)*float64(some)/float64(objects)
}

func median(costs []Cost, col column) float64 {
	var values []float64
	for _, c := range costs {
		values = append(values, col.of(c))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

var partColumns = append([]column{
	{"received-MB", func(c Cost) float64 { return float64(c.Received) / mega }},
}, synced[:3]...)

// CheckParts measures the parts of few objects once. It fails if one receives more bytes or takes more memory
// than bound times its share, or if client-go's informer reads less than everything. With -short, it measures
// the parts of four replicas only.
func CheckParts(t *testing.T, objects int, bound float64) {
	server := serveParts(t, objects)
	costs := map[side]Cost{}
	pairs := server.pairs()
	if testing.Short() {
		pairs = slices.DeleteFunc(pairs, func(p Pair) bool {
			return p.part.selector != "" && !strings.HasSuffix(p.Name, "replicas=4")
		})
	}
	for _, p := range pairs {
		for _, s := range []side{p.ours(), p.theirs()} {
			if _, measured := costs[s]; !measured {
				costs[s] = run(t, server.Server, s)
			}
		}
	}
	for _, p := range pairs {
		c, all, none := costs[p.ours()], costs[server.all(p).ours()], costs[server.none(p).ours()]
		if c.CPU == 0 || c.Streamed == 0 {
			t.Errorf("%s: %+v", p.Name, c)
		}
		if p.part.selector == "" {
			continue
		}
		want := share(float64(all.Live), float64(none.Live), p.part.objects, objects)
		if got := float64(c.Live); got > bound*want {
			t.Errorf("%s: %.0f bytes of heap, its share is %.0f", p.Name, got, want)
		}
		want = share(float64(all.Received), float64(none.Received), p.part.objects, objects)
		if p.part.path == whole {
			want = float64(all.Received)
		}
		if got := float64(c.Received); got > bound*want {
			t.Errorf("%s: %.0f bytes received, its share is %.0f", p.Name, got, want)
		}
		if theirs := costs[p.theirs()]; theirs.Received < all.Received*9/10 {
			t.Errorf("%s: client-go's received %d bytes", p.Name, theirs.Received)
		}
	}
}

// all is p for all objects, in an informer without ranges. none is p for no objects.
func (s partServer) all(p Pair) Pair {
	p.part = part{path: whole, objects: len(s.objects)}
	return p
}

func (s partServer) none(p Pair) Pair {
	p.part = part{path: nothing}
	p.theirPart = p.part
	return p
}

// pairs returns the measurements.
func (s partServer) pairs() (pairs []Pair) {
	for _, list := range []struct {
		name      string
		watchList bool
		fields    []shard.Field
	}{
		{"LIST", false, []shard.Field{shard.ByNamespace, shard.ByUID}},
		{"WatchList", true, []shard.Field{shard.ByNamespace}},
	} {
		p := Pair{Ours: "workloads/" + ours, Theirs: "workloads/" + clientGo, WatchList: list.watchList,
			theirPart: part{path: whole, objects: len(s.objects)}}
		add := func(name string, p Pair) {
			p.Name = "list=" + list.name + "/" + name
			pairs = append(pairs, p)
		}
		add("objects=none", s.none(p))
		add("objects=all", s.all(p))
		for _, field := range list.fields {
			for _, server := range []struct{ name, path string }{{"filters", ""}, {"whole", whole}} {
				for _, replicas := range []int{1, 2, 4, 8} {
					p.part = s.part(field, replicas)
					p.part.path = server.path
					name := fmt.Sprintf("by=%s/server=%s/replicas=%d", fieldNames[field], server.name, replicas)
					add(name, p)
				}
			}
		}
	}
	return pairs
}

var fieldNames = map[shard.Field]string{shard.ByNamespace: "namespace", shard.ByUID: "uid"}
