package sharding

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/kubewright/kubewright/internal/bubble"
)

// with changes the configuration of members that join from now on.
func (m *model) with(change func(*Config)) {
	m.configure = func(c *Config) {
		c.elect = c.byLeaderElection
		change(c)
	}
}

// TestOtherKinds: a member that doesn't take part reports that, and keeps nobody from being the balancer.
func TestOtherKinds(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		old := m.join()
		m.settled()
		m.with(func(c *Config) { c.Kinds = []string{"breweries"} })
		stranger := m.join()
		bubble.Pass(time.Minute)
		if err := stranger.Health(); err == nil || !strings.Contains(err.Error(), "doesn't take part") {
			t.Errorf("the health of a member that doesn't take part: %v", err)
		}
		old.leave()
		<-old.ended
		bubble.Pass(time.Minute)
		m.with(func(*Config) {})
		last := m.join()
		bubble.Pass(2 * time.Minute)
		if err := last.Health(); err != nil || len(last.Status().Owned) == 0 {
			t.Errorf("the last one owns %v: %v", last.Status().Owned, err)
		}
	})
}

// TestOtherProtocol: a member ends all work, and stops being the balancer, while the table is of a protocol
// that it doesn't know.
func TestOtherProtocol(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		r := m.join()
		m.settled()
		leads := func() bool {
			lease, err := m.server.Get("bakers-balancer")
			if err != nil {
				t.Fatal(err)
			}
			holder := *lease.Spec.HolderIdentity // without the random part, as the test set elect
			return holder != "" && strings.HasPrefix(r.Identity(), holder)
		}
		if !leads() {
			t.Error("nobody is elected")
		}
		m.changeProtocol("protocol 1\n", "protocol 2\n")
		err := r.Health()
		if err == nil || !strings.Contains(err.Error(), "protocol 2") || len(r.Status().Owned) > 0 || leads() {
			t.Errorf("it owns %v, leads: %t, health %v", r.Status().Owned, leads(), err)
		}
		m.changeProtocol("protocol 2\n", "protocol 1\n")
		if err := r.Health(); err != nil || !leads() {
			t.Errorf("it leads: %t, health %v", leads(), err)
		}
		m.changeProtocol("protocol 1\n", "protocol 2\n")
		began := time.Now()
		r.leave()
		<-r.ended
		if took := time.Since(began); r.err != nil || took > 5*time.Second {
			t.Errorf("it left after %s: %v", took, r.err)
		}
	})
}

// changeProtocol changes the first line of the table.
func (m *model) changeProtocol(from, to string) {
	m.t.Helper()
	lease, err := m.server.Get("bakers")
	if err != nil {
		m.t.Fatal(err)
	}
	text := lease.Annotations[tableAnnotation]
	if !strings.HasPrefix(text, from) {
		m.t.Fatalf("the table is %q", text)
	}
	lease.Annotations[tableAnnotation] = to + strings.TrimPrefix(text, from)
	if _, err := m.server.Update(lease); err != nil {
		m.t.Fatal(err)
	}
	bubble.Pass(time.Minute)
}

// TestAgainAfterOtherProtocol: while a member doesn't take part, its queue drops what handlers add. So
// handlers are called for all objects when it takes part again.
func TestAgainAfterOtherProtocol(t *testing.T) {
	withCaches(t, func(t *testing.T, c *cached) {
		c.join()
		c.check("at first")
		before := maps.Clone(c.told[0])
		c.changeProtocol("protocol 1\n", "protocol 2\n")
		c.changeProtocol("protocol 2\n", "protocol 1\n")
		c.check("again")
		for _, name := range c.names {
			if c.told[0][name] != before[name]+1 {
				t.Errorf("%s: %d calls of the handler, then %d", name, before[name], c.told[0][name])
			}
		}
	})
}

// TestOtherDurations: a balancer with a short LeaseDuration doesn't reassign the ranges of a member that is
// cut off before that member's longer Lease has ended. The model checks that.
func TestOtherDurations(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		m.with(func(c *Config) {
			c.LeaseDuration, c.RenewDeadline, c.RetryPeriod = 3*time.Second, 2*time.Second, 500*time.Millisecond
		})
		m.join()
		bubble.Pass(time.Minute)
		m.with(func(c *Config) { c.LeaseDuration, c.RenewDeadline = time.Minute, 45*time.Second })
		long := m.join()
		bubble.Pass(2 * time.Minute)
		if len(long.Status().Owned) == 0 {
			t.Fatal("the second owns nothing")
		}
		long.connection.mu.Lock()
		long.connection.cut = true
		long.connection.mu.Unlock()
		cut := time.Now()
		for len(long.Status().Owned) > 0 {
			bubble.Pass(time.Second)
		}
		if acted := time.Since(cut); acted < 40*time.Second {
			t.Errorf("it acted for %s only", acted)
		}
		bubble.Pass(time.Minute)
		for place, owner := range m.owners() {
			if owner == long.Identity() {
				t.Fatalf("%x still belongs to the member that is cut off", place)
			}
		}
		long.crash()
	})
}

// TestChangedMayAsk: Changed may call the member's methods, as a queue does to which it adds. It is called
// for the last change.
func TestChangedMayAsk(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		joined := make(chan *replica, 1)
		var mu sync.Mutex
		var told []Owned
		calls := 0
		m.with(func(c *Config) {
			c.Changed = func(owned []Owned) {
				r := <-joined
				joined <- r
				r.Accepts("rome")
				r.Status()
				mu.Lock()
				defer mu.Unlock()
				told = owned
				calls++
			}
		})
		r := m.join()
		joined <- r
		m.settled()
		mu.Lock()
		if want := r.Status().Owned; len(want) == 0 || !slices.Equal(told, want) {
			t.Errorf("Changed was called with %v, owned are %v", told, want)
		}
		mu.Unlock()
		r.leave()
		<-r.ended
		if len(told) > 0 || calls < 2 {
			t.Errorf("Changed was last called with %v, in %d calls", told, calls)
		}
	})
}

// TestRunTwice: a member runs once.
func TestRunTwice(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		r := m.join()
		m.settled()
		if err := r.Run(t.Context()); err == nil {
			t.Error("a second Run returns no error")
		}
		if err := r.Health(); err != nil {
			t.Errorf("after a second Run: %v", err)
		}
	})
}

// TestHungWorkIsTold: a member whose work doesn't end reports which work hangs and keeps the range. It hands
// the range over when the work has ended.
func TestHungWorkIsTold(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		first := m.join()
		m.settled()
		// Work everywhere, so that there is some in each range that is requested.
		end := make(chan struct{})
		var work sync.WaitGroup
		causes := make(chan error, len(m.names))
		for _, name := range m.names {
			work.Go(func() {
				err := first.Do(t.Context(), name, func(ctx context.Context, _ Owned) error {
					<-end
					causes <- context.Cause(ctx)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		second := m.join()
		bubble.Pass(5 * time.Minute)
		s := first.Status()
		err := first.Health()
		if len(s.Hung) == 0 || len(s.Giving) == 0 || err == nil || !strings.Contains(err.Error(), s.Hung[0]) {
			t.Errorf("hung are %q, health %v", s.Hung, err)
		}
		for _, name := range s.Hung {
			if _, owns := first.Owns(name); !owns {
				t.Errorf("%s was handed over while work went on there", name)
			}
		}
		close(end)
		work.Wait()
		close(causes)
		stopped := 0
		for cause := range causes {
			if errors.Is(cause, ErrNotOwned) {
				stopped++
			}
		}
		if stopped != len(s.Hung) {
			t.Errorf("the contexts of %d pieces of work had ended, %d hung", stopped, len(s.Hung))
		}
		m.settled()
		if err := first.Health(); err != nil || len(second.Status().Owned) == 0 {
			t.Errorf("afterwards the second owns %v, and the first's health is %v", second.Status().Owned, err)
		}
	})
}

// TestTroubleIsTold: an action that fails for RenewDeadline is logged once, and Health has its error.
func TestTroubleIsTold(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		var text lockedBuffer
		logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&text)))
		member, err := NewMember(Config{
			Leases: m.server.Client(&connection{server: m.server, random: m.random}), Group: "bakers", Identity: "a",
			Kinds: []string{"bakeries"}, Hashes: m.hashes,
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(klog.NewContext(t.Context(), logger))
		ended := make(chan error)
		go func() { ended <- member.Run(ctx) }()
		bubble.Pass(time.Minute)
		if err := member.Health(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			m.server.setDown(true)
			bubble.Pass(5 * time.Minute)
			err = member.Health()
			if !errors.Is(err, errLost) || !strings.Contains(err.Error(), "isn't renewed: ") {
				t.Errorf("health without a server: %v", err)
			}
			m.server.setDown(false)
			bubble.Pass(time.Minute)
			if err := member.Health(); err != nil {
				t.Error(err)
			}
		}
		if n := strings.Count(text.String(), `action="renew the lease"`); n != 2 {
			t.Errorf("%d lines about renewals in two outages:\n%s", n, &text)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// lockedBuffer is a buffer that is safe for concurrent use.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}
