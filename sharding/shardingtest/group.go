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
var All = shard.Range{First: 0, Last: math.MaxUint64}

// Of returns the range of one namespace, or UID.
func Of(value string) shard.Range {
	hash := shard.Hash(value)
	return shard.Range{First: hash, Last: hash}
}

// Group is a group of members in memory. Its methods are safe for concurrent use. They panic if a member's
// configuration isn't from this group, or if two members have the same one.
type Group struct {
	server *leaseserver.Server

	mu sync.Mutex
	// members are by the identity of their configuration.
	members map[string]*member
}

// member is a member and its connection to the server.
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

// NewMember returns a member of this group: [sharding.NewMember] with what Config returns. Call its Run, as
// in production.
func (g *Group) NewMember(config sharding.Config) (*sharding.Member, error) {
	return sharding.NewMember(g.Config(config))
}

// Config returns the configuration of one member of this group, for functions that make the member
// themselves, such as kwsharding.Shard. Leases and Group are the group's, Identity gets a number, and
// JoinDelay is next to nothing, because the test decides when ranges move.
func (g *Group) Config(config sharding.Config) sharding.Config {
	l := &link{server: g.server}
	config.Leases, config.Group, config.JoinDelay = g.server.Client(l), name, 1
	config.Identity += fmt.Sprint("-", configs.Add(1))
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members[config.Identity] = &member{link: l}
	return config
}

// configs counts the calls of Config in all groups, so that no two groups know the same identity.
var configs atomic.Int64

// configIdentity returns the identity of a member's configuration: its own without the random part.
func configIdentity(identity string) string { return identity[:strings.LastIndex(identity, "-")] }

// findMember returns a member of the group.
func (g *Group) findMember(m *sharding.Member) *member {
	g.mu.Lock()
	defer g.mu.Unlock()
	found := g.members[configIdentity(m.Identity())]
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

// Disconnect cuts a member off from the server: to others it seems to have crashed or to be frozen. It acts
// until its Lease ends, at most RenewDeadline from now. Then the contexts of its work end. If the context of
// its Run ends meanwhile, Run waits for a connection for twice DrainGrace, and then returns an error.
func (g *Group) Disconnect(m *sharding.Member) { g.findMember(m).link.setConnected(false) }

// Reconnect ends a disconnection. Within some RetryPeriods the member acts again, on the ranges that nobody
// else was given meanwhile.
func (g *Group) Reconnect(m *sharding.Member) { g.findMember(m).link.setConnected(true) }

// pollInterval is how often Move checks whether the ranges have moved.
const pollInterval = 5 * time.Millisecond

// Move gives ranges to a member, and returns when it may act on them. Their owners hand them over once the
// objects are in the informers, or after DrainGrace, and once work there has ended. A member that doesn't act
// loses them: a disconnected one, when its Lease has ended. If ctx ends first, Move returns an error that
// says what is missing, and the ranges may still move.
func (g *Group) Move(ctx context.Context, to *sharding.Member, ranges ...shard.Range) error {
	g.findMember(to)
	for {
		done, err := g.steer(to, ranges)
		if err != nil {
			return fmt.Errorf("shardingtest: %w", err)
		}
		missing := shard.Join(ranges...).Minus(ownedRanges(to))
		if done && len(missing) == 0 {
			return nil
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
			return fmt.Errorf("shardingtest: %s doesn't own %v yet: %w%s",
				to.Identity(), missing, context.Cause(ctx), g.explainMissing(to, missing))
		}
	}
}

func ownedRanges(m *sharding.Member) shard.Ranges {
	var ranges []shard.Range
	for _, o := range m.Status().Owned {
		ranges = append(ranges, o.Range)
	}
	return shard.Join(ranges...)
}

// steer writes the next step into the table. It reports whether there was none left.
func (g *Group) steer(to *sharding.Member, ranges []shard.Range) (done bool, err error) {
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

// isOut reports whether a member doesn't act, and may not before it has written the table anew. Call it after
// the table was read: if the member writes the table after that, a write based on that read fails.
func (g *Group) isOut(identity string) bool {
	g.mu.Lock()
	m := g.members[configIdentity(identity)] // not nil, because owners have been passed to Move
	g.mu.Unlock()
	s := m.Status()
	return s.Err != nil && len(s.Owned) == 0
}

// explainMissing returns why a member doesn't own ranges yet, as far as is known.
func (g *Group) explainMissing(to *sharding.Member, missing shard.Ranges) string {
	if err := to.Status().Err; err != nil {
		return "; " + err.Error()
	}
	g.mu.Lock()
	members := slices.Collect(maps.Values(g.members))
	members = slices.DeleteFunc(members, func(m *member) bool { return m.Member == nil })
	g.mu.Unlock()
	var reasons strings.Builder
	for _, m := range members {
		has := ownedRanges(m.Member).And(missing)
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
