package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/examples/crds"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
)

// The replicas' Leases are short, so that the demo is.
const (
	group         = "bakery-controller"
	leaseDuration = 6 * time.Second
	renewDeadline = 4 * time.Second
	retryPeriod   = time.Second
	joinDelay     = 3 * time.Second
)

// demo is what the story needs: a server, customers, replicas, and their observers.
type demo struct {
	scratch, program string

	server    *apiserver.Server
	tables    *tables
	witness   *witness
	customers *customers
	replicas  map[string]*replica
}

// open starts everything but the replicas. close stops everything.
func open(ctx context.Context, scratch, program string) (*demo, error) {
	d := &demo{scratch: scratch, program: program, replicas: map[string]*replica{}}
	if err := d.setUp(ctx); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func (d *demo) setUp(ctx context.Context) (err error) {
	begin := time.Now()
	d.server, err = apiserver.Start(ctx, apiserver.Options{ShardedListAndWatch: true})
	if err != nil {
		return err
	}
	config := d.server.Config()
	fmt.Printf("started an API server that filters lists and watches, at %s, in %.1f s\n", config.Host,
		time.Since(begin).Seconds())
	if err := d.server.InstallCRDs(ctx, crds.Files); err != nil {
		return err
	}
	if d.tables, err = followTables(ctx, config); err != nil {
		return err
	}
	if d.witness, err = newWitness(config); err != nil {
		return err
	}
	client, err := versioned.NewForConfig(config)
	if err != nil {
		return err
	}
	d.customers, err = welcome(ctx, client, d.witness)
	return err
}

func (d *demo) close() error {
	for _, r := range d.replicas {
		r.end()
	}
	if d.customers != nil {
		d.customers.goHome()
		d.customers.all.Wait()
	}
	if d.tables != nil {
		d.tables.stop()
	}
	if d.server != nil {
		return d.server.Stop()
	}
	return nil
}
