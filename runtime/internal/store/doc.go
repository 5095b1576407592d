// Package store keeps the objects of one resource by key, with indexes over them.
//
// # What readers and writers see
//
// A [Store] is safe for concurrent use. The changes of one call of Set, Delete, Apply or
// Replacement.Commit become visible together: no reader sees half of them.
//
// Readers hold the store's lock for one look-up, or for the copy of a short result.
// Large reads (List, Keys, All, an index value with many objects) take a [Snapshot]
// under the lock, which costs the same for ten objects as for a million, and read it
// without any lock: a long list delays neither a writer nor another reader, and it
// sees the store at one instant.
//
// Writers wait for each other, never for a reader's long list. They pay for snapshots
// instead: the first change of a page of 256 objects after a snapshot copies that page.
//
// # Locks
//
// A store has two locks. A writer takes both, in this order:
//
//  1. Store.writing, a mutex, is held by one writer at a time, from before it reads what
//     it will change until all is changed. It protects nothing from readers. Its
//     holder may read objects and indexes without mu, as nobody else changes them.
//  2. Store.mu, an RWMutex, protects what readers read: live, version, and everything
//     behind live. Writers take it last and briefly.
//
// A write goes through these steps:
//
//   - It takes writing.
//   - It calls the index functions, looks its keys up, and compares the values with those
//     that the indexes have. Index functions are a user's code: they may be slow, and
//     panic. Readers needn't wait for them, and a panic leaves the store unchanged,
//     because nothing was written yet.
//   - It copies the pages that it will write, if a snapshot shares them (Store.own),
//     and takes mu only to put each copy in place. Allocating and copying 8 KB takes
//     longer than the rest of a write.
//   - It takes mu, changes pages, table and indexes, and releases both. A snapshot that
//     was taken in between shares the pages again: then they are copied once more,
//     with mu held. That is rare, and it keeps the rule simple: code that changes a
//     page first checks that no snapshot shares it (pages.writable).
//
// Replacement.Commit takes the same steps with a whole generation: it indexes the
// staged objects and compares them with the live ones under writing alone. Under mu it
// replaces live and version, and takes a snapshot before and after.
//
// Readers write in two places, with mu held for reading or without it, so both are
// atomic: pages.shared, which every snapshot sets, and a page's summaries of labels,
// which some lists store for later lists. No code outside the package runs under a
// lock, except for index functions, under writing, which must not call the store.
//
// # Inside
//
// Objects live in dense slots 0 to n-1: a deletion moves the last object into the gap.
// Slots are grouped in pages, which snapshots share. A hash table maps a key to its
// slot, and an index holds lists of slots. Neither holds a pointer per object, so the
// garbage collector needn't scan them. Beside keys, objects and versions (64 bytes an
// object with keys of type cache.ObjectName) a store of more than 1,024 objects keeps
// a copy of each key that is a string or an object's name, for look-ups (64 bytes).
// A list by labels without an index reads summaries of the objects' labels (8 bytes
// an object). One such list in 32 stores the summaries that are missing.
//
// # Objects are shared
//
// The store hands out the objects that were put in, not copies. Changing an object that
// a store holds breaks the indexes and every other reader.
package store
