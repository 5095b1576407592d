package feeds

import (
	"testing"
	"time"

	"github.com/kubewright/kubewright/runtime/internal/reflector"
)

// TestListsOfFeeds checks that a group lists since the first of its feeds does.
func TestListsOfFeeds(t *testing.T) {
	var none time.Time
	first, second := time.Unix(1, 0), time.Unix(2, 0)
	for _, c := range []struct{ a, b, want time.Time }{
		{none, none, none}, {none, second, second}, {first, none, first}, {first, second, first},
		{second, first, first},
	} {
		h := merge(reflector.Health{ListingSince: c.a}, reflector.Health{ListingSince: c.b})
		if !h.ListingSince.Equal(c.want) {
			t.Errorf("lists since %v and %v: %v, want %v", c.a, c.b, h.ListingSince, c.want)
		}
	}
}
