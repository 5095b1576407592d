package runtimetest

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	operators "k8s.io/apimachinery/pkg/selection"

	"github.com/kubewright/kubewright/runtime/shard"
)

// selection selects the objects of a request.
type selection struct {
	labels labels.Selector
	fields fields.Requirements
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
	byFields, err := fields.ParseSelector(opts.FieldSelector)
	if err != nil {
		return s, apierrors.NewBadRequest(err.Error())
	}
	s.fields = byFields.Requirements()
	for _, r := range s.fields {
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

// matches is called for each object and each watch, so it makes no sets of an object's labels and fields that
// nothing selects by.
func (s selection) matches(obj metav1.Object) bool {
	for _, r := range s.fields {
		value := obj.GetName()
		if r.Field == namespaceField {
			value = obj.GetNamespace()
		}
		if (value == r.Value) == (r.Operator == operators.NotEquals) {
			return false
		}
	}
	return (!s.sharded || s.hashed.Contains(s.field.Hash(obj))) &&
		(s.labels.Empty() || s.labels.Matches(labels.Set(obj.GetLabels())))
}
