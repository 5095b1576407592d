package monitoring

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/sharding"
	"github.com/kubewright/kubewright/sharding/shardingtest"
)

// start starts a program that works.
func start(p *program) {
	p.work()
	p.create(3)
	p.stop = p.inform("shop", p.server)
}

// fault is planted in a program that works. end ends it, after it has lasted for five minutes at least.
type fault struct {
	plant func(p *program) (end func())
	lasts time.Duration
	// also is another alert that fires.
	also string
	// labels are some of the alert's.
	labels map[string]string
}

func nothing() {}

// oddCaches panic when they are looked at.
type oddCaches struct{}

func (oddCaches) Statuses() []informer.Status { panic("odd") }

// onHandle and onReconcile plant a fault in the handler, or the reconciler, and create an object.
func onHandle(f func(*corev1.ConfigMap)) func(*program) func() {
	return func(p *program) func() {
		p.handle.Store(&f)
		p.create(1)
		return p.recover
	}
}

func onReconcile(objects int, f func(string) error) func(*program) func() {
	return func(p *program) func() {
		p.reconcile.Store(&f)
		p.create(objects)
		return p.recover
	}
}

// hang plants a hang in the reconciler.
func hang(objects int) func(*program) func() {
	return func(p *program) func() {
		release := make(chan struct{})
		end := onReconcile(objects, func(string) error { <-release; return nil })(p)
		return func() {
			close(release)
			end()
		}
	}
}

// lateQueue adds a queue. release hands an item out that waited for its own writes for too long.
func lateQueue(p *program) (release func()) {
	q := p.addQueue("writes", func(string) bool { return true })
	return func() {
		q.Add("oslo")
		q.ReleaseLate("oslo", "informer of v1 configmaps")
		key, _ := q.Get()
		q.Done(key)
	}
}

// pair makes two members of a group, of which anna owns all.
func pair(p *program) (group *shardingtest.Group, anna, ben *sharding.Member) {
	group = shardingtest.NewGroup()
	anna, ben = p.newMember(group, "bakers", "anna"), p.newMember(group, "bakers", "ben")
	p.join(anna)
	p.join(ben)
	p.move(group, anna)
	p.pass(time.Minute)
	return group, anna, ben
}

// disconnect cuts the owner of all ranges off from the server.
func disconnect(p *program) func() {
	group, anna, _ := pair(p)
	group.Disconnect(anna)
	return func() { group.Reconnect(anna) }
}

// hangAtWork begins work that keeps ranges from moving.
func hangAtWork(p *program) func() {
	group, anna, ben := pair(p)
	release := make(chan struct{})
	p.running.Go(func() {
		// It returns an error in the end, because the range was to move.
		_ = anna.Do(p.ctx, "oslo", func(context.Context, sharding.Owned) error { <-release; return nil })
	})
	p.pass(p.interval)
	p.move(group, ben)
	return func() { close(release) }
}

// faults are by the alert that they cause.
var faults = map[string]fault{
	"KubewrightCannotList": {
		plant: func(p *program) func() {
			p.server.OnRequest(func(context.Context, runtimetest.Request) error {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", errors.New("no role"))
			})
			p.server.CloseWatches()
			return func() { p.server.OnRequest(nil) }
		},
		labels: map[string]string{
			"source": "shop", "resource": "configmaps", "form": "typed",
		},
	},
	"KubewrightNeverSynced": {
		plant: func(p *program) func() {
			another, release := p.newServer(), make(chan struct{})
			another.OnRequest(func(context.Context, runtimetest.Request) error { <-release; return nil })
			p.inform("market", another)
			return func() { close(release) }
		},
		labels: map[string]string{"source": "market", "resource": "configmaps"},
	},
	"KubewrightListHangs": {
		plant: func(p *program) func() {
			release := make(chan struct{})
			p.server.OnRequest(func(context.Context, runtimetest.Request) error { <-release; return nil })
			p.server.FailWatches(apierrors.NewResourceExpired("too old"))
			return func() {
				p.server.OnRequest(nil)
				close(release)
			}
		},
		labels: map[string]string{"source": "shop", "resource": "configmaps"},
	},
	"KubewrightSilentWatch": {plant: (*program).swallow},
	"KubewrightRelistsTooOften": {
		plant: func(p *program) func() {
			p.each = func() { p.server.FailWatches(apierrors.NewResourceExpired("too old")) }
			return func() { p.each = nothing }
		},
	},
	"KubewrightCacheMutated": {
		plant: func(p *program) func() {
			end := onHandle(func(c *corev1.ConfigMap) { c.Labels = map[string]string{"baked": "true"} })(p)
			return func() {
				end()
				p.stop()
				p.inform("shop", p.server)
			}
		},
	},
	"KubewrightSourcePanics": {
		plant: func(p *program) func() {
			p.eyes.AddCaches("odd", oddCaches{})
			return func() { p.eyes.Remove("odd") }
		},
		labels: map[string]string{"source": "odd"},
	},
	"KubewrightHandlerHangs": {
		plant: func(p *program) func() {
			release := make(chan struct{})
			end := onHandle(func(*corev1.ConfigMap) { <-release })(p)
			p.each = func() { p.create(5 * int(p.interval/time.Second)) } // A backlog isn't another fault.
			return func() {
				close(release)
				end()
				p.each = nothing
			}
		},
		lasts:  10 * time.Minute,
		labels: map[string]string{"source": "shop"},
	},
	"KubewrightBacklogGrows": {
		plant: func(p *program) func() {
			end := onHandle(func(*corev1.ConfigMap) { bubble.Pass(time.Second) })(p)
			p.each = func() { p.create(5 * int(p.interval/time.Second)) }
			return func() {
				end()
				p.each = nothing
			}
		},
		lasts:  10 * time.Minute,
		labels: map[string]string{"handler": "baker", "resource": "configmaps"},
	},
	"KubewrightHandlerPanics": {
		plant:  onHandle(func(*corev1.ConfigMap) { panic("odd") }),
		labels: map[string]string{"handler": "baker", "resource": "configmaps"},
	},
	"KubewrightQueueWithoutWorker": {
		plant: func(p *program) func() {
			q := p.addQueue("idle", nil)
			take := func() {
				key, _ := q.Get()
				q.Done(key)
			}
			q.Add("oslo")
			take() // A queue of which nobody has taken any may be that of a standby.
			q.Add("oslo")
			return take
		},
		labels: map[string]string{"source": "idle"},
	},
	"KubewrightQueueWithoutProgress": {plant: hang(2), labels: map[string]string{"source": "bakeries"}},
	"KubewrightReconcileHangs":       {plant: hang(1), lasts: 12 * time.Minute},
	"KubewrightKeyFails": {
		plant: onReconcile(1, func(string) error { return errors.New("no flour") }),
	},
	"KubewrightStaleAfterOwnWrites": {
		plant: func(p *program) func() {
			release := lateQueue(p)
			p.pass(time.Minute)
			release()
			return nothing
		},
		labels: map[string]string{"source": "writes"},
	},
	"KubewrightRangeWithoutOwner": {
		plant: func(p *program) func() {
			group := shardingtest.NewGroup()
			m := p.newMember(group, "bakers", "anna")
			p.join(m)
			return func() { p.move(group, m) }
		},
		labels: map[string]string{"group": "bakers", "member": ""},
	},
	"KubewrightMemberCannotAct": {
		plant: disconnect, also: "KubewrightOwnersCannotAct", labels: map[string]string{"group": "bakers"},
	},
	"KubewrightOwnersCannotAct": {
		plant: disconnect, also: "KubewrightMemberCannotAct",
		labels: map[string]string{"group": "bakers", "member": ""},
	},
	"KubewrightWorkHangs": {
		plant: hangAtWork, also: "KubewrightRangeDoesNotMove", labels: map[string]string{"group": "bakers"},
	},
	"KubewrightRangeDoesNotMove": {
		plant: hangAtWork, lasts: 8 * time.Minute, also: "KubewrightWorkHangs",
		labels: map[string]string{"group": "bakers"},
	},
}
