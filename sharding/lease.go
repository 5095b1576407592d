package sharding

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

const (
	// groupLabel has the group's name. The Leases of its members have it, and so has that of the table.
	groupLabel = "sharding.kubewright.dev/group"
	// tableAnnotation is the table, on the Lease that has the group's name.
	tableAnnotation = "sharding.kubewright.dev/table"
	// memberAnnotation is a member's report, on its own Lease.
	memberAnnotation = "sharding.kubewright.dev/member"
)

// report is what a member says of itself.
type report struct {
	Protocol int      `json:"protocol"`
	Field    Field    `json:"field"`
	Kinds    []string `json:"kinds"`
	// Seen is the generation of the last table that the member took note of. It acts on no earlier one.
	Seen int64 `json:"seen"`
	// Objects is how many the member has in each of its ranges, by the range's first place.
	Objects map[place]int `json:"objects,omitempty"`
}

// leases reads and writes the Leases of a group.
type leases struct {
	client coordination.LeaseInterface
	group  string
	// timeout bounds each request. One that wasn't answered may still be carried out.
	timeout time.Duration
}

// read returns the table as the server has it now, and the Lease that it is on. The error is NotFound if there is none.
func (l leases) read(ctx context.Context) (table, *coordinationv1.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	lease, err := l.client.Get(ctx, l.group, metav1.GetOptions{})
	if err != nil {
		return table{}, nil, err
	}
	t, err := tableOf(lease)
	return t, lease, err
}

func tableOf(lease *coordinationv1.Lease) (table, error) {
	t, err := parseTable(lease.Annotations[tableAnnotation])
	if err != nil {
		return t, fmt.Errorf("the table in lease %s/%s: %w", lease.Namespace, lease.Name, err)
	}
	return t, nil
}

// write replaces the table, if the Lease is still the one that was read. The error is a Conflict if it isn't.
func (l leases) write(ctx context.Context, read *coordinationv1.Lease, t table) (*coordinationv1.Lease, error) {
	text, err := t.text()
	if err != nil {
		return nil, err
	}
	lease := read.DeepCopy()
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, tableAnnotation, text)
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	return l.client.Update(ctx, lease, metav1.UpdateOptions{})
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

// highest returns the highest generation that any member has seen, also members that are gone.
func (l leases) highest(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	list, err := l.client.List(ctx, metav1.ListOptions{LabelSelector: groupLabel + "=" + l.group})
	if err != nil {
		return 0, err
	}
	var highest int64
	for i := range list.Items {
		if r, ok := reportOf(&list.Items[i]); ok {
			highest = max(highest, r.Seen)
		}
	}
	return highest, nil
}

// reportOf returns a member's report. It returns false for Leases that aren't a member's.
func reportOf(lease *coordinationv1.Lease) (report, bool) {
	text, ok := lease.Annotations[memberAnnotation]
	if !ok {
		return report{}, false
	}
	var r report
	return r, json.Unmarshal([]byte(text), &r) == nil
}

// renew writes a member's Lease, and creates it if it isn't there.
func (l leases) renew(
	ctx context.Context, last *coordinationv1.Lease, identity string, duration time.Duration, now time.Time, r report,
) (*coordinationv1.Lease, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	lease := last.DeepCopy()
	if lease == nil {
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
			Name:   l.memberName(identity),
			Labels: map[string]string{groupLabel: l.group},
		}}
	}
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, memberAnnotation, string(text))
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	seconds, renewed := int32(max(duration.Round(time.Second)/time.Second, 1)), metav1.NewMicroTime(now)
	lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds, lease.Spec.RenewTime = &identity, &seconds, &renewed
	if lease.ResourceVersion != "" {
		updated, err := l.client.Update(ctx, lease, metav1.UpdateOptions{})
		if !apierrors.IsNotFound(err) {
			return updated, err
		}
		lease.ResourceVersion, lease.UID = "", ""
	}
	return l.client.Create(ctx, lease, metav1.CreateOptions{})
}

// ofMember reads a member's Lease.
func (l leases) ofMember(ctx context.Context, identity string) (*coordinationv1.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	return l.client.Get(ctx, l.memberName(identity), metav1.GetOptions{})
}

func (l leases) memberName(identity string) string { return l.group + "-" + identity }

// sameKinds reports whether a member or a table shards what the group shards.
func sameKinds(field, otherField Field, kinds, otherKinds []string) bool {
	return field == otherField && slices.Equal(kinds, otherKinds)
}
