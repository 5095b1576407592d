package clientsource

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"

	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// FromListerWatcher returns a source over lw. Its methods with a context are
// used where it has them; without them a context can't interrupt it. A list function that hasn't returned
// a second after the end of its context is left behind on its goroutine, and its list isn't used. For a
// watch function there is no such limit.
//
// example, if not nil, is an object of the expected type. If it is an
// *unstructured.Unstructured with apiVersion and kind, these are expected, too.
// Events with other objects are logged and dropped, as by client-go's reflector;
// items of lists aren't compared with example. The source reports that it doesn't
// support WatchList semantics if lw does.
//
// The source streams if [listwatch.Streamed] made lw.
func FromListerWatcher(lw cache.ListerWatcher, example any) sources.Source {
	withContext := cache.ToListerWatcherWithContext(lw)
	c := collection{list: withContext.ListWithContext, watch: withContext.WatchWithContext}
	s := &source{
		collection: func() collection { return c },
		// lw is called each time: it may not know yet when the source is made, but only
		// when a reflector needs to know.
		lacksWatchList: func() bool { return watchlist.DoesClientNotSupportWatchListSemantics(lw) },
		expected:       expect(example),
		counts:         &readingCounts{},
	}
	if streamed, ok := lw.(*listwatch.StreamedListerWatcher); ok {
		c.kinds, c.notStreamed = kindsInScheme(example, streamed.Scheme())
		if t := s.expected.goType; t != nil && t.Kind() == reflect.Pointer {
			s.decodeWith(t, sources.Decoding{})
		}
	}
	return s
}

// expect returns the expectation that an example stands for.
func expect(example any) expectation {
	e := expectation{goType: reflect.TypeOf(example)}
	if u, ok := example.(*unstructured.Unstructured); ok {
		if gvk := u.GroupVersionKind(); !gvk.Empty() {
			e.gvk = &gvk
		}
	}
	return e
}
