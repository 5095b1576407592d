package tour

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Of several replicas of a controller one leads: it holds a Lease, an object that it renews every few
// seconds. If it fails to, it must stop, and another one takes the Lease when that hasn't changed for
// LeaseDuration. A leader that ends in an orderly way gives it up at once (ReleaseOnCancel).
func TestLeaderElection(t *testing.T) {
	clients, err := kubernetes.NewForConfig(serverConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	leads := make(chan string)
	run := func(identity string) (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
				Lock: &resourcelock.LeaseLock{
					LeaseMeta:  metav1.ObjectMeta{Namespace: namespace(t), Name: "bakery-controller"},
					Client:     clients.CoordinationV1(),
					LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
				},
				LeaseDuration:   15 * time.Second, // how long others wait for a leader that doesn't renew
				RenewDeadline:   10 * time.Second, // how long a leader tries to renew before it stops
				RetryPeriod:     100 * time.Millisecond,
				ReleaseOnCancel: true,
				Callbacks: leaderelection.LeaderCallbacks{
					OnStartedLeading: func(ctx context.Context) {
						leads <- identity
						<-ctx.Done() // the controller runs here
					},
					OnStoppedLeading: func() {}, // programs exit here
				},
			})
		}()
		return func() {
			cancel()
			<-ended
		}
	}
	stopFirst := run("first")
	if got := <-leads; got != "first" {
		t.Fatalf("%s leads", got)
	}
	defer run("second")()
	stopFirst()
	if got := <-leads; got != "second" {
		t.Errorf("%s leads, want second", got)
	}
}
