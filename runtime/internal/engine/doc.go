// Package engine is what works behind every informer. Package informer declares the types and functions that
// programs use; those find an informer of this package by its methods, as interfaces. Package gen/informer
// makes informers for generated code, runtime/cache those of lister-watchers.
//
// # From the server to a handler
//
//	clientsource ──> reflector ──> sink ──> deltafifo ──> writer ──> store
//	(decoding)       (lists,       (transform,             │
//	                  watches)      key)                   └────> change log ──> handler, handler, ...
//
// The reflector runs on a goroutine of its own. It reads each watch event, which clientsource decodes on that
// goroutine, and gives it to the sink, which transforms the object, computes its key and appends a delta to
// the queue. Appending never blocks, so nothing behind the queue slows down reading from the server.
//
// An informer of a part of its objects has another reader in place of the reflector, see [Selection].
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
// # Where memory is bounded
//
//   - A list is collected into the store's next content, beside the current one; generated informers decode
//     it item by item. A [listwatch.Limiter] bounds how many lists, or how many of their bytes, are in
//     flight.
//   - The queue has no bound, but its consumer never waits for a handler. Its two buffers are dropped when
//     they stay far larger than the batches.
//   - The log keeps what the slowest handler has not read yet, once for all handlers. It has no bound. A
//     handler that was added with Coalesce reads the log at once and keeps at most one entry for each object
//     instead. [informer.StatusOf] shows every backlog.
//   - A cursor keeps at most one partly read node: up to 512 changes, or a whole list.
//
// docs/memory.md has the complete table.
//
// # Locks
//
// engine.mu guards the state, the settings and the list of handlers. engine.joining is held by the writer
// while the store and the log change together, and by a handler that joins: it reads a snapshot and takes its
// place in the log with no change in between.
//
// The order is joining, then mu, then the store's own locks. Whoever holds mu waits for nobody, so index
// functions, which the writer calls while it holds joining, may ask for the informer's state. The reflector
// takes mu alone, to check whether a resync is due. The other locks come last. The lock of the waiters may be
// held while the store is read, and while a [Selection] is asked whether it is empty. No other lock is taken
// under the locks of coalescers, of the mutation detector (taken under joining), of the reflector's health or
// of the indexer's functions.
//
// The writer calls the observers of package observe without locks, and they may read the cache. They take
// locks of their own, under which they read the cache and ask for the informer's state.
//
// No lock that a method takes is held while a handler, a transform, a tweak of list options, a watch error
// handler or OnMutation runs, so all of these may call the informer. The logger of a handler's options may
// not: it is called while the handler joins. Index functions may read the cache, but
// must not write to it, or add handlers or indexes.
//
// # Types
//
// Objects are of type any, and the code is compiled once for each type of key. The type engine does the work.
// shared adapts it to client-go's [cache.SharedIndexInformer], and typedShared, which generated constructors
// return, adapts a shared to [cache.TypedSharedIndexInformer]. Only typedShared, [informer.Typed] and the
// adapters of handlers, indexers and index functions have the objects' type as a type parameter. Go compiles
// generic code anew in each package that names a type, so each generated package compiles no more than these
// conversions.
//
// The key is a [cache.ObjectName] in generated informers, and a string in those of the facade.
package engine
