package sharding

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/kubewright/kubewright/runtime/shard"
)

const (
	// groupLabel has the group's name as its value, on the Leases of the members and of the table.
	groupLabel = "sharding.kubewright.dev/group"
	// tableAnnotation is the table, on the Lease that has the group's name.
	tableAnnotation = "sharding.kubewright.dev/table"
	// memberAnnotation is a member's report, on its own Lease.
	memberAnnotation = "sharding.kubewright.dev/member"
)

// leases reads and writes the Leases of a group.
type leases struct {
	client coordination.LeaseInterface
	group  string
	// timeout bounds each request. One that wasn't answered may still be carried out.
	timeout time.Duration
}

// version is a table as it was read or written. The UID of its Lease identifies the creation of the table,
// the resourceVersion the write.
type version struct {
	table
	lease *coordinationv1.Lease
}

// versionOf returns the table of a Lease. The generation of a table whose ranges never had owners is its
// resourceVersion. After that each write adds one to the generation, and at least one to the resourceVersion,
// which never falls, whatever is deleted. So a table's tokens are higher than those of all tables that were
// deleted before it.
func versionOf(lease *coordinationv1.Lease) (*version, error) {
	t, err := parseTable(lease.Annotations[tableAnnotation])
	if err != nil {
		return nil, fmt.Errorf("the table in lease %s/%s: %w", lease.Namespace, lease.Name, err)
	}
	if t.untouched() {
		t.Generation, err = strconv.ParseInt(lease.ResourceVersion, 10, 64)
		if err != nil {
			return nil, fmt.Errorf(
				"the table in lease %s/%s: its generations begin at the resourceVersion, but %q is no number",
				lease.Namespace, lease.Name, lease.ResourceVersion)
		}
	}
	return &version{t, lease}, nil
}

// newer reports whether v was written after w.
func (v *version) newer(w *version) bool {
	order, err := resourceversion.CompareResourceVersion(v.lease.ResourceVersion, w.lease.ResourceVersion)
	return err != nil || order > 0
}

// rangesOf returns the hashes that a member owns. v may be nil: then nobody owns any.
func (v *version) rangesOf(owner string) shard.Ranges {
	if v == nil {
		return nil
	}
	return rangesOf(v.ownedBy(owner))
}

// keptBy returns the hashes that a member is known to have owned without interruption since an earlier
// version.
func (v *version) keptBy(owner string, since *version) shard.Ranges {
	if since == nil || since.lease.UID != v.lease.UID {
		return nil
	}
	kept := v.ownedBy(owner)
	if v.Generation > since.Generation+1 {
		// Only the token says what was written in between.
		kept = slices.DeleteFunc(kept, func(o Owned) bool { return o.Token > since.Generation })
	}
	return rangesOf(kept).And(since.rangesOf(owner))
}

// lostTo returns the members whose ranges the balancer gave to owner, among others, when it replaced the
// version since: their Leases had run out, so that they lost all. A member that hands over its last range was
// asked to.
func (v *version) lostTo(owner string, since *version) (lost []string) {
	if since == nil || since.lease.UID != v.lease.UID || v.Generation != since.Generation+1 {
		return nil // Owners may have handed ranges over in between.
	}
	for i, e := range since.Ranges {
		got := shard.Join(since.rangeAt(i)).And(v.rangesOf(owner))
		gave := e.To == owner && e.Part == 0 && len(since.ownedBy(e.Owner)) == 1
		if e.Owner != "" && len(got) > 0 && len(v.ownedBy(e.Owner)) == 0 && !gave &&
			!slices.Contains(lost, e.Owner) {
			lost = append(lost, e.Owner)
		}
	}
	return lost
}

// read returns the table as the server has it now. The error is NotFound if there is none.
func (l leases) read(ctx context.Context) (*version, error) {
	lease, err := l.get(ctx, l.group)
	if err != nil {
		return nil, err
	}
	return versionOf(lease)
}

// latest returns the table as the server has it now, and the resourceVersion from which to watch it. That is
// the list's, because a server that was restarted can't watch from a table's own, older one. The error is
// NotFound if there is no table.
func (l leases) latest(ctx context.Context) (v *version, since string, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	list, err := l.client.List(ctx, l.tableOptions())
	if err != nil {
		return nil, "", err
	}
	if len(list.Items) == 0 {
		return nil, "", apierrors.NewNotFound(coordinationv1.Resource("leases"), l.group)
	}
	v, err = versionOf(&list.Items[0])
	return v, list.ResourceVersion, err
}

func (l leases) get(ctx context.Context, name string) (*coordinationv1.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	return l.client.Get(ctx, name, metav1.GetOptions{})
}

// write replaces a table that was read. The error is a Conflict if another one was written since.
func (l leases) write(ctx context.Context, read *version, t table) (*version, error) {
	text, err := t.text()
	if err != nil {
		return nil, err
	}
	lease := read.lease.DeepCopy()
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, tableAnnotation, text)
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	written, err := l.client.Update(ctx, lease, metav1.UpdateOptions{})
	return &version{t, written}, err
}

// create creates the table. The error is AlreadyExists if another member was quicker.
func (l leases) create(ctx context.Context, t table) error {
	text, err := t.text()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	_, err = l.client.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name:        l.group,
		Labels:      map[string]string{groupLabel: l.group},
		Annotations: map[string]string{tableAnnotation: text},
	}}, metav1.CreateOptions{})
	return err
}

// tableOptions selects the table.
func (l leases) tableOptions() metav1.ListOptions {
	return metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", l.group).String()}
}

// groupOptions selects the table and the Leases of the members.
func (l leases) groupOptions() metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: groupLabel + "=" + l.group}
}

// list returns the table's Lease and those of the members, as the server has them now.
func (l leases) list(ctx context.Context) (*coordinationv1.LeaseList, error) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	return l.client.List(ctx, l.groupOptions())
}

// renew writes a member's Lease, and creates it if it isn't there.
func (l leases) renew(
	ctx context.Context, last *coordinationv1.Lease, identity string, duration time.Duration, r report,
) (*coordinationv1.Lease, error) {
	lease := last.DeepCopy()
	if lease == nil {
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
			Name:   l.memberName(identity),
			Labels: map[string]string{groupLabel: l.group},
		}}
	}
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, memberAnnotation, r.text())
	seconds, now := int32((duration+time.Second-1)/time.Second), metav1.NowMicro()
	lease.Spec.HolderIdentity = &identity
	lease.Spec.LeaseDurationSeconds, lease.Spec.RenewTime = &seconds, &now
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	if lease.ResourceVersion != "" {
		updated, err := l.client.Update(ctx, lease, metav1.UpdateOptions{})
		if !apierrors.IsNotFound(err) {
			return updated, err
		}
		lease.ResourceVersion, lease.UID = "", ""
	}
	return l.client.Create(ctx, lease, metav1.CreateOptions{})
}

// remove deletes a member's Lease, unless it has changed since it was seen. If seen is nil, it deletes any.
func (l leases) remove(ctx context.Context, identity string, seen *coordinationv1.Lease) error {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	var options metav1.DeleteOptions
	if seen != nil {
		options.Preconditions = &metav1.Preconditions{UID: &seen.UID, ResourceVersion: &seen.ResourceVersion}
	}
	err := l.client.Delete(ctx, l.memberName(identity), options)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (l leases) memberName(identity string) string { return l.group + "-" + identity }
