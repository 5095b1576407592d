// Package leaseserver holds Leases in memory as the API server does, for the tests of package sharding and
// for the groups of package shardingtest.
package leaseserver

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Server holds the Leases of one namespace. Every write has a new version, and an update of an older one is a
// conflict. Watches can start from any version until Restart. Its methods are safe for concurrent use.
type Server struct {
	wrote func(*coordinationv1.Lease)

	mu      sync.Mutex
	version int
	leases  map[string]*coordinationv1.Lease
	// history are the events of all versions: that of version n is at n-1.
	history []event
	// oldest is the oldest version from which a watch can start.
	oldest  int
	changed chan struct{}
	// watches counts the open ones by their selectors.
	watches map[string]int
}

// event is what a watch sends, and when it happened.
type event struct {
	watch.Event
	at time.Time
}

// New returns a server without Leases. It calls wrote, unless that is nil, with every Lease that is created
// or updated. wrote must neither change the Lease nor call the server.
func New(wrote func(*coordinationv1.Lease)) *Server {
	if wrote == nil {
		wrote = func(*coordinationv1.Lease) {}
	}
	return &Server{
		wrote: wrote, leases: map[string]*coordinationv1.Lease{}, changed: make(chan struct{}),
		watches: map[string]int{},
	}
}

var resource = coordinationv1.Resource("leases")

// put stores a copy of a Lease, or deletes the Lease, and returns another copy. What is stored is shared with
// watches, so it must not change. The caller holds mu.
func (s *Server) put(kind watch.EventType, lease *coordinationv1.Lease) *coordinationv1.Lease {
	s.version++
	lease = lease.DeepCopy()
	lease.ResourceVersion = strconv.Itoa(s.version)
	switch kind {
	case watch.Added:
		lease.UID = types.UID(fmt.Sprint("uid-", s.version))
		s.leases[lease.Name] = lease
	case watch.Modified:
		s.leases[lease.Name] = lease
	case watch.Deleted:
		delete(s.leases, lease.Name)
	}
	s.history = append(s.history, event{watch.Event{Type: kind, Object: lease}, time.Now()})
	s.wake()
	if kind != watch.Deleted {
		s.wrote(lease)
	}
	return lease.DeepCopy()
}

// Get returns a Lease.
func (s *Server) Get(name string) (*coordinationv1.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lease, ok := s.leases[name]
	if !ok {
		return nil, apierrors.NewNotFound(resource, name)
	}
	return lease.DeepCopy(), nil
}

// Create stores a new Lease, and returns it with its UID and version.
func (s *Server) Create(lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, exists := s.leases[lease.Name]; exists {
		return nil, apierrors.NewAlreadyExists(resource, lease.Name)
	}
	return s.put(watch.Added, lease), nil
}

// Update replaces a Lease if it is of the version that is there.
func (s *Server) Update(lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, exists := s.leases[lease.Name]
	if !exists {
		return nil, apierrors.NewNotFound(resource, lease.Name)
	}
	if old.ResourceVersion != lease.ResourceVersion || old.UID != lease.UID {
		return nil, conflict(lease.Name)
	}
	return s.put(watch.Modified, lease), nil
}

// Delete deletes a Lease. Of the options it supports the preconditions.
func (s *Server) Delete(name string, options metav1.DeleteOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	lease, exists := s.leases[name]
	if !exists {
		return apierrors.NewNotFound(resource, name)
	}
	if p := options.Preconditions; p != nil && (p.UID != nil && *p.UID != lease.UID ||
		p.ResourceVersion != nil && *p.ResourceVersion != lease.ResourceVersion) {
		return conflict(name)
	}
	s.put(watch.Deleted, lease)
	return nil
}

func conflict(name string) error {
	return apierrors.NewConflict(resource, name, errors.New("it has another version"))
}

// List returns the selected Leases as they are now. It is an error to request a version.
func (s *Server) List(options metav1.ListOptions) (*coordinationv1.LeaseList, error) {
	selected, err := selects(options)
	if err != nil {
		return nil, err
	}
	if options.ResourceVersion != "" {
		return nil, errors.New("the list may be an old one")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := &coordinationv1.LeaseList{}
	list.ResourceVersion = strconv.Itoa(s.version)
	for _, lease := range s.leases {
		if selected(lease) {
			list.Items = append(list.Items, *lease.DeepCopy())
		}
	}
	return list, nil
}

// selects supports selectors of labels, and of one name.
func selects(options metav1.ListOptions) (func(*coordinationv1.Lease) bool, error) {
	selector, err := labels.Parse(options.LabelSelector)
	if err != nil {
		return nil, err
	}
	name, one := strings.CutPrefix(options.FieldSelector, "metadata.name=")
	if options.FieldSelector != "" && !one {
		return nil, fmt.Errorf("the field selector %q isn't supported", options.FieldSelector)
	}
	return func(lease *coordinationv1.Lease) bool {
		return (!one || lease.Name == name) && selector.Matches(labels.Set(lease.Labels))
	}, nil
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
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.oldest = s.version
}

// remembers returns an error if there can't be a watch from a version.
func (s *Server) remembers(version int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if version < s.oldest {
		return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", version, s.oldest))
	}
	return nil
}

// Wake makes all watches check whether their links are up.
func (s *Server) Wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wake()
}

// wake is Wake. The caller holds mu.
func (s *Server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// since returns the events after a version, and a channel that is closed when there may be more.
func (s *Server) since(version int) ([]event, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history[version:], s.changed
}
