package shardingeyes_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/sharding"
	"github.com/kubewright/kubewright/sharding/shardingeyes"
	"github.com/kubewright/kubewright/sharding/shardingtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestMember looks at a member before it runs, while it owns all, while it can't reach the server, and after
// it has left.
func TestMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		group := shardingtest.NewGroup()
		member, err := group.NewMember(sharding.Config{
			Identity: "anna", Kinds: []string{"bakeries"},
			Hashes: func(shard.Range) ([]uint64, bool) { return nil, true },
		})
		if err != nil {
			t.Fatal(err)
		}
		e := eyes.New(eyes.Options{})
		shardingeyes.Add(e, "bakers", member)
		look := func() *eyes.Snapshot {
			e.Snapshot()
			bubble.Pass(11 * time.Second)
			return e.Snapshot()
		}
		owner := func() string {
			w := httptest.NewRecorder()
			e.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/?owner=oslo", nil))
			return strings.TrimSpace(w.Body.String())
		}
		if s := look(); len(s.Members) != 1 || len(s.Findings) > 0 {
			t.Errorf("before it runs: %+v, %v", s.Members, s.Findings)
		}
		if got := owner(); got != `it isn't known who owns "oslo" in "bakers": sharding: the table hasn't been `+
			`read yet, or was deleted` {
			t.Error(got)
		}
		ctx, stop := context.WithCancel(t.Context())
		began := time.Now()
		ended := make(chan error, 1)
		go func() { ended <- member.Run(ctx) }()
		if err := group.Move(ctx, member, shardingtest.All); err != nil {
			t.Fatal(err)
		}
		moved := time.Now()
		s := look()
		if m := s.Members[0]; m.Since.Before(began) || m.Since.After(moved) ||
			len(m.Owned) != 1 || m.Owned[0] != shardingtest.All.String() || m.Owners != 1 ||
			m.Error != "" || m.Identity != member.Identity() || len(s.Findings) > 0 {
			t.Errorf("while it owns all: %+v, %v", m, s.Findings)
		}
		if got := owner(); got != `"oslo" is owned by `+member.Identity()+` of "bakers"` {
			t.Error(got)
		}
		group.Disconnect(member)
		bubble.Pass(time.Minute)
		s = look()
		if len(s.Findings) != 1 || s.Findings[0].Kind != "member can't act" ||
			!strings.Contains(s.Findings[0].Cause, "isn't renewed") {
			t.Errorf("while it can't reach the server: %v", s.Findings)
		}
		group.Reconnect(member)
		bubble.Pass(time.Minute)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		e.Snapshot()
		if s := e.Snapshot(); len(s.Members) > 0 {
			t.Errorf("after it has left: %+v", s.Members)
		}
	})
}
