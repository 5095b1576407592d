package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// How long a lease lasts without renewal, how long its holder tries to renew it, and how often.
// The values are kube-controller-manager's.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

var errLeaseLost = errors.New("the lease was lost")

// newLock returns a lock that uses the Lease namespace/name.
func newLock(config *rest.Config, lease string) (resourcelock.Interface, error) {
	namespace, name, ok := strings.Cut(lease, "/")
	if !ok {
		return nil, errors.New("a lease is namespace/name, not " + lease)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	// A process that was restarted on the same host must have another identity.
	identity := resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())}
	return resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, namespace, name, identity, config,
		renewDeadline)
}

// whileLeading calls run once this process holds the lock. run's context ends when ctx ends or the
// lock is lost; losing it is an error. whileLeading releases the lock after run has returned, and
// then returns.
func whileLeading(ctx context.Context, lock resourcelock.Interface, run func(context.Context) error) error {
	// The elector releases the lock when its context ends. It neither waits for run nor
	// reports whether it started run. So its callback and the end of the election compete
	// for the token in first. If the callback gets it, it calls run; if the end gets it, run
	// is never called. The other waits until done is closed.
	electing, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	first, done := make(chan struct{}, 1), make(chan struct{})
	first <- struct{}{}
	var result error
	settle := func() {
		select {
		case <-first:
			close(done)
		case <-done:
		}
	}

	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   leaseDuration,
		RenewDeadline:   renewDeadline,
		RetryPeriod:     retryPeriod,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				select {
				case <-first:
					result = runBoth(ctx, leading, run)
					close(done)
				case <-done:
				}
				release()
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { settle(); release() })()
	elector.Run(electing)
	settle()
	return result
}

// runBoth calls run with a context that ends when either of two ends.
func runBoth(ctx, leading context.Context, run func(context.Context) error) error {
	running, stop := context.WithCancel(leading)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	err := run(running)
	if err == nil && ctx.Err() == nil && leading.Err() != nil {
		return errLeaseLost
	}
	return err
}
