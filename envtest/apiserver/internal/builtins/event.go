package builtins

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/endpoints/request"
)

var eventRules = rules[*corev1.Event]{
	plural: "events", singular: "event", shortNames: []string{"ev"},
	empty: &corev1.Event{}, emptyList: &corev1.EventList{},
	createdByPut: true,
	unversioned:  true,
	seconds:      3600,
	validate: func(ctx context.Context, e *corev1.Event) field.ErrorList {
		if e.EventTime.IsZero() {
			errs := validateOldEvent(e)
			if inEventsGroup(ctx) {
				errs = append(errs, field.Required(field.NewPath("eventTime"), ""))
			}
			return errs
		}
		return validateNewEvent(e)
	},
	validateUpdate: func(ctx context.Context, e, old *corev1.Event) field.ErrorList {
		if !inEventsGroup(ctx) {
			return nil
		}
		same := old.DeepCopy()
		same.TypeMeta, same.ObjectMeta, same.Series = e.TypeMeta, e.ObjectMeta, e.Series
		if !equality.Semantic.DeepEqual(same, e) {
			return field.ErrorList{field.Forbidden(field.NewPath(""),
				"updates of an event may change only its metadata and series")}
		}
		return nil
	},
	fields: func(e *corev1.Event) fields.Set {
		source := e.Source.Component
		if source == "" {
			source = e.ReportingController
		}
		return fields.Set{
			"involvedObject.kind":            e.InvolvedObject.Kind,
			"involvedObject.namespace":       e.InvolvedObject.Namespace,
			"involvedObject.name":            e.InvolvedObject.Name,
			"involvedObject.uid":             string(e.InvolvedObject.UID),
			"involvedObject.apiVersion":      e.InvolvedObject.APIVersion,
			"involvedObject.resourceVersion": e.InvolvedObject.ResourceVersion,
			"involvedObject.fieldPath":       e.InvolvedObject.FieldPath,
			"reason":                         e.Reason,
			"reportingComponent":             e.ReportingController,
			"source":                         source,
			"type":                           e.Type,
		}
	},
}

// inEventsGroup reports whether a request is for an Event of events.k8s.io, whose rules are stricter.
func inEventsGroup(ctx context.Context) bool {
	info, ok := request.RequestInfoFrom(ctx)
	return ok && info.APIGroup == eventsv1.GroupName
}

var involvedNamespace = field.NewPath("involvedObject", "namespace")

// validateOldEvent checks an event without eventTime, as client-go's tools/record writes it.
func validateOldEvent(e *corev1.Event) field.ErrorList {
	of := e.InvolvedObject.Namespace
	if of == "" {
		of = metav1.NamespaceDefault
	}
	if e.Namespace != of {
		return field.ErrorList{
			field.Invalid(involvedNamespace, e.InvolvedObject.Namespace, "does not match event.namespace")}
	}
	return nil
}

// validateNewEvent checks an event with eventTime, as client-go's tools/events writes it.
func validateNewEvent(e *corev1.Event) (errs field.ErrorList) {
	if e.InvolvedObject.Namespace == "" && e.Namespace != metav1.NamespaceDefault &&
		e.Namespace != metav1.NamespaceSystem {
		errs = append(errs, field.Invalid(involvedNamespace, "", "does not match event.namespace"))
	}
	for _, text := range []struct {
		name, value string
		required    bool
		limit       int
	}{
		{"reportingController", e.ReportingController, true, 317},
		{"reportingInstance", e.ReportingInstance, true, 128},
		{"action", e.Action, true, 128},
		{"reason", e.Reason, true, 128},
		{"message", e.Message, false, 1024},
	} {
		if text.required && text.value == "" {
			errs = append(errs, field.Required(field.NewPath(text.name), ""))
		}
		if len(text.value) > text.limit {
			errs = append(errs, field.Invalid(field.NewPath(text.name), "",
				fmt.Sprintf("can have at most %d characters", text.limit)))
		}
	}
	return errs
}
