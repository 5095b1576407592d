package sharding

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/kubewright/kubewright/internal/bubble"
)

// context returns the context of a member that logs to the buffer.
func (b *lockedBuffer) context() context.Context {
	if b == nil {
		return context.Background()
	}
	return klog.NewContext(context.Background(),
		textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(b))))
}

// logged returns what members that have joined since the log was set log while f runs.
func (m *model) logged(f func()) string {
	before := len(m.log.String())
	f()
	return m.log.String()[before:]
}

// TestLostIsTold: the balancer logs once that a member is lost, and so does each member that gets some of its
// ranges. A member that leaves isn't lost.
func TestLostIsTold(t *testing.T) {
	for crashed := range 3 { // The first member is the balancer.
		calmly(t, func(t *testing.T, m *model) {
			m.log = &lockedBuffer{}
			orderly := m.logged(func() {
				for range 6 {
					m.join()
				}
				m.settled()
				m.replicas[5].leave()
				m.settled()
			})
			if strings.Contains(orderly, "lost: ") || strings.Contains(orderly, "is lost") {
				t.Errorf("a member was lost:\n%s", orderly)
			}
			lost := m.replicas[crashed].Identity()
			want := map[string]int{"the balancer": 1}
			before, _ := m.server.table("bakers")
			m.server.onWrite(func(after table) {
				m.wrote(after)
				for _, r := range before.ownedBy(lost) {
					for i, e := range after.Ranges {
						if e.Owner != lost && overlap(r.Range, after.rangeAt(i)) {
							want[e.Owner] = 1
						}
					}
				}
				before = after
			})
			began := time.Now()
			text := m.logged(func() {
				m.replicas[crashed].crash()
				bubble.Advance(2 * time.Minute)
			})
			m.settled()
			told := map[string]int{}
			for line := range strings.Lines(text) {
				if strings.Contains(line, fmt.Sprintf("lost=%q", lost)) {
					told["the balancer"]++
				}
				for _, r := range m.replicas {
					if strings.Contains(line, fmt.Sprintf("member=%q", r.Identity())) &&
						strings.Contains(line, "lost: "+lost) {
						told[r.Identity()]++
					}
				}
			}
			for _, r := range m.replicas {
				s := r.Status()
				if named := slices.Equal(s.LostMembers, []string{lost}); named != (want[r.Identity()] > 0) ||
					named && (!s.LostAt.After(began) || s.Since.Before(s.LostAt)) {
					t.Errorf("%s was lost; %s says %q at %v, and that it has its ranges since %v", lost, r.Identity(),
						s.LostMembers, s.LostAt, s.Since)
				}
			}
			if len(want) < 2 || !maps.Equal(told, want) {
				t.Errorf("%s was lost; told were %v, want %v:\n%s", lost, told,
					slices.Sorted(maps.Keys(want)), text)
			}
		})
	}
}
