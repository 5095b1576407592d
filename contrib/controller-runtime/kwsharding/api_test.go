package kwsharding_test

import (
	"context"
	"errors"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// leases is a client of Leases in memory.
type leases struct {
	coordination.LeaseInterface // nil: other methods than those below aren't called

	server *runtimetest.Server[*coordinationv1.Lease, *coordinationv1.LeaseList]
	mu     sync.Mutex
	down   bool
}

func newLeases() *leases {
	return &leases{server: runtimetest.NewServer[coordinationv1.Lease, coordinationv1.LeaseList]()}
}

var leaseResource = coordinationv1.Resource("leases")

// setDown begins or ends an outage.
func (l *leases) setDown(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down = down; down {
		l.server.CloseWatches()
	}
}

var errDown = errors.New("no connection")

// names are those of the Leases.
func (l *leases) names() (names []string) {
	for _, lease := range l.server.Objects() {
		names = append(names, lease.Name)
	}
	return names
}

// find returns a Lease. The caller holds mu.
func (l *leases) find(name string) (*coordinationv1.Lease, error) {
	if l.down {
		return nil, errDown
	}
	if lease, ok := l.server.Find("", name); ok {
		return lease, nil
	}
	return nil, apierrors.NewNotFound(leaseResource, name)
}

func (l *leases) Get(_ context.Context, name string, _ metav1.GetOptions) (*coordinationv1.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.find(name)
}

func (l *leases) Create(
	_ context.Context, lease *coordinationv1.Lease, _ metav1.CreateOptions,
) (*coordinationv1.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch _, err := l.find(lease.Name); {
	case err == nil:
		return nil, apierrors.NewAlreadyExists(leaseResource, lease.Name)
	case !apierrors.IsNotFound(err):
		return nil, err
	}
	l.server.Create(lease)
	return l.find(lease.Name)
}

func (l *leases) Update(
	_ context.Context, lease *coordinationv1.Lease, _ metav1.UpdateOptions,
) (*coordinationv1.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch old, err := l.find(lease.Name); {
	case err != nil:
		return nil, err
	case old.ResourceVersion != lease.ResourceVersion:
		return nil, apierrors.NewConflict(leaseResource, lease.Name, errors.New("another version"))
	}
	l.server.Update(lease)
	return l.find(lease.Name)
}

func (l *leases) Delete(_ context.Context, name string, o metav1.DeleteOptions) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	old, err := l.find(name)
	if err != nil {
		return err
	}
	if p := o.Preconditions; p != nil && p.ResourceVersion != nil && *p.ResourceVersion != old.ResourceVersion {
		return apierrors.NewConflict(leaseResource, name, errors.New("another version"))
	}
	l.server.Delete(old.Namespace, name)
	return nil
}

func (l *leases) List(ctx context.Context, o metav1.ListOptions) (*coordinationv1.LeaseList, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return nil, errDown
	}
	return l.server.List(ctx, o)
}

func (l *leases) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return nil, errDown
	}
	return l.server.Watch(ctx, o)
}
