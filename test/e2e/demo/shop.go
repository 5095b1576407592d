package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/envtest/tcpproxy"
	"github.com/kubewright/kubewright/examples/controller/bakery"
	"github.com/kubewright/kubewright/examples/crds"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
)

// shop is what the story needs: a server with the definitions, a running controller, and the clientset that
// creates bakeries and markets.
type shop struct {
	server   *apiserver.Server
	people   versioned.Interface // connects to the server directly
	proxy    *tcpproxy.Proxy     // what the controller connects through
	factory  externalversions.SharedInformerFactory
	narrator *narrator
	stop     context.CancelFunc
	stopped  chan error // the error that the controller returns

	steps, events, statuses int // how many of each were expected and came
}

// open starts everything, close stops it.
func open(ctx context.Context) (*shop, error) {
	s := &shop{narrator: newNarrator(), stop: func() {}, stopped: make(chan error, 1)}
	s.stopped <- nil
	if err := s.setUp(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *shop) setUp(ctx context.Context) (err error) {
	begin := time.Now()
	if s.server, err = apiserver.Start(ctx, apiserver.Options{}); err != nil {
		return err
	}
	config := s.server.Config()
	fmt.Printf("started an API server, with its etcd, at %s in %.1f s\n", config.Host,
		time.Since(begin).Seconds())

	begin = time.Now()
	if err := s.server.InstallCRDs(ctx, crds.Files); err != nil {
		return err
	}
	fmt.Printf("installed the definitions of examples/crds in %d ms\n", time.Since(begin).Milliseconds())
	if s.people, err = versioned.NewForConfig(config); err != nil {
		return err
	}

	host, err := url.Parse(config.Host)
	if err != nil {
		return err
	}
	if s.proxy, err = tcpproxy.Start(host.Host); err != nil {
		return err
	}
	config.Host = "https://" + s.proxy.Addr()
	client, err := versioned.NewForConfig(config)
	if err != nil {
		return err
	}
	s.factory = externalversions.NewSharedInformerFactory(client, 0)
	// The libraries log waits for caches and cut connections, which aren't part of the story: only the
	// controller logs to the narrator.
	running, stop := context.WithCancel(klog.NewContext(ctx, logr.Discard()))
	controller, err := bakery.New(klog.NewContext(running, logr.New(s.narrator)), client,
		s.factory.Shop().V1())
	if err != nil {
		stop()
		return err
	}
	s.stop = stop
	s.factory.StartWithContext(running)
	<-s.stopped
	go func() { s.stopped <- controller.Run(running, 2) }()
	return s.narrator.expect(ctx, line("Started", []any{"workers", 2}))
}

// close stops the controller, its informers, the proxy and the server, in this order.
func (s *shop) close() error {
	s.stop()
	controller := <-s.stopped
	if s.factory != nil {
		s.factory.Shutdown()
	}
	if s.proxy != nil {
		s.proxy.Close()
	}
	if s.server != nil {
		return errors.Join(controller, s.server.Stop())
	}
	return controller
}

func (s *shop) summary(w io.Writer) {
	fmt.Fprintf(w, "  %-28s %d of %d\n", "steps as expected", s.steps, len(story))
	fmt.Fprintf(w, "  %-28s %d of %d\n", "seen by the controller", s.events, expectedEvents())
	fmt.Fprintf(w, "  %-28s %d of %d\n", "statuses on the server", s.statuses, expectedStatuses())
	fmt.Fprintf(w, "  %-28s %d\n", "seen, but not expected", len(s.narrator.unexpected()))
	fmt.Fprintf(w, "  %-28s %d\n", "connections, after outages", s.proxy.Connections())
}

// verdict returns an error unless exactly the expected lines came.
func (s *shop) verdict() error {
	var problems []error
	if s.steps != len(story) || s.events != expectedEvents() || s.statuses != expectedStatuses() {
		problems = append(problems, errors.New("some expected lines or statuses didn't come"))
	}
	for _, line := range s.narrator.unexpected() {
		problems = append(problems, fmt.Errorf("the controller logged %q unexpectedly", line))
	}
	return errors.Join(problems...)
}
