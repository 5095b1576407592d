package runtimetest

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// selection is which objects a request is about.
type selection struct {
	labels labels.Selector
	fields fields.Selector
}

// The fields that servers can select every type by.
const (
	nameField      = "metadata.name"
	namespaceField = "metadata.namespace"
)

// selectionOf reads the selectors of a request. As on a server, one that can't be read is a bad request.
func selectionOf(opts metav1.ListOptions) (s selection, err error) {
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
	return s, nil
}

func (s selection) matches(obj metav1.Object) bool {
	return s.labels.Matches(labels.Set(obj.GetLabels())) &&
		s.fields.Matches(fields.Set{nameField: obj.GetName(), namespaceField: obj.GetNamespace()})
}
