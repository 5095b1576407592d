//go:build linux

// Command replica is one replica of a controller that shares its objects. The tests of package sharded run
// it.
//
// It sets the status of each Bakery to the generation that it has seen, and removes a finalizer from deleted
// ones. On SIGTERM it leaves its group and ends.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/sharding"
	"github.com/kubewright/kubewright/test/e2e/sharded/internal/wire"
)

func main() {
	klog.InitFlags(nil)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		klog.ErrorS(err, "The replica ends")
		klog.FlushAndExit(klog.ExitFlushTimeout, 1)
	}
}

func run(ctx context.Context) error {
	var job wire.Job
	if err := json.Unmarshal([]byte(os.Getenv(wire.Variable)), &job); err != nil {
		return fmt.Errorf("the variable %s: %w", wire.Variable, err)
	}
	stamps := &stamps{careless: job.Careless > 0}
	// JSON, because the proxy reads the requests and answers.
	config := &rest.Config{Host: job.Host, QPS: -1}
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	config.Wrap(stamps.inner)
	if job.Careless == 0 {
		config.Wrap(sharding.FencingTransport)
	}
	config.Wrap(stamps.outer)
	client, err := versioned.NewForConfig(config)
	if err != nil {
		return err
	}
	builtins, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := externalversions.NewSharedInformerFactory(client, 0)
	bakeries := factory.Shop().V1().Bakeries()
	member, err := sharding.NewMember(sharding.Config{
		Leases:        builtins.CoordinationV1().Leases(wire.Namespace),
		Group:         wire.Group,
		Identity:      job.Identity,
		Field:         job.Field,
		Kinds:         []string{"bakeries.shop.kubewright.dev"},
		Informers:     []cache.SharedInformer{bakeries.Informer()},
		LeaseDuration: job.Times.LeaseDuration,
		RenewDeadline: job.Times.RenewDeadline,
		RetryPeriod:   job.Times.RetryPeriod,
		JoinDelay:     job.Times.JoinDelay,
	})
	if err != nil {
		return err
	}
	stamps.member = member.Identity()
	controller, err := newController(job, client, member, bakeries)
	if err != nil {
		return err
	}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	serving := &http.Server{Handler: controller}
	defer serving.Close()
	go func() { _ = serving.Serve(listener) }() // it always returns an error

	// Informers and workers keep running while the member leaves.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer factory.Shutdown()
	defer stop()
	factory.StartWithContext(running)
	var working sync.WaitGroup
	var worked error
	working.Go(func() { worked = controller.run(running, job.Workers) })
	ready := wire.Ready{Member: member.Identity(), Address: listener.Addr().String()}
	if err := json.NewEncoder(os.Stdout).Encode(ready); err != nil {
		return err
	}
	left := member.Run(ctx)
	stop()
	working.Wait()
	return errors.Join(left, worked)
}
