package record

import (
	"fmt"
	"maps"

	"k8s.io/client-go/tools/cache"
)

// Versions returns the versions of objects by name.
func Versions[T Object](objects []T) map[cache.ObjectName]string {
	versions := make(map[cache.ObjectName]string, len(objects))
	for _, obj := range objects {
		versions[cache.MetaObjectToName(obj)] = obj.GetResourceVersion()
	}
	return versions
}

// After returns the versions of the objects that exist after the events.
func After(events []Event) map[cache.ObjectName]string {
	versions := map[cache.ObjectName]string{}
	for _, e := range events {
		if e.What == Deleted {
			delete(versions, e.Name)
		} else {
			versions[e.Name] = e.Version
		}
	}
	return versions
}

// Complete returns an error if a handler missed any of the changes in done, or received anything else. The
// handler received events; the first of them, as many as initial, are its initial list. They must be the
// objects at one moment, and the rest each change since. That moment need not be the last: servers answer
// some lists from a cache.
func Complete(events []Event, initial int, done []Event) error {
	since := len(done) - (len(events) - initial)
	if since < 0 {
		return fmt.Errorf("%d initial and %d other events, but only %d changes", initial,
			len(events)-initial, len(done))
	}
	if got, want := After(events[:initial]), After(done[:since]); !maps.Equal(got, want) {
		return fmt.Errorf("the initial objects are %v, want those after %d of %d changes: %v", got, since,
			len(done), want)
	}
	if diff := Diff(events[initial:], done[since:]); diff != "" {
		return fmt.Errorf("after the %d initial events: %s", initial, diff)
	}
	return nil
}

// Diff describes briefly how two accounts differ; it returns "" if they don't.
func Diff(got, want []Event) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("%d events are missing, the first is: %s", len(want)-i, want[i])
		case i >= len(want):
			return fmt.Sprintf("%d events too many, the first is: %s", len(got)-i, got[i])
		case got[i] != want[i]:
			return fmt.Sprintf("event %d is: %s, want: %s", i+1, got[i], want[i])
		}
	}
	return ""
}
