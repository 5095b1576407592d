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

// selection selects the objects of a request.
type selection struct {
	labels labels.Selector
	fields fields.Selector
	// hashed are the hashes of field that are selected, if sharded is set.
	sharded bool
	field   shard.Field
	hashed  shard.Ranges
}

// shardFilter selects the requests that a server filters by their shard selectors.
type shardFilter struct{ lists, watches bool }

// The fields that servers can select every type by.
const (
	nameField      = "metadata.name"
	namespaceField = "metadata.namespace"
)

// selectionOf parses the selectors of a request. As on a server, a selector that can't be parsed is a bad
// request, but a shard selector that can't be parsed is an error without a reason. filters is whether the
// server filters such a request by its shard selector, or only parses the selector.
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

// unspecific returns the error that a client reports for a server's error without a Status.
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
