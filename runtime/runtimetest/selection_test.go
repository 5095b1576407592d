package runtimetest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/runtime/shard"
)

// TestSelectors checks that lists, also in pages, and watches have exactly the selected objects, while
// objects move into and out of the selection: an object that moves out is deleted, in its last selected
// state.
func TestSelectors(t *testing.T) {
	for what, c := range map[string]struct {
		opts     metav1.ListOptions
		selected func(*corev1.ConfigMap) bool
	}{
		"a label": {metav1.ListOptions{LabelSelector: "color=red"},
			func(cm *corev1.ConfigMap) bool { return cm.Labels["color"] == "red" }},
		"not a label": {metav1.ListOptions{LabelSelector: "color notin (red,blue)"},
			func(cm *corev1.ConfigMap) bool { return cm.Labels["color"] == "green" }},
		"a name": {metav1.ListOptions{FieldSelector: "metadata.name=c"},
			func(cm *corev1.ConfigMap) bool { return cm.Name == "c" }},
		"a namespace": {metav1.ListOptions{FieldSelector: "metadata.namespace=other"},
			func(*corev1.ConfigMap) bool { return false }},
		"both": {metav1.ListOptions{FieldSelector: "metadata.name!=c", LabelSelector: "color=red"},
			func(cm *corev1.ConfigMap) bool { return cm.Name != "c" && cm.Labels["color"] == "red" }},
	} {
		t.Run(what, func(t *testing.T) {
			for seed := range uint64(20) {
				synctest.Test(t, func(t *testing.T) { select20(t, seed, c.opts, c.selected) })
			}
		})
	}
}

// select20 makes 20 random writes with a selecting watch open.
func select20(t *testing.T, seed uint64, opts metav1.ListOptions, selected func(*corev1.ConfigMap) bool) {
	r := rand.New(rand.NewPCG(seed, 3))
	s := newServer()
	from := s.Version()
	watched := opts
	watched.ResourceVersion = from
	w, err := s.Watch(t.Context(), watched)
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]corev1.ConfigMap{}
	for range 20 {
		cm := configMap(string(rune('a' + r.IntN(4))))
		cm.Labels = map[string]string{"color": []string{"red", "green", "blue"}[r.IntN(3)]}
		before, _ := s.Find("ns", cm.Name)
		version := ""
		switch {
		case before == nil:
			version = s.Create(cm)
		case r.IntN(4) == 0:
			version, cm = s.Delete("ns", cm.Name), before
		default:
			version = s.Update(cm)
		}
		synctest.Wait()
		_, exists := s.Find("ns", cm.Name)
		was, is := before != nil && selected(before), exists && selected(cm)
		select {
		case e := <-w.ResultChan():
			got := e.Object.(*corev1.ConfigMap)
			if !was && !is || got.ResourceVersion != version || got.Name != cm.Name {
				t.Fatalf("seed %d: %s %v", seed, e.Type, got)
			}
			if e.Type == watch.Deleted && got.Labels["color"] != before.Labels["color"] {
				t.Errorf("seed %d: %s left as %v, it was selected as %v", seed, got.Name, got.Labels,
					before.Labels)
			}
			if want := eventType(was, is); e.Type != want {
				t.Errorf("seed %d: %s of %s, want %s", seed, e.Type, got.Name, want)
			}
			objects[got.Name] = *got
			if !is {
				delete(objects, got.Name)
			}
		default:
			if was || is {
				t.Fatalf("seed %d: no event of %s", seed, cm.Name)
			}
		}
	}
	again := opts
	again.ResourceVersion = from
	var replayed = map[string]corev1.ConfigMap{}
	w2, err := s.Watch(t.Context(), again)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	collect(w2, replayed)
	var paged []corev1.ConfigMap
	for opts.Limit = 1; ; {
		page, err := s.List(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		paged = append(paged, page.Items...)
		if opts.Continue = page.Continue; opts.Continue == "" {
			break
		}
	}
	var want []corev1.ConfigMap
	for _, cm := range s.Objects() {
		if selected(cm) {
			want = append(want, *cm)
		}
	}
	for what, got := range map[string][]corev1.ConfigMap{
		"watched": values(objects), "replayed": values(replayed), "listed": paged,
	} {
		if a, b := versionsOf(got), versionsOf(want); a != b {
			t.Errorf("seed %d: %s %s, want %s", seed, what, a, b)
		}
	}
}

func eventType(was, is bool) watch.EventType {
	switch {
	case was && is:
		return watch.Modified
	case is:
		return watch.Added
	}
	return watch.Deleted
}

// TestBadSelectors checks that selectors that can't be parsed, or select by an unknown field, are refused.
func TestBadSelectors(t *testing.T) {
	s := newServer()
	for _, opts := range []metav1.ListOptions{
		{LabelSelector: "a=b=c"}, {FieldSelector: "metadata.name"}, {FieldSelector: "spec.color=red"},
	} {
		if _, err := s.List(t.Context(), opts); !apierrors.IsBadRequest(err) {
			t.Errorf("a list of %v: %v", opts, err)
		}
		if _, err := s.Watch(t.Context(), opts); !apierrors.IsBadRequest(err) {
			t.Errorf("a watch of %v: %v", opts, err)
		}
	}
}

// TestSharding checks that a server filters the requests that Sharding selects, by the hash, and that it
// parses shard selectors exactly if Sharding is on.
func TestSharding(t *testing.T) {
	for _, c := range []struct{ lists, watches bool }{
		{false, false}, {true, false}, {false, true}, {true, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			s.Sharding(c.lists, c.watches)
			// Similar UIDs have similar hashes.
			var hashes []uint64
			for i := range 20 {
				hashes = append(hashes, shard.Hash(fmt.Sprint("uid-", i+1)))
			}
			slices.Sort(hashes)
			half := shard.Ranges{{First: 0, Last: hashes[9]}}
			selector, err := shard.Selector(shard.ByUID, half)
			if err != nil {
				t.Fatal(err)
			}
			opts := metav1.ListOptions{ResourceVersion: s.Version(), ShardSelector: selector}
			w, err := s.Watch(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 20 {
				s.Create(configMap(fmt.Sprint("a", i)))
			}
			watched := map[string]corev1.ConfigMap{}
			collect(w, watched)
			list, err := s.List(t.Context(), metav1.ListOptions{ShardSelector: selector})
			if err != nil {
				t.Fatal(err)
			}
			var all, ours []corev1.ConfigMap
			for _, cm := range s.Objects() {
				if all = append(all, *cm); half.Contains(shard.Hash(string(cm.UID))) {
					ours = append(ours, *cm)
				}
			}
			if len(ours) == 0 || len(ours) == len(all) {
				t.Fatal(len(ours))
			}
			for what, one := range map[string]struct {
				got      []corev1.ConfigMap
				filtered bool
			}{"lists": {list.Items, c.lists}, "watches": {values(watched), c.watches}} {
				want := all
				if one.filtered {
					want = ours
				}
				if a, b := versionsOf(one.got), versionsOf(want); a != b {
					t.Errorf("%v: %s have %s, want %s", c, what, a, b)
				}
			}
			const says = "invalid shard selector: "
			_, err = s.List(t.Context(), metav1.ListOptions{ShardSelector: "everything"})
			if told := err != nil && strings.HasPrefix(err.Error(), says); told != (c.lists || c.watches) {
				t.Errorf("%v: a list with a bad selector: %v", c, err)
			}
			_, err = s.Watch(t.Context(), metav1.ListOptions{ShardSelector: "everything"})
			if told := err != nil && strings.HasPrefix(err.Error(), says); told != (c.lists || c.watches) {
				t.Errorf("%v: a watch with a bad selector: %v", c, err)
			}
		})
	}
}
