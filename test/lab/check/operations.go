package check

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/test/lab/cluster"
)

// There are few names, so that many operations hit each object.
var namespaces = []string{"n0", "n1", "n2"}

const objects = 5

// maxSubjects is how many informers there are at a time.
const maxSubjects = 5

// operations are the operations of scripts, with the weight by which each is drawn.
var operations = []struct {
	do     string
	weight int
	act    func(*world, *rand.Rand)
}{
	{"write", 25, func(w *world, r *rand.Rand) { w.write(r) }},
	{"recreate", 4, (*world).recreate},
	{"label", 8, (*world).label},
	{"finish", 4, (*world).finish},
	{"burst", 3, (*world).burst},

	{"watch", 2, func(w *world, r *rand.Rand) {
		if o := drawOptions(r, len(w.cluster.Kinds())); len(w.subjects) < maxSubjects {
			w.say("informer %d of %s, %v", w.made+1, w.cluster.Kinds()[o.kind].Resource, o)
			w.watch(o, r.Uint64())
		}
	}},
	{"stop", 1, (*world).stop},
	{"handle", 4, (*world).handle},
	{"leave", 2, (*world).leave},
	{"release", 3, (*world).release},
	{"namespace", 4, (*world).namespace},

	{"pass", 10, func(w *world, r *rand.Rand) { w.pass(time.Duration(r.Int64N(int64(2 * time.Second)))) }},
	{"wait", 4, func(w *world, r *rand.Rand) { w.pass(time.Duration(r.Int64N(int64(70 * time.Second)))) }},
	{"settle", 14, func(w *world, _ *rand.Rand) { w.settle() }},
	{"quiet", 1, func(w *world, _ *rand.Rand) {
		w.say("quiet")
		w.quiet()
	}},

	{"close", 2, func(w *world, _ *rand.Rand) {
		w.say("watches end")
		w.cluster.CloseWatches()
	}},
	{"cut", 2, func(w *world, _ *rand.Rand) {
		w.say("a cut")
		w.proxy.Cut()
	}},
	{"compact", 2, func(w *world, _ *rand.Rand) {
		w.say("history is gone")
		w.cluster.Compact()
	}},
	{"expire", 1, func(w *world, _ *rand.Rand) {
		w.say("history is gone, and watches end")
		w.cluster.Compact()
		w.cluster.CloseWatches()
	}},
	{"lag", 3, func(w *world, r *rand.Rand) {
		switch share, n := r.IntN(4), r.Int64N(10); {
		case share < 3:
			w.say("a server is behind that gets %d of 2 requests", share)
			w.cluster.Lag(float64(share) / 2)
		default:
			w.say("the server that is behind catches up by %d", n)
			w.cluster.CatchUp(n)
		}
	}},
	{"busy", 2, func(w *world, r *rand.Rand) {
		d := time.Duration(r.Int64N(int64(20 * time.Second)))
		if r.IntN(2) == 0 {
			w.say("watches end, and are refused for %v", d)
			w.cluster.RefuseWatches(d)
		} else {
			w.say("watches end, and again as soon as they are open, for %v", d)
			w.cluster.CloseNewWatches(d)
		}
		w.cluster.CloseWatches()
	}},
	{"bookmark", 2, func(w *world, _ *rand.Rand) { w.cluster.Bookmark() }},
	{"pages", 2, func(w *world, r *rand.Rand) {
		n, cached := r.Int64N(4), r.IntN(3) == 0
		w.say("pages of %d, from the cache %t", n, cached)
		w.cluster.MaxPage(n)
		w.cluster.WatchCache(cached)
	}},
}

// doing returns the function of an operation, nil if there is none of that name.
func doing(name string) func(*world, *rand.Rand) {
	for _, row := range operations {
		if row.do == name {
			return row.act
		}
	}
	return nil
}

func (w *world) pass(d time.Duration) {
	w.say("%v", d)
	bubble.Pass(d)
}

// pick draws a type and a name.
func (w *world) pick(r *rand.Rand) (*cluster.Kind, cache.ObjectName) {
	k := w.cluster.Kinds()[r.IntN(len(w.cluster.Kinds()))]
	return k, cache.NewObjectName(namespaces[r.IntN(len(namespaces))], fmt.Sprint("o", r.IntN(objects)))
}

// present draws an object that exists, or any name if there is none.
func (w *world) present(r *rand.Rand) (*cluster.Kind, cache.ObjectName) {
	k, name := w.pick(r)
	state, _ := k.Now()
	there := slices.SortedFunc(maps.Keys(state), func(a, b cache.ObjectName) int {
		return strings.Compare(a.String(), b.String())
	})
	if len(there) > 0 {
		name = there[r.IntN(len(there))]
	}
	return k, name
}

// write creates, updates or deletes an object.
func (w *world) write(r *rand.Rand) {
	k, name := w.pick(r)
	if r.IntN(4) == 0 {
		w.say("remove %s %s", k.Resource, name)
		w.cluster.Remove(k, name)
		return
	}
	finalizer := r.IntN(6) == 0
	version := w.cluster.Put(k, name, func(obj cluster.Object) {
		relabel(obj, r)
		fill(obj, r)
		if finalizer && obj.GetDeletionTimestamp() == nil {
			obj.SetFinalizers([]string{"lab/finalizer"})
		}
	})
	w.say("put %s %s: %s", k.Resource, name, version)
}

// label moves an object into selectors and out of them.
func (w *world) label(r *rand.Rand) {
	k, name := w.present(r)
	version := w.cluster.Put(k, name, func(obj cluster.Object) { relabel(obj, r) })
	w.say("label %s %s: %s", k.Resource, name, version)
}

// recreate deletes an object and creates another of its name.
func (w *world) recreate(r *rand.Rand) {
	k, name := w.present(r)
	w.cluster.Remove(k, name)
	w.cluster.Finish(k, name)
	version := w.cluster.Put(k, name, func(obj cluster.Object) { relabel(obj, r) })
	w.say("recreate %s %s: %s", k.Resource, name, version)
}

func (w *world) finish(r *rand.Rand) {
	k, name := w.present(r)
	w.say("finish %s %s", k.Resource, name)
	w.cluster.Finish(k, name)
}

func (w *world) burst(r *rand.Rand) {
	for range 5 + r.IntN(30) {
		w.write(r)
	}
}

// relabel sets the labels, some of which are missing.
func relabel(obj cluster.Object, r *rand.Rand) {
	labels := map[string]string{}
	if color := r.IntN(4); color < 3 {
		labels["color"] = []string{"red", "green", "blue"}[color]
	}
	if r.IntN(2) == 0 {
		labels["shape"] = []string{"round", "square"}[r.IntN(2)]
	}
	obj.SetLabels(labels)
}

// fill sets the rest of an object.
func fill(obj cluster.Object, r *rand.Rand) {
	text := fmt.Sprintf("%s \"%d\" <\u00e9\u4e16\U0001f600>", obj.GetName(), r.IntN(100))
	switch obj := obj.(type) {
	case *corev1.ConfigMap:
		obj.Data = map[string]string{"text": text, "same": "same"}
	case *corev1.Secret:
		obj.Data = map[string][]byte{"text": []byte(text)}
		obj.Type = corev1.SecretTypeOpaque
	case *coordinationv1.Lease:
		seconds := r.Int32N(100)
		obj.Spec = coordinationv1.LeaseSpec{HolderIdentity: &text, LeaseDurationSeconds: &seconds}
	}
}

// subject draws an informer. It returns nil if there is none.
func (w *world) subject(r *rand.Rand) *subject {
	n := r.Uint64()
	if len(w.subjects) == 0 {
		return nil
	}
	return w.subjects[n%uint64(len(w.subjects))]
}

func (w *world) stop(r *rand.Rand) {
	if s := w.subject(r); s != nil {
		w.say("stop %v", s)
		w.end(slices.Index(w.subjects, s))
	}
}

// handle adds a handler.
func (w *world) handle(r *rand.Rand) {
	s := w.subject(r)
	o := handlerOptions{
		manner: manner(r.IntN(int(manners))), typed: r.IntN(2) == 0, coalesce: r.IntN(3) == 0,
		contain: r.IntN(2) == 0, resync: time.Duration(r.IntN(3)) * time.Minute,
	}
	if w.implementation.Name != Ours.Name {
		o.coalesce, o.contain = false, false
	}
	if s != nil && len(s.observers) < 6 {
		w.say("a handler of %v: %v, %+v", s, o.manner, o)
		s.register(o, r.Uint64())
	}
}

// leave removes a handler other than the twins.
func (w *world) leave(r *rand.Rand) {
	s := w.subject(r)
	n := r.IntN(100)
	if s != nil && len(s.observers) > len(s.twins) {
		i := len(s.twins) + n%(len(s.observers)-len(s.twins))
		w.say("%v leaves", s.observers[i])
		s.remove(i)
	}
}

// release unblocks the blocked handlers of an informer.
func (w *world) release(r *rand.Rand) {
	s := w.subject(r)
	if s == nil {
		return
	}
	w.say("handlers of %v go on", s)
	for _, b := range s.observers {
		b.release()
	}
}

// namespace adds a namespace to a set, or removes it.
func (w *world) namespace(r *rand.Rand) {
	add, name := r.IntN(3) > 0, namespaces[r.IntN(len(namespaces))]
	for _, s := range w.subjects {
		switch {
		case s.set == nil:
		case add:
			w.say("add %s to %v", name, s)
			if err := s.set.Add(name); err != nil {
				w.fail(works, "%v adds a namespace: %v", s, err)
			}
		default:
			w.say("remove %s from %v", name, s)
			s.left = true
			s.set.Remove(name)
		}
	}
}
