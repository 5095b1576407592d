package feeds

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/shard"
)

// TestSelectors checks that a request selects the ranges that its feed has when it is sent, and a further
// page those of the first page.
func TestSelectors(t *testing.T) {
	source := feedSource{feed: &feed{group: &Group{options: Options{Field: shard.ByUID}}}}
	expect := func(opts metav1.ListOptions, watch bool, want shard.Ranges) {
		t.Helper()
		if err := source.prepare(&opts, watch); err != nil {
			t.Fatal(err)
		}
		if _, got, err := shard.ParseSelector(opts.ShardSelector); err != nil || !got.Equal(want) {
			t.Errorf("%s, want %v: %v", opts.ShardSelector, want, err)
		}
		if r := source.feed.request; r.watch != watch || !r.selected.Equal(want) {
			t.Errorf("%+v, want a request of %v", r, want)
		}
	}
	source.feed.ranges = only(1, 3, 5)
	expect(metav1.ListOptions{}, false, only(1, 3, 5))
	source.feed.ranges = only(1, 5)
	expect(metav1.ListOptions{Continue: "token"}, false, only(1, 3, 5))
	expect(metav1.ListOptions{Continue: "another"}, false, only(1, 3, 5))
	expect(metav1.ListOptions{ResourceVersion: "7"}, true, only(1, 5))
	source.feed.ranges = only(1)
	expect(metav1.ListOptions{}, false, only(1))
}

// TestListsAreNotOlder checks that a list, also one that is streamed, is at least as new as what the sink
// shows of each of its ranges, and that a watch begins where its feed is.
func TestListsAreNotOlder(t *testing.T) {
	source := feedSource{feed: &feed{
		group: &Group{options: Options{Field: shard.ByUID}}, ranges: only(1, 2),
		watermarks: []watermark{{only(1), "11"}, {only(2), "9"}},
	}}
	yes := true
	for _, c := range []struct {
		version string
		initial *bool
		watch   bool
		want    string
	}{
		{"8", nil, false, "11"}, {"10", nil, false, "11"}, {"12", nil, false, "12"}, {"", nil, false, ""},
		{"8", &yes, true, "11"}, {"", &yes, true, ""}, {"8", nil, true, "8"},
	} {
		opts := metav1.ListOptions{ResourceVersion: c.version, SendInitialEvents: c.initial}
		if err := source.prepare(&opts, c.watch); err != nil || opts.ResourceVersion != c.want {
			t.Errorf("%+v: version %q, %v", c, opts.ResourceVersion, err)
		}
	}
}
