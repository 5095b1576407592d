// Package ownwrites makes the keys of a work queue wait until the caches show what was written for them. A
// reconcile then never decides by a cache that lacks its key's own last writes. No worker waits: the key
// isn't ready meanwhile.
//
//	tracker := &ownwrites.Tracker{}
//	config.Wrap(tracker.Transport) // before clients are made
//	...
//	err := tracker.Add(deployments.Informer(), pods.Informer())
//	q := ownwrites.NewQueue(tracker, queue.Config[string]{Metrics: workqueue.NewMetrics(nil, "deployments")})
//	...
//	err = workqueue.Run(ctx, q, workers, reconcile)
//
// Function OwnWrites of contrib/controller-runtime does that for controllers of controller-runtime.
// TestTogether in examples/tour is a whole controller, with an optional kind and eyes.
//
// A tracker belongs to one API server. Its transport records the writes of every client of the configuration
// that are sent in the context that reconcile gets. Writes are matched to the informers by API group and
// resource.
//
// # What a key waits for
//
//	an object with a version: a create,       every informer of the resource whose namespace and part
//	update, patch or apply, of a subresource  may hold the object shows that version, or a later one
//	too, or a deletion that isn't complete
//	a deletion, also by an update that        no object of that name and UID is in the cache
//	removes the last finalizer
//	a subresource whose answer has no         nothing
//	version, such as an eviction, and a
//	deletion of a collection
//	an object without the labels that the     nothing, unless the object is in the cache. By fields, only
//	informer selects                          those of name and namespace are judged; for others the
//	                                          bound applies
//	a refusal (4xx)                           nothing: nothing was written
//	no answer, a cut one, or 5xx              nothing: whether something was written is unknown. The key runs
//	                                          again after its back-off, and is counted
//
// A key waits for at most [Tracker.Bound] from the moment when it would be ready. Then it is handed out,
// counted and logged, and later runs don't wait for those writes any more. If the server's data was restored
// from a backup, an informer that notices it ends all waits for it. Nothing is waited for, and that is logged
// once,
//
//   - if an informer isn't running; that of an optional kind runs, also while the kind is absent,
//   - if versions can't be compared,
//   - if an answer is neither JSON nor protobuf: CBOR isn't read,
//   - if keys run and no client has the transport, as with fakes, or no informer was added.
//
// The key waits in the queue, where it is called parked, see [queue.Config.Gate]: it keeps its priority and
// age, and a shutdown makes it ready. There is no goroutine or timer for each key, and an event that releases
// none costs no walk over those that wait.
//
// # Metrics
//
// Those of the queue, [queue.Metrics], tell how many keys are parked, for how long keys were, how many
// were handed out late, and how many runs lost an answer. With contrib/prometheus they are
//
//	workqueue_parked
//	workqueue_parked_duration_seconds
//	workqueue_parked_late_total
//	workqueue_unknown_writes_total
//
// In kwctrl a queue has them by itself, elsewhere from workqueue.NewMetrics, called after
// kwprometheus.Register. Package eyes tells which keys wait, and for what.
//
// # Echoes
//
// Don't set SkipEchoes for a reconcile that goes on by its own echo, as one that writes a step and returns,
// that fights with a webhook or another controller about a field, or that ignores what the server answers.
//
// A key that writes an object is told of it by the informer, and runs again for nothing. With
// [Tracker.SkipEchoes], handlers of workqueue.Enqueue don't add a key for such an echo. Other handlers, which
// call the queue's Add, skip none.
//
//	keys := func(old, changed *appsv1.Deployment) []string {
//		return []string{cache.MetaObjectToName(cmp.Or(changed, old)).String()}
//	}
//	_, err = deployments.Informer().AddEventHandler(workqueue.Enqueue(q, keys))
//
// An echo is a notification that an object has changed from one version to another, if
//
//   - own writes of the key lead from the one to the other, and the server has compared the version of the
//     object before each: it was created, or updated, patched or applied with a resourceVersion, or
//   - an own write of the key, of any kind, has the later version, and the key has begun to run since: the
//     cache showed the write then.
//
// So each change by others is followed by a run, also if it arrives together with own ones. Writes without a
// resourceVersion cause one more run, however many they are. Additions because of initial lists, resyncs,
// deletions and objects that were created anew are never skipped, nor are echoes that arrive later than the
// bound, or after the object went to another replica. While an answer is missing, additions of the key are
// kept until it arrives, or until the run ends. Handlers' informers have to be those of [Tracker.Add].
//
// # What isn't promised
//
//   - Writes of other keys, other controllers and other replicas may be missing. Read them from the server,
//     or wait with informer.WaitForVersion.
//   - Writes of goroutines that outlive the call of reconcile, and those in another context, aren't waited
//     for.
//   - A deletion by name of an object that the cache has never shown, because another client created it
//     just before, may be forgotten before the cache shows the object.
//   - If others take an object out of the informer's label selection and bring it back just before the key
//     deletes it, the key may begin when the cache shows the object again, and not yet its deletion. Servers
//     from v1.38 on tell the version of a deletion, which closes that gap.
//   - The informers of package namespaces, whose set of namespaces changes, can't be added.
package ownwrites
