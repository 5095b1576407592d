// Package informer keeps a copy of a collection on a server and reports every change to handlers.
// docs/concepts.md describes what it promises and what a handler may do; this page describes how it works.
//
// # From the server to a handler
//
//	listwatch ──> reflector ──> sink ──> deltafifo ──> writer ──> store
//	(decoding)    (lists,       (transform,             │
//	               watches)      key)                   └────> change log ──> handler, handler, ...
//
// The reflector runs on a goroutine of its own. It reads each watch event, which listwatch decodes on that
// goroutine, and gives it to the sink, which transforms the object, computes its key and appends a delta to
// the queue. Appending never blocks, so nothing behind the queue slows down reading from the server.
//
// An informer of a part ([Shard]) has a group of feeds in place of the reflector: package feeds reads each
// range of hashes by a reflector of its own, as ranges come and go.
//
// The writer runs on the goroutine of RunWithContext. It pops everything from the queue, applies it to the
// store, and appends what changed to the change log. A node of the log is a single change or a batch: the
// changes that were applied together, up to 512, or a whole list, resync or snapshot.
//
// Each handler reads the log through a cursor of its own. The writer wakes it; a goroutine, which exists only
// while there is something to read, then calls OnAdd, OnUpdate or OnDelete. So a slow handler delays neither
// the store nor other handlers. The number of goroutines of an idle informer doesn't depend on how many
// handlers it has: there is one for the reflector and one for the writer; over a REST client, one for
// client-go's watcher, which is kept to end the response; and one each for resyncs and for the mutation
// detector, if they are on.
//
// # Who may change an object
//
// A transform owns the object, which isn't stored yet, and may change it. With ShareValues of
// [listwatch.DecodingOptions] it must not write into the object's maps, slices and pointees, which other
// objects share.
//
// Once the object is stored, the store, listers and all handlers share it, and nobody may change it: copy it
// first. Nothing prevents a change, unless the read-only views of generated listers are used. A changed
// object is wrong for every reader, and the indexes don't follow the change. The damage lasts until the
// object's next event: a relist in JSON keeps the stored object if its text is the same as in the previous
// list.
// [Tuning] can sample objects to find code that changes them; KUBE_CACHE_MUTATION_DETECTOR=true checks all
// that arrive from the server, for some minutes each.
//
// # Where memory is bounded
//
//   - A list is collected into the store's next content, beside the current one; generated informers decode
//     it item by item. A [listwatch.Limiter] bounds how many lists, or how many of their bytes, are in
//     flight.
//   - The queue has no bound, but its consumer never waits for a handler. Its two buffers are dropped when
//     they stay far larger than the batches.
//   - The log keeps what the slowest handler has not read yet, once for all handlers. It has no bound. A
//     handler that was added with Coalesce reads the log at once and keeps at most one entry for each object
//     instead. [StatusOf] shows every backlog.
//   - A cursor keeps at most one partly read node: up to 512 changes, or a whole list.
//
// docs/memory.md has the complete table.
//
// # Locks
//
// informer.mu guards the state, the settings and the list of handlers. informer.joining is held by the writer
// while the store and the log change together, and by a handler that joins: it reads a snapshot and takes its
// place in the log with no change in between.
//
// The order is joining, then mu, then the store's own locks. Whoever holds mu waits for nobody, so index
// functions, which the writer calls while it holds joining, may ask for the informer's state. The reflector
// takes mu alone, to check whether a resync is due. The other locks come last. The lock of the waiters may be
// held while the store is read, and while the state of a [Part] is, under the part's lock and that of its
// group of feeds. No other lock is taken under the locks of coalescers, of the mutation detector (taken under
// joining), of the reflector's health or of the indexer's functions.
//
// No lock that a method takes is held while a handler, a transform, a tweak of list options, a watch error
// handler or OnMutation runs, so all of these may call the informer. Index functions may read the cache, but
// must not write to it, or add handlers or indexes.
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
//   - [CoreOf] returns the [Core] of a generated informer: typed reads, handlers and indexes, and with
//     [Core.Events] a loop over typed changes.
//   - [WaitForSync] and [WaitForSyncOr] report which informers have not synced, and why. [StatusOf] reports
//     the state of one, [HealthCheck] checks it for a health endpoint.
//   - [WaitForVersion] waits for a resourceVersion, [WaitForOwnWrites] for the writes made through the
//     generated clientset, so that reads show one's own writes.
//   - [AddEventHandler] takes [HandlerOptions]: a backlog bounded by the number of objects, and contained
//     panics. Panics are counted and backlogs measured in any case, see [Status].
//   - [IndexLabels] and [IndexField] declare indexes that listers use.
//   - [Configure] sets deadlines for servers that fall silent, has recreated objects reported as a deletion
//     and an addition, and samples objects for mutations. [SetDecoding] changes how objects are decoded.
//   - [SetMetricsProvider] sets the provider of the metrics that client-go's informers have;
//     contrib/prometheus has one.
//
// Package factory does the same for all informers of a factory, and releases single ones. examples/informers
// shows each function.
//
// # Types
//
// Inside the runtime, objects are of type any, and the code is compiled once for each type of key. The type
// informer does the work. shared adapts it to client-go's [cache.SharedIndexInformer], and typedShared, which
// generated constructors return, adapts a shared to [cache.TypedSharedIndexInformer]. Only typedShared,
// [Core] and the adapters of handlers, indexers and index functions have the objects' type as a type
// parameter. Go compiles generic code anew in each package that names a type, so each generated package
// compiles no more than these conversions. Objects are pointers, which cost nothing to put into an any. A
// generated informer refuses an object of another type that comes from a list, an event, a transform or a
// write to its indexer.
//
// The key is a [cache.ObjectName] in generated informers, and a string in those of [New] and the facade.
package informer
