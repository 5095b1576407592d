package builtins

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
)

// addEvents registers the conversion of Events between their two groups, and their field selectors.
func addEvents(scheme *runtime.Scheme) error {
	inCore, inEvents := map[string]string{}, map[string]string{
		"reason": "reason", "type": "type", "reportingController": "reportingComponent",
	}
	for field := range eventRules.fields(&corev1.Event{}) {
		inCore[field] = field
	}
	for _, field := range []string{
		"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath",
	} {
		inEvents["regarding."+field] = "involvedObject." + field
	}
	return errors.Join(
		converts(scheme, toCore), converts(scheme, fromCore),
		converts(scheme, listToCore), converts(scheme, listFromCore),
		selectBy(scheme, corev1.SchemeGroupVersion.WithKind("Event"), inCore),
		selectBy(scheme, eventsv1.SchemeGroupVersion.WithKind("Event"), inEvents),
	)
}

func converts[A, B any](scheme *runtime.Scheme, convert func(*A, *B)) error {
	return scheme.AddConversionFunc((*A)(nil), (*B)(nil), func(a, b any, _ conversion.Scope) error {
		convert(a.(*A), b.(*B))
		return nil
	})
}

// The conversions share memory where they can: apimachinery doesn't use the original afterwards.

func toCore(in *eventsv1.Event, out *corev1.Event) {
	*out = corev1.Event{
		ObjectMeta:          in.ObjectMeta,
		InvolvedObject:      in.Regarding,
		Reason:              in.Reason,
		Message:             in.Note,
		Source:              in.DeprecatedSource,
		FirstTimestamp:      in.DeprecatedFirstTimestamp,
		LastTimestamp:       in.DeprecatedLastTimestamp,
		Count:               in.DeprecatedCount,
		Type:                in.Type,
		EventTime:           in.EventTime,
		Action:              in.Action,
		Related:             in.Related,
		ReportingController: in.ReportingController,
		ReportingInstance:   in.ReportingInstance,
	}
	if in.Series != nil {
		out.Series = &corev1.EventSeries{
			Count: in.Series.Count, LastObservedTime: in.Series.LastObservedTime}
	}
}

func fromCore(in *corev1.Event, out *eventsv1.Event) {
	*out = eventsv1.Event{
		ObjectMeta:               in.ObjectMeta,
		EventTime:                in.EventTime,
		ReportingController:      in.ReportingController,
		ReportingInstance:        in.ReportingInstance,
		Action:                   in.Action,
		Reason:                   in.Reason,
		Regarding:                in.InvolvedObject,
		Related:                  in.Related,
		Note:                     in.Message,
		Type:                     in.Type,
		DeprecatedSource:         in.Source,
		DeprecatedFirstTimestamp: in.FirstTimestamp,
		DeprecatedLastTimestamp:  in.LastTimestamp,
		DeprecatedCount:          in.Count,
	}
	if in.Series != nil {
		out.Series = &eventsv1.EventSeries{
			Count: in.Series.Count, LastObservedTime: in.Series.LastObservedTime}
	}
}

func listToCore(in *eventsv1.EventList, out *corev1.EventList) {
	*out = corev1.EventList{ListMeta: in.ListMeta, Items: make([]corev1.Event, len(in.Items))}
	for i := range in.Items {
		toCore(&in.Items[i], &out.Items[i])
	}
}

func listFromCore(in *corev1.EventList, out *eventsv1.EventList) {
	*out = eventsv1.EventList{ListMeta: in.ListMeta, Items: make([]eventsv1.Event, len(in.Items))}
	for i := range in.Items {
		fromCore(&in.Items[i], &out.Items[i])
	}
}
