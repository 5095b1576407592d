package sharding

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubewright/kubewright/runtime/shard"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/cache"
)

// Config describes a member of a group.
type Config struct {
	// Leases is the client of the namespace in which the group's Leases are.
	Leases coordination.LeaseInterface
	// Group names the group, and the Lease with its table.
	Group string
	// Identity names the member, for example by the name of its Pod. A random suffix is added, so that a
	// restarted process is a new member.
	Identity string
	// Field is what is hashed. [shard.ByNamespace] is the default.
	Field shard.Field
	// Kinds are the resources that are sharded, such as "bakeries.shop.example.com", in any order. All
	// members must have the same.
	Kinds []string
	// Informers are those of the kinds, of package informer or of a factory, not started yet. The member makes
	// them informers of a part (see partial.Shard), and their ranges follow the table. Start them yourself,
	// before or after Run. Before the first division by namespace, the balancer counts the objects with them.
	Informers []cache.SharedInformer
	// Hashes returns the hash of each object that the member has in a range, in any order, or false if they
	// aren't known yet. It is called rarely, possibly by several goroutines at a time. It should take no
	// longer than copying the hashes, because renewals wait for it. By default the informers' objects are
	// hashed.
	Hashes func(shard.Range) ([]uint64, bool)
	// Changed, if set, is called with all ranges that the member may act on after these have changed, also
	// when its Lease lapses or holds again. Calls are in order, one at a time. Of the changes during a call
	// only the last one is reported; a range that another member had in between comes back with another
	// token. Run returns after the last call.
	Changed func([]Owned)

	// LeaseDuration is how long a member's Lease must be unchanged before its ranges go to others: 15 s by
	// default. A balancer whose own is shorter waits for this one, rounded up to whole seconds.
	LeaseDuration time.Duration
	// RenewDeadline is how long a member acts on its ranges after its last renewal: 10 s by default.
	// LeaseDuration / RenewDeadline, at least 1.25, is the factor by which clocks may differ in speed.
	RenewDeadline time.Duration
	// RetryPeriod is the time between renewals: 2 s by default.
	RetryPeriod time.Duration
	// JoinDelay is how long the balancer waits for further members before it moves ranges to a new one: 10 s
	// by default. It is also how long a member works on a new range, from when its objects are in the
	// informers, before it hands the range on. If it is asked for the range, it waits for that at most
	// DrainGrace + JoinDelay.
	JoinDelay time.Duration
	// MinMembers is how many members there must be before ranges are assigned while no member owns any, as in
	// a new group or after all have left. The balancer waits for them at most MinMembersWait, a minute by
	// default.
	MinMembers     int
	MinMembersWait time.Duration
	// MaxLoad is up to how many objects the balancer gives a member, 0 for no limit. Ranges that don't fit
	// have no owner. The first division of all hashes ignores it.
	MaxLoad int
	// DrainGrace is how long work in a range that is to move may go on before its context ends: 20 s by
	// default. A member that leaves takes at most twice that, its last writes included.
	DrainGrace time.Duration

	clock clock
	// elect calls the function whenever the member is elected, with a context that ends when it no longer is.
	elect func(context.Context, func(context.Context))
}

// clock is the time as a member sees it. Tests let clocks run at different speeds.
type clock interface {
	now() time.Time
	after(time.Duration) <-chan time.Time
}

type realClock struct{}

func (realClock) now() time.Time                         { return time.Now() }
func (realClock) after(d time.Duration) <-chan time.Time { return time.After(d) }

// complete sets the defaults, and returns an error if something is missing or invalid.
func (c *Config) complete() error {
	c.Field = cmp.Or(c.Field, shard.ByNamespace)
	c.LeaseDuration = cmp.Or(c.LeaseDuration, 15*time.Second)
	c.RenewDeadline = cmp.Or(c.RenewDeadline, 10*time.Second)
	c.RetryPeriod = cmp.Or(c.RetryPeriod, 2*time.Second)
	c.JoinDelay = cmp.Or(c.JoinDelay, 10*time.Second)
	c.MinMembersWait = cmp.Or(c.MinMembersWait, time.Minute)
	c.DrainGrace = cmp.Or(c.DrainGrace, 20*time.Second)
	c.clock = cmp.Or[clock](c.clock, realClock{})
	if c.elect == nil {
		c.elect = c.byLeaderElection
	}
	c.Kinds = slices.Compact(slices.Sorted(slices.Values(c.Kinds)))
	c.Identity += "-" + rand.String(5)
	switch wrong := c.wrongNames(); {
	case c.Leases == nil:
		return errors.New("sharding: Config.Leases is nil; set it to the client of a namespace's leases")
	case c.Hashes == nil && len(c.Informers) == 0:
		return errors.New(
			"sharding: Config.Informers and Config.Hashes are missing; without either the objects can't be counted")
	case len(wrong) > 0:
		return fmt.Errorf("sharding: Config.Group %q and Config.Identity %q name no Lease: %s",
			c.Group, c.Identity, strings.Join(wrong, "; "))
	case len(c.Kinds) == 0 || slices.ContainsFunc(c.Kinds, func(kind string) bool {
		return kind == "" || strings.ContainsAny(kind, " \n")
	}):
		return fmt.Errorf("sharding: Config.Kinds %q doesn't name the resources that are sharded", c.Kinds)
	case c.Field != shard.ByNamespace && c.Field != shard.ByUID:
		return fmt.Errorf("sharding: Config.Field %q is neither ByNamespace nor ByUID", c.Field)
	case c.LeaseDuration*4 < c.RenewDeadline*5:
		return fmt.Errorf("sharding: LeaseDuration %s isn't at least 1.25 times RenewDeadline %s",
			c.LeaseDuration, c.RenewDeadline)
	case c.RenewDeadline < 2*c.RetryPeriod || c.RetryPeriod <= 0:
		return fmt.Errorf("sharding: RenewDeadline %s leaves no time to renew twice, every %s",
			c.RenewDeadline, c.RetryPeriod)
	}
	return nil
}

// balancerSuffix, after the group's name, names the Lease of the balancer's election.
const balancerSuffix = "-balancer"

// wrongNames returns why Leases can't be named after the group and the member. The group's name must also be
// a valid label value.
func (c *Config) wrongNames() []string {
	wrong := append(validation.IsDNS1123Subdomain(c.Group+"-"+c.Identity),
		validation.IsValidLabelValue(c.Group)...)
	if strings.HasSuffix(c.Group, balancerSuffix) {
		wrong = append(wrong, "a group's name can't end in "+balancerSuffix+
			", as that names the Lease of an election")
	}
	return wrong
}
