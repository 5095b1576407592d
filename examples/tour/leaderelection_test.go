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

// One of several replicas of a controller leads: it holds a Lease, an object that it renews every few
// seconds. If it can't renew it, it must stop. Another replica takes the Lease once it hasn't been renewed
// for LeaseDuration. A leader that shuts down in an orderly way releases it at once (ReleaseOnCancel).
func TestLeaderElection(t *testing.T) {
	clients, err := kubernetes.NewForConfig(serverConfig(t)) // of server_test.go, like namespace
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
	stopSecond := run("second") // waits for the Lease
	defer stopSecond()
	stopFirst()
	if got := <-leads; got != "second" {
		t.Errorf("%s leads, want second", got)
	}
}
