package record_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/envtest/record"
)

func object(name, uid, version string) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{Name: name, UID: types.UID(uid), ResourceVersion: version}
}

func TestRecorder(t *testing.T) {
	name := cache.ObjectName{Name: "a"}
	deleted := func(r *record.Recorder[*metav1.ObjectMeta], obj *metav1.ObjectMeta) {
		r.OnDelete(cache.DeletedObject[*metav1.ObjectMeta]{OptionalObj: obj})
	}
	type recorder = record.Recorder[*metav1.ObjectMeta]
	for what, c := range map[string]struct {
		tell     func(*recorder)
		want     []record.Event
		problems int
	}{
		"a life": {func(r *recorder) {
			r.OnAdd(object("a", "1", "9"), false)
			r.OnUpdate(object("a", "1", "9"), object("a", "1", "10"))
			r.OnUpdate(object("a", "1", "10"), object("a", "1", "10"))
			deleted(r, object("a", "1", "11"))
		}, []record.Event{{record.Added, name, "9"}, {record.Updated, name, "10"},
			{record.Deleted, name, ""}}, 0},
		"another in its place": {func(r *recorder) {
			r.OnAdd(object("a", "1", "9"), false)
			r.OnUpdate(object("a", "1", "9"), object("a", "2", "12"))
		}, []record.Event{{record.Added, name, "9"}, {record.Deleted, name, ""}, {record.Added, name, "12"}},
			0},
		"the initial list is late": {func(r *recorder) {
			r.OnAdd(object("a", "1", "9"), true)
			deleted(r, object("a", "1", "10"))
			r.OnAdd(object("a", "2", "11"), true)
		}, []record.Event{{record.Added, name, "9"}, {record.Deleted, name, ""}, {record.Added, name, "11"}},
			1},
		"added twice": {func(r *recorder) {
			r.OnAdd(object("a", "1", "9"), false)
			r.OnAdd(object("a", "1", "10"), false)
		}, []record.Event{{record.Added, name, "9"}, {record.Added, name, "10"}}, 1},
		"updated from nothing": {func(r *recorder) {
			r.OnUpdate(object("a", "1", "9"), object("a", "1", "10"))
		}, []record.Event{{record.Updated, name, "10"}}, 1},
		"an update is missing": {func(r *recorder) {
			r.OnAdd(object("a", "1", "9"), false)
			r.OnUpdate(object("a", "1", "10"), object("a", "1", "11"))
		}, []record.Event{{record.Added, name, "9"}, {record.Updated, name, "11"}}, 1},
		"back in time": {func(r *recorder) {
			r.OnAdd(object("a", "1", "10"), false)
			r.OnUpdate(object("a", "1", "10"), object("a", "1", "9"))
		}, []record.Event{{record.Added, name, "10"}, {record.Updated, name, "9"}}, 1},
		"deleted twice": {func(r *recorder) {
			r.OnAdd(object("a", "1", "9"), false)
			deleted(r, object("a", "1", "10"))
			deleted(r, object("a", "1", "10"))
		}, []record.Event{{record.Added, name, "9"}, {record.Deleted, name, ""}, {record.Deleted, name, ""}},
			1},
	} {
		t.Run(what, func(t *testing.T) {
			r := record.New[*metav1.ObjectMeta]()
			c.tell(r)
			if diff := record.Diff(r.Events(), c.want); diff != "" {
				t.Error(diff)
			}
			if problems := r.Problems(); len(problems) != c.problems {
				t.Errorf("problems %q, want %d", problems, c.problems)
			}
		})
	}
}

func TestWait(t *testing.T) {
	r := record.New[*metav1.ObjectMeta]()
	waited := make(chan error)
	go func() { waited <- r.WaitFor(t.Context(), cache.ObjectName{Name: "a"}, "9") }()
	r.OnAdd(object("a", "1", "9"), false)
	if err := <-waited; err != nil {
		t.Error(err)
	}
	if got := r.Versions(); got[cache.ObjectName{Name: "a"}] != "9" || len(got) != 1 {
		t.Errorf("versions %v", got)
	}
	if after := record.After(r.Events()); !maps.Equal(after, r.Versions()) {
		t.Errorf("after the events %v, want %v", after, r.Versions())
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := r.WaitFor(ended, cache.ObjectName{Name: "a"}, ""); err == nil {
		t.Error("waited for what never was")
	}
}

func TestDiff(t *testing.T) {
	all := []record.Event{{What: record.Added}, {What: record.Updated}, {What: record.Deleted}}
	for i := range all {
		if record.Diff(all[:i], all) == "" || record.Diff(all, all[:i]) == "" {
			t.Errorf("%d events are as good as %d", i, len(all))
		}
		other := slices.Clone(all)
		other[i].Version = "other"
		if record.Diff(other, all) == "" {
			t.Errorf("event %d doesn't count", i)
		}
	}
	if diff := record.Diff(all, all); diff != "" {
		t.Error(diff)
	}
}

func TestComplete(t *testing.T) {
	a, b := cache.ObjectName{Name: "a"}, cache.ObjectName{Name: "b"}
	done := []record.Event{{record.Added, a, "1"}, {record.Added, b, "2"}, {record.Updated, a, "3"},
		{record.Deleted, b, ""}}
	for what, c := range map[string]struct {
		events   []record.Event
		initial  int
		complete bool
	}{
		"from the beginning":   {done, 0, true},
		"from the middle":      {[]record.Event{done[1], done[0], done[2], done[3]}, 2, true},
		"at the end":           {[]record.Event{{record.Added, a, "3"}}, 1, true},
		"an event missing":     {[]record.Event{done[0], done[1], done[3]}, 2, false},
		"the last missing":     {done[:3], 0, false},
		"an old initial list":  {[]record.Event{done[0], done[2], done[3]}, 1, false},
		"an event told twice":  {append(slices.Clone(done), done[3]), 0, false},
		"nothing told":         {nil, 0, false},
		"a list of the future": {[]record.Event{{record.Added, a, "3"}, done[2], done[3]}, 1, false},
	} {
		if err := record.Complete(c.events, c.initial, done); (err == nil) != c.complete {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestDifferences(t *testing.T) {
	one := func(version, kind string) []*metav1.PartialObjectMetadata {
		return []*metav1.PartialObjectMetadata{{TypeMeta: metav1.TypeMeta{Kind: kind},
			ObjectMeta: *object("a", "1", version)}}
	}
	if d := record.Differences(one("1", "Boat"), one("1", "")); len(d) != 0 {
		t.Errorf("the kind counts: %q", d)
	}
	for _, other := range [][]*metav1.PartialObjectMetadata{
		nil, one("2", ""), append(one("1", ""), one("1", "")...),
	} {
		if d := record.Differences(other, one("1", "")); len(d) == 0 {
			t.Errorf("%v is as good as another", other)
		}
	}
}
