// Package eyes shows what the informers and queues of a program are doing, and why they aren't:
//
//	e := eyes.New(eyes.Options{})
//	err := e.AddFactory("shop", factory)
//	e.AddQueue("bakeries", workqueue.AsQueue(q)) // for a q of runtime/workqueue
//	mux.Handle("/debug/eyes", e)
//
// Under controller-runtime, add the caches, and let the metrics server serve the page:
//
//	e.AddCaches("manager", caches) // of kwctrl.NewCaches
//	err := mgr.AddMetricsServerExtraHandler("/debug/eyes", e)
//
// and add the queues of controllers when they are made, by the NewQueue of their options:
//
//	func(name string, l workqueue.TypedRateLimiter[T]) workqueue.TypedRateLimitingInterface[T] {
//		q := kwctrl.NewQueue(name, l)
//		e.AddQueue(name, q.(eyes.StatusQueue))
//		return q
//	}
//
// Browsers get a page that looks every two seconds while it is visible, others plain text, or JSON with
// ?format=json. `kubewright eyes URL` prints the text, and exits with 1 if there are findings. Package
// eyesmetrics of contrib/prometheus has metrics. All of them read a [Snapshot].
//
// Between two looks this costs nothing: a look reads counters that informers and queues have anyway. Some
// findings compare a look with the one before, see [Finding]. To have one, eyes also look by themselves,
// after two minutes without a look.
//
// Names of objects, and errors of reconciles, are shown only with [Options].Keys. Namespaces of informers and
// the texts of the server's errors always are, so serve the page where reading of logs is allowed.
package eyes
