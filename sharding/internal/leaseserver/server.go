// Package leaseserver serves Leases in memory as the API server does, over links that may fail. It is for the
// tests of package sharding and for the groups of package shardingtest.
package leaseserver

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// Server holds the Leases of one namespace. An update of an older version is a conflict. Watches can start
// from any version until Restart. Its methods are safe for concurrent use.
type Server struct {
	leases *runtimetest.Server[*coordinationv1.Lease, *coordinationv1.LeaseList]
	wrote  func(*coordinationv1.Lease)

	// mu is held from the check of a write to its end.
	mu sync.Mutex
	// times are those of the writes: that of version first+n is at n-1.
	times   []time.Time
	first   int
	changed chan struct{}
	// watches counts the open ones by their selectors.
	watches map[string]int
}

// New returns a server without Leases. It calls wrote, unless that is nil, with every Lease that is created
// or updated. wrote must neither change the Lease nor call the server.
func New(wrote func(*coordinationv1.Lease)) *Server {
	if wrote == nil {
		wrote = func(*coordinationv1.Lease) {}
	}
	s := &Server{
		leases: runtimetest.NewServer[coordinationv1.Lease, coordinationv1.LeaseList](), wrote: wrote,
		changed: make(chan struct{}), watches: map[string]int{},
	}
	s.first, _ = strconv.Atoi(s.leases.Version())
	return s
}

var resource = coordinationv1.Resource("leases")

// Get returns a Lease.
func (s *Server) Get(name string) (*coordinationv1.Lease, error) {
	if lease, ok := s.leases.Find("", name); ok {
		return lease, nil
	}
	return nil, apierrors.NewNotFound(resource, name)
}

// Create stores a new Lease, and returns it with its UID and version.
func (s *Server) Create(lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.Get(lease.Name); err == nil {
		return nil, apierrors.NewAlreadyExists(resource, lease.Name)
	}
	s.leases.Create(lease)
	return s.written(lease.Name)
}

// Update replaces a Lease if it is of the version that is there.
func (s *Server) Update(lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check(lease.Name, &lease.UID, &lease.ResourceVersion); err != nil {
		return nil, err
	}
	s.leases.Update(lease)
	return s.written(lease.Name)
}

// Delete deletes a Lease. Of the options it supports the preconditions.
func (s *Server) Delete(name string, options metav1.DeleteOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if options.Preconditions == nil {
		options.Preconditions = &metav1.Preconditions{}
	}
	if err := s.check(name, options.Preconditions.UID, options.Preconditions.ResourceVersion); err != nil {
		return err
	}
	s.leases.Delete("", name)
	s.times = append(s.times, time.Now())
	return nil
}

// check returns an error unless there is a Lease with this UID and version. nil stands for any.
func (s *Server) check(name string, uid *types.UID, version *string) error {
	lease, err := s.Get(name)
	if err == nil && (uid != nil && *uid != lease.UID || version != nil && *version != lease.ResourceVersion) {
		err = apierrors.NewConflict(resource, name, errors.New("it has another version"))
	}
	return err
}

// written returns a Lease that was written, and records that. The caller holds mu.
func (s *Server) written(name string) (*coordinationv1.Lease, error) {
	s.times = append(s.times, time.Now())
	lease, err := s.Get(name)
	if err == nil {
		s.wrote(lease)
	}
	return lease, err
}

// List returns the selected Leases as they are now. It is an error to request a version.
func (s *Server) List(options metav1.ListOptions) (*coordinationv1.LeaseList, error) {
	if options.ResourceVersion != "" {
		return nil, errors.New("the list may be an old one")
	}
	return s.leases.List(context.Background(), options)
}

// Watches returns how many watches are open, by their selectors.
func (s *Server) Watches() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.watches)
}

// watched counts a watch that begins or ends.
func (s *Server) watched(options metav1.ListOptions, change int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	selector := options.FieldSelector + options.LabelSelector
	if s.watches[selector] += change; s.watches[selector] == 0 {
		delete(s.watches, selector)
	}
}

// Restart makes watches from older versions fail, as they do after the restart of a real server.
func (s *Server) Restart() { s.leases.Compact() }

// Wake makes all watches check whether their links are up.
func (s *Server) Wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

// wakes returns a channel that is closed by the next Wake.
func (s *Server) wakes() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// timeOf returns when an event happened.
func (s *Server) timeOf(event watch.Event) time.Time {
	lease, ok := event.Object.(*coordinationv1.Lease)
	if !ok {
		return time.Now() // the error of a watch that can't be served
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n, _ := strconv.Atoi(lease.ResourceVersion)
	return s.times[n-s.first-1]
}
