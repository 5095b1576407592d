// Command sharded runs a replica of the bakery controller that shares the bakeries with other replicas: each
// reconciles those of some namespaces. Start as many as you like, against a cluster that has the
// CustomResourceDefinitions of examples/crds:
//
//	go run ./examples/sharded --kubeconfig ~/.kube/config --identity a
//	go run ./examples/sharded --kubeconfig ~/.kube/config --identity b
//
// deploy.yaml runs three of them in a cluster. On SIGINT and SIGTERM a replica ends its work and gives up its
// namespaces, which takes up to 40 s. make demo-sharded shows all of that.
package main

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/sharding"
)

// options are those of the command line.
type options struct {
	kubeconfig string
	leases     string // the namespace of the group's Leases
	health     string // the address of /readyz
	workers    int
	oven       time.Duration // how long a bakery takes
	share      sharding.Config
}

// register adds the options to the flags of a command line.
func (o *options) register(flags *flag.FlagSet) {
	host, _ := os.Hostname() // in a Pod its name
	flags.StringVar(&o.kubeconfig, "kubeconfig", "",
		"file that says how to reach the cluster; empty inside a pod")
	flags.StringVar(&o.leases, "leases", "default", "namespace of the group's Leases")
	flags.StringVar(&o.health, "health", "", "address that serves /readyz, such as :8080; empty for none")
	flags.IntVar(&o.workers, "workers", 2, "how many bakeries are worked on at a time")
	flags.DurationVar(&o.oven, "oven", 0, "how long it takes to work on a bakery, for demonstrations")
	flags.StringVar(&o.share.Group, "group", "bakery-controller", "name that the replicas have in common")
	flags.StringVar(&o.share.Identity, "identity", host, "name of this replica")
	flags.DurationVar(&o.share.LeaseDuration, "lease-duration", 0,
		"how long a replica must be silent before its namespaces go to others; 0 for 15s")
	flags.DurationVar(&o.share.RenewDeadline, "renew-deadline", 0,
		"how long a replica works on without renewing its Lease; 0 for 10s")
	flags.DurationVar(&o.share.RetryPeriod, "retry-period", 0, "time between renewals; 0 for 2s")
	flags.DurationVar(&o.share.JoinDelay, "join-delay", 0,
		"how long a new replica waits for others to join, before namespaces move; 0 for 10s")
}

func main() {
	klog.InitFlags(nil)
	var o options
	o.register(flag.CommandLine)
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err == nil {
		err = run(ctx, config, o)
	}
	if err != nil {
		klog.ErrorS(err, "The replica failed")
		klog.FlushAndExit(klog.ExitFlushTimeout, 1)
	}
	klog.Flush()
}

// run runs a replica until ctx is done, and returns when it has left the others in order.
func run(ctx context.Context, config *rest.Config, o options) error {
	r, err := newReplica(ctx, config, o)
	if err != nil {
		return err
	}
	stop, err := serveHealth(o.health, r.member)
	if err != nil {
		return err
	}
	defer stop()
	return r.run(ctx, o.workers)
}
