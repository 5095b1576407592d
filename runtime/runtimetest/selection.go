package runtimetest

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubewright/kubewright/runtime/shard"
)

// selection is which objects a request is about.
type selection struct {
	labels labels.Selector
	fields fields.Selector
	// hashed are the hashes of field that are selected, if sharded is set.
	sharded bool
	field   shard.Field
	hashed  shard.Ranges
}

// shardFilter is which requests a server filters by their shard selectors.
type shardFilter struct{ lists, watches bool }

// The fields that servers can select every type by.
const (
	nameField      = "metadata.name"
	namespaceField = "metadata.namespace"
)

// selectionOf reads the selectors of a request. As on a server, one that can't be read is a bad request, but
// a shard selector that can't be read is an error without a reason. filters says whether the server filters
// such a request by its shard selector, or only reads that.
func selectionOf(opts metav1.ListOptions, on shardFilter, filters bool) (s selection, err error) {
	if s.labels, err = labels.Parse(opts.LabelSelector); err != nil {
		return s, apierrors.NewBadRequest(err.Error())
	}
	if s.fields, err = fields.ParseSelector(opts.FieldSelector); err != nil {
		return s, apierrors.NewBadRequest(err.Error())
	}
	for _, r := range s.fields.Requirements() {
		if r.Field != nameField && r.Field != namespaceField {
			return s, apierrors.NewBadRequest(fmt.Sprintf("field label not supported: %s", r.Field))
		}
	}
	if opts.ShardSelector == "" || on == (shardFilter{}) {
		return s, nil
	}
	if s.field, s.hashed, err = shard.ParseSelector(opts.ShardSelector); err != nil {
		return s, unspecific(fmt.Errorf("invalid shard selector: %w", err))
	}
	s.sharded = filters
	return s, nil
}

// unspecific returns what a client makes of an error that the server has no status for.
func unspecific(err error) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error(),
	}}
}

func (s selection) matches(obj metav1.Object) bool {
	return (!s.sharded || s.hashed.Contains(s.field.Hash(obj))) &&
		s.labels.Matches(labels.Set(obj.GetLabels())) &&
		s.fields.Matches(fields.Set{nameField: obj.GetName(), namespaceField: obj.GetNamespace()})
}
