package shardingtest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/sharding"
	"github.com/kubewright/kubewright/sharding/internal/leaseserver"
	"github.com/kubewright/kubewright/sharding/internal/steer"
)

// All is the range of all hashes.
var All = sharding.Range{First: 0, Last: math.MaxUint64}

// Of returns the range of one namespace, or UID.
func Of(value string) sharding.Range {
	hash := sharding.Hash(value)
	return sharding.Range{First: hash, Last: hash}
}

// Group is a group of members in memory. Its methods are safe for concurrent use. They panic if a member has
// no configuration of this group, or that of another member.
type Group struct {
	server *leaseserver.Server

	mu sync.Mutex
	// members are by the identity of their configuration.
	members map[string]*member
}

// member is a member with its connection to the server.
type member struct {
	// Member is nil until the test calls a method of the group with it.
	*sharding.Member
	link *link
}

const (
	// name is that of every group, and of the Lease with its table.
	name = "group"
	// election names the Lease by which the balancer is elected.
	election = name + "-balancer"
)

// NewGroup returns a group without members.
func NewGroup() *Group {
	g := &Group{server: leaseserver.New(nil), members: map[string]*member{}}
	// The test is elected as the balancer, forever.
	holder, now, forever := "the-test", metav1.NowMicro(), int32(math.MaxInt32)
	_, err := g.server.Create(&coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: election},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: &forever, AcquireTime: &now, RenewTime: &now,
		},
	})
	if err != nil {
		panic(err) // a new server has no Leases
	}
	return g
}

// NewMember is [sharding.NewMember] of what Config returns. As there, call Run.
func (g *Group) NewMember(config sharding.Config) (*sharding.Member, error) {
	return sharding.NewMember(g.Config(config))
}

// Config returns the configuration of a member of this group, for who makes the member, as kwctrl.Shard does:
// Leases and Group are the group's, Identity has a number more, and JoinDelay is next to nothing: the test
// says when ranges move. It is for one member.
func (g *Group) Config(config sharding.Config) sharding.Config {
	l := &link{server: g.server}
	config.Leases, config.Group, config.JoinDelay = g.server.Client(l), name, 1
	config.Identity += fmt.Sprint("-", configs.Add(1))
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members[config.Identity] = &member{link: l}
	return config
}

// configs counts what Config has returned, for all groups, so that an identity is known to one alone.
var configs atomic.Int64

// configured returns the identity of a member's configuration: its own without the random part.
func configured(identity string) string { return identity[:strings.LastIndex(identity, "-")] }

// find returns a member of the group.
func (g *Group) find(m *sharding.Member) *member {
	g.mu.Lock()
	defer g.mu.Unlock()
	found := g.members[configured(m.Identity())]
	if found == nil {
		panic(fmt.Sprintf("shardingtest: %s isn't a member of this group", m.Identity()))
	}
	if found.Member == nil {
		found.Member = m
	}
	if found.Member != m {
		panic(fmt.Sprintf("shardingtest: %s and %s have one configuration: call Config for each",
			m.Identity(), found.Identity()))
	}
	return found
}

// Disconnect cuts a member off: to others it is as if it had crashed or were frozen. It acts until its
// Lease ends, at most RenewDeadline from now. Then the contexts of its work end. If Run is to end
// meanwhile, it waits for a connection until twice DrainGrace has passed, and then returns an error.
func (g *Group) Disconnect(m *sharding.Member) { g.find(m).link.set(false) }

// Reconnect ends what Disconnect began. Within some RetryPeriods the member acts again, on what nobody else
// was given meanwhile.
func (g *Group) Reconnect(m *sharding.Member) { g.find(m).link.set(true) }

// look is how often Move looks whether the ranges have moved.
const look = 5 * time.Millisecond

// Move gives ranges to a member, and returns when it may act on them. Their owners give them once their
// objects are in the informers, or after DrainGrace, and work there has ended. A member that doesn't act
// loses them: one that is disconnected, when its Lease has ended. If ctx
// ends first, Move returns an error that says what is missing, and the ranges may still move.
func (g *Group) Move(ctx context.Context, to *sharding.Member, ranges ...sharding.Range) error {
	g.find(to)
	for {
		settled, err := g.steer(to, ranges)
		if err != nil {
			return fmt.Errorf("shardingtest: %w", err)
		}
		missing := shard.Join(ranges...).Minus(owned(to))
		if settled && len(missing) == 0 {
			return nil
		}
		select {
		case <-time.After(look):
		case <-ctx.Done():
			return fmt.Errorf("shardingtest: %s doesn't own %v yet: %w%s",
				to.Identity(), missing, context.Cause(ctx), g.reason(to, missing))
		}
	}
}

func owned(m *sharding.Member) shard.Ranges {
	var ranges []sharding.Range
	for _, o := range m.Status().Owned {
		ranges = append(ranges, o.Range)
	}
	return shard.Join(ranges...)
}

// steer writes one step into the table. It reports whether none was left to write.
func (g *Group) steer(to *sharding.Member, ranges []sharding.Range) (settled bool, err error) {
	if to.Status().Err != nil {
		return false, nil // it couldn't act on what it is given
	}
	lease, err := g.server.Get(name)
	if err != nil {
		return false, err
	}
	for _, r := range ranges {
		changed, err := steer.Table(lease, r, to.Identity(), g.isOut)
		if err != nil {
			return false, err
		}
		if !changed {
			continue
		}
		if _, err := g.server.Update(lease); !apierrors.IsConflict(err) {
			return false, err
		}
		return false, nil // a member was quicker
	}
	return true, nil
}

// isOut reports whether a member doesn't act, nor may before it has written the table anew. Ask it after the
// table was read: if the member writes that then, no other write of it succeeds.
func (g *Group) isOut(identity string) bool {
	g.mu.Lock()
	m := g.members[configured(identity)] // Move knows whoever has something
	g.mu.Unlock()
	s := m.Status()
	return s.Err != nil && len(s.Owned) == 0
}

// reason says why a member doesn't own ranges, as far as is known.
func (g *Group) reason(to *sharding.Member, missing shard.Ranges) string {
	if err := to.Status().Err; err != nil {
		return "; " + err.Error()
	}
	g.mu.Lock()
	members := slices.Collect(maps.Values(g.members))
	members = slices.DeleteFunc(members, func(m *member) bool { return m.Member == nil })
	g.mu.Unlock()
	var reasons strings.Builder
	for _, m := range members {
		has := owned(m.Member).And(missing)
		switch {
		case len(has) == 0:
		case m.link.Up():
			fmt.Fprintf(&reasons, "; %s has %v, and work goes on there, or its objects haven't come",
				m.Identity(), has)
		default:
			fmt.Fprintf(&reasons, "; %s has %v, is disconnected, and its lease holds", m.Identity(), has)
		}
	}
	return reasons.String()
}
