package sharding

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/shard"
)

// calmly runs a test with a group in which nothing goes wrong by itself, and which elects its balancer by
// client-go's leader election. Members that still run at the end are stopped.
func calmly(t *testing.T, test func(t *testing.T, m *model)) {
	synctest.Test(t, func(t *testing.T) {
		m := newModel(t, 1)
		m.calm = true
		m.configure = func(c *Config) { c.elect = c.byLeaderElection }
		test(t, m)
		for _, r := range m.replicas {
			r.leave()
		}
		for _, r := range m.replicas {
			<-r.ended
		}
		bubble.Pass(5 * time.Minute)
	})
}

// owners returns who owns each object, and fails unless all have an owner.
func (m *model) owners() map[uint64]string {
	t, _ := m.server.table("bakers")
	owners := map[uint64]string{}
	for _, place := range m.objects {
		owners[place] = t.Ranges[t.indexOf(place)].Owner
		if owners[place] == "" {
			m.t.Fatalf("nobody owns %x", place)
		}
	}
	return owners
}

// settled lets time pass, and fails unless level finds nothing wrong then.
func (m *model) settled() {
	bubble.Pass(2 * time.Minute)
	synctest.Wait()
	if wrong := m.level(); wrong != "" {
		m.t.Fatal(wrong)
	}
}

// TestOutage: after an outage of the server of any length nothing has moved.
func TestOutage(t *testing.T) {
	for _, length := range []time.Duration{5 * time.Second, 14 * time.Second, time.Minute, time.Hour} {
		t.Run(length.String(), func(t *testing.T) {
			calmly(t, func(t *testing.T, m *model) {
				for range 5 {
					m.join()
				}
				m.settled()
				before := m.owners()
				m.moved = 0
				m.server.setDown(true)
				bubble.Pass(length)
				m.server.setDown(false)
				bubble.Pass(2 * time.Minute)
				for place, owner := range m.owners() {
					if before[place] != owner {
						t.Fatalf("%x went from %s to %s", place, before[place], owner)
					}
				}
				if m.moved > 0 {
					t.Errorf("%d objects moved", m.moved)
				}
			})
		})
	}
}

// TestHold: a member acts until RenewDeadline after its last renewal was sent, not after that was answered.
func TestHold(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		r := m.join()
		m.settled()
		r.connection.mu.Lock()
		r.connection.answers = answersLate
		r.connection.mu.Unlock()
		bubble.Pass(time.Minute)
		r.connection.freeze()
		sent := m.server.renewal(r)
		// The answer may come after the freeze.
		bubble.Pass(time.Until(sent.Add(renewDeadline - retryPeriod - answersLate - time.Second)))
		if err := r.Status().Err; err != nil {
			t.Errorf("the lease doesn't hold any more: %v", err)
		}
		bubble.Pass(time.Until(sent.Add(renewDeadline)))
		if r.Status().Err == nil {
			t.Error("the lease still holds")
		}
		r.connection.unfreeze()
		m.settled()
	})
}

const answersLate = 3 * time.Second

// TestEverythingDeleted: somebody deletes all Leases while a member is frozen but its own Lease holds. Its
// ranges go to nobody before that Lease has lapsed.
func TestEverythingDeleted(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		m.configure = nil
		deaf, r := m.join(), m.join()
		bubble.Pass(time.Second)
		deaf.lead(true)
		m.settled()
		before, _ := m.server.table("bakers")
		deaf.connection.freeze()
		deaf.lead(false)
		m.server.remove("bakers")
		m.server.remove("bakers-" + deaf.Identity())
		m.server.remove("bakers-" + r.Identity())
		r.lead(true)
		bubble.Pass(renewDeadline - 3*retryPeriod/2)
		if s := deaf.Status(); s.Err != nil || len(s.Owned) == 0 {
			t.Errorf("the frozen member: %+v", s)
		}
		if s := r.Status(); len(s.Owned) > 0 {
			t.Errorf("ranges were given: %+v", s)
		}
		bubble.Pass(2 * leaseDuration)
		if s := r.Status(); s.Err != nil || len(s.Owned) != 1 {
			t.Errorf("no ranges were given: %+v", s)
		}
		if after, _ := m.server.table("bakers"); after.Generation <= before.Generation {
			t.Errorf("generation %d after %d", after.Generation, before.Generation)
		}
		deaf.connection.unfreeze()
		m.settled()
	})
}

// TestCrash: after a crash of any member, the balancer or not, its ranges have an owner within the bound.
func TestCrash(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		for range 3 {
			m.join()
		}
		longest := time.Duration(0)
		for n := range 20 {
			m.join()
			m.settled()
			r := m.replicas[n]
			r.crash()
			crashed := time.Now()
			for slices.Contains(slices.Collect(maps.Values(m.owners())), r.Identity()) {
				bubble.Pass(100 * time.Millisecond)
			}
			longest = max(longest, time.Since(crashed))
		}
		if longest > balancerBound+time.Second {
			t.Errorf("it took up to %s", longest)
		}
		t.Logf("it took up to %s", longest)
	})
}

// TestRollingUpdate replaces each member by a new one.
func TestRollingUpdate(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		const members = 6
		for range members {
			m.join()
		}
		m.settled()
		m.moved = 0
		for _, r := range m.replicas[:members] {
			m.join()
			bubble.Pass(5 * time.Second)
			r.leave()
			<-r.ended
			bubble.Pass(30 * time.Second)
		}
		m.settled()
		if part := len(m.objects) / members; m.moved > 2*members*part {
			t.Errorf("%d objects moved, a member has %d", m.moved, part)
		} else {
			t.Logf("%d of %d objects moved", m.moved, len(m.objects))
		}
	})
}

// TestSteadyState: while nobody joins or leaves, each member writes its Lease once a RetryPeriod. The
// balancer also writes the election's Lease, which the others read. Each member watches the table, and the
// balancer the Leases. Nothing is listed, and nothing else is written.
func TestSteadyState(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		const members, periods = 4, 100
		for range members {
			m.join()
		}
		m.settled()
		m.server.requested()
		m.server.written()
		bubble.Pass(periods * retryPeriod)
		synctest.Wait()
		requests, written := m.server.requested(), m.server.written()
		t.Log(requests, written)
		leases := []string{"bakers-balancer"}
		for _, r := range m.replicas {
			leases = append(leases, r.leases.memberName(r.Identity()))
		}
		for _, name := range leases {
			// A request takes up to a hundredth of a period.
			if n := written[name]; n < periods*98/100 || n > periods+1 {
				t.Errorf("%d writes of %s in %d periods", n, name, periods)
			}
			delete(written, name)
		}
		if len(written) > 0 {
			t.Errorf("writes of other Leases: %v", written)
		}
		for _, what := range []string{"create", "delete", "list", "watch", "update the table"} {
			if n := requests[what]; n > 0 {
				t.Errorf("%d times %s", n, what)
			}
		}
		// client-go's candidates look after 1 to 2.2 periods.
		n := requests["get bakers-balancer"]
		if n < (members-1)*periods*4/10 || n > (members-1)*(periods+1) || n != requests["get"] {
			t.Errorf("%d reads of the election's Lease, %d in all", n, requests["get"])
		}
		want := map[string]int{"metadata.name=bakers": members, groupLabel + "=bakers": 1}
		if got := m.server.Watches(); !maps.Equal(got, want) {
			t.Errorf("watches %v, want %v", got, want)
		}
	})
}

// TestHandOver: a range moves only when the work in it has ended. The work's context ends after DrainGrace.
func TestHandOver(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		first := m.join()
		m.settled()
		const hung = "team-07"
		began, ended := make(chan struct{}), make(chan struct{})
		var cause error
		go func() {
			defer close(ended)
			err := first.Do(t.Context(), hung, func(ctx context.Context, owned Owned) error {
				close(began)
				if !owned.Contains(shard.Hash(hung)) {
					t.Errorf("%s is in %s", hung, owned)
				}
				<-ctx.Done()
				cause = context.Cause(ctx)
				bubble.Pass(30 * time.Second)
				// The member still owns the range, but no work begins there.
				if _, owns := first.Owns(hung); !owns {
					t.Errorf("%s isn't owned while work goes on", hung)
				}
				if first.works(hung) {
					t.Error("work begins while the range is to move")
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}()
		<-began
		for range 5 {
			m.join()
		}
		<-ended
		if !errors.Is(cause, ErrNotOwned) || !strings.Contains(cause.Error(), "to move") {
			t.Errorf("the context ended with %v", cause)
		}
		if owner, _ := first.OwnerOf(hung); owner != first.Identity() {
			t.Errorf("%s belonged to %s while the first worked on it", hung, owner)
		}
		m.settled()
		for _, r := range m.replicas {
			for _, name := range m.names {
				err := r.Do(t.Context(), name, func(context.Context, Owned) error { return nil })
				owner, known := r.OwnerOf(name)
				if _, owns := r.Owns(name); !known || owns != (owner == r.Identity()) || owns != (err == nil) ||
					err != nil && !errors.Is(err, ErrNotOwned) {
					t.Errorf("%s: %s belongs to %s, %t, and work there returns %v", r.Identity(), name, owner, owns, err)
				}
			}
			if err := r.Health(); err != nil {
				t.Error(err)
			}
			if s := r.Status(); s.Owners != 6 || len(s.Owned) == 0 || len(s.Giving) > 0 {
				t.Errorf("%+v", s)
			}
		}
	})
}

// TestHungWork: if work doesn't end while a member leaves, Run returns an error with its namespace, and the
// member's ranges go to others when its Lease has run out.
func TestHungWork(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		first := m.join()
		m.settled()
		first.hangs = true
		ends := make(chan struct{})
		go first.Do(t.Context(), "team-07", func(context.Context, Owned) error { <-ends; return nil })
		m.join()
		synctest.Wait()
		first.leave()
		<-first.ended
		if first.err == nil || !strings.Contains(first.err.Error(), `work on ["team-07"] didn't end`) {
			t.Errorf("error %v", first.err)
		}
		m.settled()
		close(ends)
	})
}

// TestRestart: after a restart of the server all members watch again, although watches can't start from the
// version of the table, which was written before.
func TestRestart(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		for range 3 {
			m.join()
		}
		m.settled()
		before := m.server.Watches()
		m.server.setDown(true)
		bubble.Pass(time.Second)
		m.server.Restart()
		m.server.setDown(false)
		bubble.Pass(3 * retryPeriod)
		if after := m.server.Watches(); !maps.Equal(after, before) || len(before) == 0 {
			t.Errorf("watches %v, before %v", after, before)
		}
	})
}

// TestZero: after all members have left, a new one owns everything at once, by the table that they left.
func TestZero(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		m.join()
		m.join()
		m.settled()
		for _, r := range m.replicas {
			r.leave()
			<-r.ended
		}
		left, err := m.server.List(metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, lease := range left.Items {
			if lease.Name != "bakers" && lease.Name != "bakers-balancer" {
				t.Errorf("%s is left", lease.Name)
			}
		}
		before, _ := m.server.table("bakers")
		r := m.join()
		// Rarely, the last balancer has left while it got its Lease, which then has to run out.
		bubble.Pass(leaseDuration + 2*retryPeriod)
		if s := r.Status(); s.Err != nil || len(s.Owned) != 1 || s.Owned[0].Range != everything {
			t.Errorf("%+v", s)
		}
		if after, _ := m.server.table("bakers"); after.Generation <= before.Generation {
			t.Errorf("generation %d after %d", after.Generation, before.Generation)
		}
	})
}

// TestLeave: the Lease of a member that has left is gone, even if the answer to its deletion comes late.
func TestLeave(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		m.join()
		r := m.join()
		m.settled()
		r.connection.set(func() { r.connection.answers, r.connection.answersTo = answersLate, "delete" })
		r.leave()
		<-r.ended
		bubble.Pass(time.Minute)
		if _, err := m.server.Get("bakers-" + r.Identity()); !apierrors.IsNotFound(err) {
			t.Errorf("its lease is there, or error %v", err)
		}
		m.settled()
	})
}

// TestMaxLoad: ranges that don't fit have no owner, and Health reports that, until there are more members.
func TestMaxLoad(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		m.configure = func(c *Config) {
			c.elect = c.byLeaderElection
			c.MaxLoad = len(m.objects) * 3 / 5
		}
		m.join()
		m.join()
		m.settled()
		m.replicas[0].crash()
		crashed := time.Now()
		bubble.Pass(2 * time.Minute)
		s := m.replicas[1].Status()
		if len(s.Owned) == 0 || s.UnownedObjects == 0 || m.replicas[1].Health() == nil {
			t.Errorf("%+v", s)
		}
		if since := s.UnownedSince.Sub(crashed); since <= 0 || since > time.Minute {
			t.Errorf("%v after the crash, ranges became unowned", since)
		}
		if load := len(m.objects) - s.UnownedObjects; load > len(m.objects)*3/5 {
			t.Errorf("%d of %d objects belong to one member", load, len(m.objects))
		}
		m.join()
		m.settled()
		if err := m.replicas[1].Health(); err != nil || !m.replicas[1].Status().UnownedSince.IsZero() {
			t.Errorf("%v, unowned since %v", err, m.replicas[1].Status().UnownedSince)
		}
	})
}

// TestMinMembers: the first ranges are assigned when there are MinMembers members, or after MinMembersWait.
func TestMinMembers(t *testing.T) {
	for joins := 1; joins <= 3; joins++ {
		calmly(t, func(t *testing.T, m *model) {
			m.configure = func(c *Config) {
				c.elect = c.byLeaderElection
				c.MinMembers, c.MinMembersWait = 3, 5*time.Minute
			}
			for range joins {
				m.join()
			}
			bubble.Pass(4 * time.Minute)
			if given := m.replicas[0].Health() == nil; given != (joins == 3) {
				t.Errorf("%d members: ranges were given: %t", joins, given)
			}
			bubble.Pass(2 * time.Minute)
			m.owners()
		})
	}
}

// TestAnotherKind: a member that shards other kinds doesn't take part, and Health reports that.
func TestAnotherKind(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		m.join()
		m.settled()
		m.configure = func(c *Config) { c.Kinds = []string{"cakes"} }
		other := m.join()
		m.settledBut(other)
		if err := other.Health(); err == nil || !strings.Contains(err.Error(), "it doesn't take part") {
			t.Errorf("error %v", err)
		}
	})
}

func (m *model) settledBut(r *replica) {
	bubble.Pass(2 * time.Minute)
	for place, owner := range m.owners() {
		if owner == r.Identity() {
			m.t.Fatalf("%x belongs to %s", place, owner)
		}
	}
}

// TestLeader: Leader calls its function on one member at a time, and on another one when that crashes.
func TestLeader(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		led := make(chan *replica, 10)
		for range 3 {
			r := m.join()
			go r.Leader(ctx, func(ctx context.Context) {
				led <- r
				<-ctx.Done()
			})
		}
		m.settled()
		leader := <-led
		if len(led) > 0 {
			t.Error("two lead")
		}
		leader.crash()
		bubble.Pass(balancerBound)
		synctest.Wait()
		if next := <-led; next == leader || len(led) > 0 {
			t.Error("the leader leads again, or two lead")
		}
	})
}
