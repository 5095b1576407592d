// Package informer keeps a typed copy of a collection on a server and tells
// handlers of every change.
//
// # From the source to a handler
//
//	reflector ──> sink ──> deltafifo ──> writer ──> store
//	(lists, watches)                        │
//	                                        └────> log ──> handler, handler, ...
//
// The reflector has a goroutine: it pushes what the source says into the queue
// and never waits for anything behind it. The writer, on the goroutine of
// [Informer.Run], takes whatever the queue holds, changes the store, and writes
// once into the log what that changed. Each handler reads the log with a cursor
// of its own, from a goroutine that exists only while it has something to read.
// So a slow handler delays nobody, its backlog costs one copy for all handlers
// ([Registration.Backlog] says how long it is), and an idle informer has two
// goroutines, whatever the number of its handlers.
//
// # Which notifications there are
//
// Those of client-go v0.37, in the same order for each handler:
//
//   - The first list is added, with isInInitialList set. A handler has synced
//     once it was given all of it.
//   - A later list first reports what is gone, as missed deletions, then every
//     object of the list as an update or add.
//   - An update that left the resourceVersion as it was reaches only handlers
//     that resync: those that were added since the informer last looked at the
//     clock, and those for which a resync was due when it did. A resync is an
//     update of every object to itself.
//   - A deletion is reported even for an object that was not known.
//   - A handler that joins a running informer is first given what the store
//     holds, as if from an initial list.
//
// Unlike there, the version of an object is what the server sent: a transform
// may remove it from the object. And a handler that panics, where the process
// survives that, still becomes synced.
//
// # Beyond client-go
//
// What client-go's interfaces have no place for is reached by functions that take
// whatever generated code returns, and is off unless asked for:
//
//   - [Of] gives the [Core] of a generated informer, and with it
//     [Core.Events], a loop over typed changes.
//   - [WaitForSync] and [WaitForSyncOr] say why which informer has not synced,
//     [StatusOf] how one is doing, [HealthCheck] the same to a health endpoint.
//   - [WaitForVersion] waits for a resourceVersion, [Fresh] for what was written through
//     the generated clientset: read your own writes.
//   - [AddEventHandler] takes [HandlerOptions]: a backlog that is bounded by the
//     number of objects, and panics that are contained. Panics are counted and
//     backlogs measured in any case, see [Status].
//   - [IndexLabels] and [IndexField] declare indexes that listers use, of informers
//     that generated code returned.
//   - [Tune] sets deadlines for servers that fall silent, tells of objects that
//     were deleted and created again as such, and samples for mutations.
//   - [SetMetricsProvider] names who makes the metrics that client-go's informers
//     have; contrib/prometheus has one.
//
// Package factory has the same for all informers of a factory, and releases single
// ones. examples/informers shows each of them.
//
// # Faces and types
//
// [Informer] is for any key and type; who makes one of a concrete type has no any
// between the source and the handler. [Shared] shows one as client-go's informers,
// [Indexer] shows its store as client-go's indexer.
//
// What generated constructors return is a [TypedShared] over a Shared whose objects
// are any, and all of one type: Go compiles generic code anew in every package that
// names a type, and so everything below TypedShared is compiled once, here, and not
// with each generated package. Objects are pointers, which cost nothing to put into
// an any; what comes in from outside (lists, events, transforms, writes to the
// indexer) is refused unless it is of the one type, and typed handlers get it
// converted. [Of] gives the typed [Core] of such an informer.
package informer
