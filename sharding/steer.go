package sharding

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/sharding/internal/steer"
)

func init() { steer.Table = steerTable }

// steerTable is [steer.Table].
func steerTable(
	lease *coordinationv1.Lease, r shard.Range, to string, isOut func(string) bool,
) (bool, error) {
	v, err := versionOf(lease)
	if err != nil {
		return false, err
	}
	next, changed := v.steered(r, to, isOut)
	if !changed {
		return false, nil
	}
	text, err := next.text()
	if err != nil {
		return false, err
	}
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, tableAnnotation, text)
	return true, nil
}

// steered returns the table after one step, and whether it differs.
func (t table) steered(r shard.Range, to string, isOut func(string) bool) (table, bool) {
	for i, e := range t.Ranges {
		span := t.rangeAt(i)
		if !overlap(span, r) {
			continue
		}
		part := shard.Range{First: max(span.First, r.First), Last: min(span.Last, r.Last)}
		switch {
		case e.Owner == to && e.To == "":
		case e.Owner == to:
			return t.withoutRequest(span.First, e.Objects), true
		case e.Owner == "" || isOut(e.Owner):
			return t.reassign(part, to, 0), true
		case e.To != to || part != span:
			return t.withRequest(part, to), true
		}
	}
	return t, false
}

// withRequest returns the table in which the owner of a part of one entry is asked to hand that part over to
// a member. The rest of the entry is no longer requested.
func (t table) withRequest(part shard.Range, to string) table {
	t = t.nextGeneration()
	i := t.indexOf(part.First)
	rest := t.Ranges[i]
	rest.To, rest.Part = "", 0
	requested := rest
	requested.To = to
	t.replacePart(i, part, requested, rest)
	return t
}
