package apiserver_test

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// TestLeaderElection lets two candidates lead in turn: the second when the first gives up the lease.
func TestLeaderElection(t *testing.T) {
	for name, mediaType := range map[string]string{
		"as configured": "", "JSON": runtime.ContentTypeJSON, "protobuf": runtime.ContentTypeProtobuf,
	} {
		t.Run(name, func(t *testing.T) {
			v := newVisit(t)
			config := v.server.Config()
			if mediaType != "" {
				config = v.speaking(mediaType)
			}
			first, stopFirst := v.candidate(config, "first")
			v.leads(first)
			second, stopSecond := v.candidate(config, "second")
			stopFirst()
			v.leads(second)
			lease, err := v.client.CoordinationV1().Leases(v.namespace).Get(v.ctx, "leader", metav1.GetOptions{})
			v.ok(err)
			if *lease.Spec.HolderIdentity != "second" || *lease.Spec.LeaseTransitions == 0 {
				t.Errorf("the lease is %v", lease.Spec)
			}
			stopSecond()
		})
	}
}

// candidate runs for leader until it is stopped. The channel is closed when it leads.
func (v *visit) candidate(config *rest.Config, name string) (leads <-chan struct{}, stop func()) {
	v.Helper()
	leading := make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: v.namespace, Name: "leader"},
			Client:     kubernetes.NewForConfigOrDie(config).CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		},
		LeaseDuration: 10 * time.Second, RenewDeadline: 5 * time.Second, RetryPeriod: 100 * time.Millisecond,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(leading) },
			OnStoppedLeading: func() {},
		},
	})
	v.ok(err)
	ctx, cancel := context.WithCancel(v.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		elector.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-ended
	}
	v.Cleanup(stop)
	return leading, stop
}

func (v *visit) leads(candidate <-chan struct{}) {
	v.Helper()
	select {
	case <-candidate:
	case <-v.ctx.Done():
		v.Fatal(context.Cause(v.ctx))
	}
}
