package deltafifo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/kubewright/kubewright/internal/guarantee"
)

type delta = Delta[string]

// list is a List of keys.
type list []string

func (l list) Len() int { return len(l) }

func (l list) Each(yield func(key string, object any, version string)) {
	for _, key := range l {
		yield(key, key, "1")
	}
}

// TestModel compares a queue with a slice over random operations: everything must come out once and in order,
// and a batch must stay unchanged until the next pop.
func TestModel(t *testing.T) {
	for seed := range uint64(50) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			f := New[string]()
			var pending, lent, want []delta
			taking := []float64{.5, .1, .01}[seed%3]
			for i := range 2000 {
				version := fmt.Sprint(i)
				switch n := r.IntN(20); {
				case r.Float64() < taking:
					if !reflect.DeepEqual(lent, want) {
						t.Fatalf("%s: step %d: a batch has become\n%v, it was\n%v", guarantee.Complete, i, lent, want)
					}
					var err error
					if len(pending) == 0 {
						// The last batch is given back nevertheless.
						if _, err = f.PopBatch(ended(t)); !errors.Is(err, context.Canceled) {
							t.Fatalf("%s: step %d: PopBatch with a context that is done: %v", guarantee.NoLeak, i, err)
						}
						lent, want = nil, nil
						continue
					}
					if lent, err = f.PopBatch(t.Context()); err != nil || !reflect.DeepEqual(lent, pending) {
						t.Fatalf("%s: step %d: PopBatch = %v, %v, want %v", guarantee.Complete, i, lent, err, pending)
					}
					want, pending = pending, nil
				case n < 16:
					d := delta{Type: Added + DeltaType(r.IntN(3)), Key: fmt.Sprint(r.IntN(50)), Object: i,
						Version: version}
					f.Append(d.Type, d.Key, d.Object, d.Version)
					pending = append(pending, d)
				case n < 17:
					f.Bookmark(version)
					pending = append(pending, delta{Type: Bookmark, Version: version})
				case n < 18:
					f.SyncAll()
					pending = append(pending, delta{Type: SyncAll})
				default:
					l := list{fmt.Sprint(i)}
					f.Replace(l, version)
					pending = append(pending, delta{Type: ReplacedAll, List: l, Version: version})
				}
				if f.Len() != len(pending) {
					t.Fatalf("%s: step %d: %d are pending, want %d", guarantee.Complete, i, f.Len(), len(pending))
				}
			}
		})
	}
}
