// Package informer keeps a copy of a collection on a server and reports every change to handlers.
// docs/concepts.md describes what it promises and what a handler may do. Package runtime/internal/engine does
// the work, and its page describes how; this package declares what programs use of it.
//
// # Who may change an object
//
// A transform owns the object, which isn't stored yet, and may change it. With ShareValues of
// [informer.Options] it must not write into the object's maps, slices and pointees, which other
// objects share.
//
// Once the object is stored, the store, listers and all handlers share it, and nobody may change it: copy it
// first. Nothing prevents a change, unless the read-only views of generated listers are used. A changed
// object is wrong for every reader, and the indexes don't follow the change. The damage lasts until an
// event replaces the object; a relist may keep it. Without a transform, unstructured objects share the
// contents of their managedFields: there, a change is one of many objects.
// [Options] can sample objects to find code that changes them; KUBE_CACHE_MUTATION_DETECTOR=true checks all
// that arrive from the server, for some minutes each.
//
// # Notifications
//
// The notifications are those of client-go v0.37, in the same order for each handler:
//
//   - The objects of the first list are additions, with isInInitialList set. A handler has synced once it has
//     received all of them.
//   - A later list first reports the objects that are gone, as missed deletions, then every object of the
//     list as an update or an addition.
//   - An update with an unchanged resourceVersion reaches only handlers that are resyncing. A handler is
//     resyncing from its registration to the next check for due resyncs, and after a check that found its
//     resync due. A resync is an update of every object to itself.
//   - A deletion is reported even if the object was not in the store.
//   - A handler that joins a running informer first receives the store's contents as an initial list.
//
// docs/differences.md lists the differences. The most visible ones: the version of an object is the one that
// the server sent, even if a transform removes it from the object; and a handler that panics still syncs, if
// the process survives the panic.
//
// # Beyond client-go
//
// Functions provide what client-go's interfaces lack. They accept whatever generated code returns. None of
// this is on by default:
//
//   - [Of] returns the [Typed] access to a generated informer: reads, handlers and indexes, and with
//     [Typed.Events] a loop over typed changes.
//   - [WaitForSync] and [WaitForSyncOr] report which informers have not synced, and why. [StatusOf] reports
//     the state of one, [HealthCheck] checks it for a health endpoint.
//   - [WaitForVersion] waits for a resourceVersion, [WaitForOwnWrites] for the writes made through the
//     generated clientset, so that reads show one's own writes.
//   - [AddEventHandler] takes [HandlerOptions]: a backlog bounded by the number of objects, and contained
//     panics. Panics are counted and backlogs measured in any case, see [Status].
//   - [IndexLabels] and [IndexField] declare indexes that listers use.
//   - [Configure] sets [Options]: fields that are dropped, limits for lists, list options, deadlines for
//     servers that fall silent, and samples of objects to find mutations.
//   - Options.Definitions makes a kind optional: while the server doesn't serve it, its informers are empty,
//     see package optional.
//   - [SetMetricsProvider] sets the provider of the metrics that client-go's informers have;
//     contrib/prometheus has one.
//
// Package factory does the same for all informers of a factory, and releases single ones. examples/informers
// shows each function.
//
// # Types
//
// Handlers, loops over events, indexes and reads of generated informers have types: a generated informer is a
// [cache.TypedSharedIndexInformer], and [Typed] adds to that. It refuses an object of another type that
// comes from a list, an event, a transform or a write to its indexer. Below, objects are of type any, and
// the code is compiled once; only conversions are compiled for each type. Objects are pointers, which cost
// nothing to put into an any.
package informer
