// Package store keeps the objects of one resource by key, with indexes over them.
//
// # What readers and writers see
//
// A [Store] is safe for concurrent use. What Set, Delete, Apply and
// Replacement.Commit change becomes visible at once: no reader sees half of it.
//
// Readers hold the store's lock for one look-up, or for the copy of a short result.
// What reads much (List, Keys, All, an index value with many objects) takes a
// [Snapshot] under the lock, which costs the same for ten objects as for a million,
// and reads that without any lock: a long list delays neither a writer nor another
// reader, and it sees the store at one instant.
//
// Writers wait for each other, never for a reader's long list. They pay for snapshots
// instead: the first change of a page of 256 objects after a snapshot copies that page.
//
// # Locks
//
// A store has two locks. A writer takes both, in this order:
//
//  1. Store.writing, a mutex, is held by one writer at a time, from before it looks at
//     what it will change until all is changed. It protects nothing from readers. Its
//     holder may read objects and indexes without mu, as nobody else changes them.
//  2. Store.mu, a readers' and writers' lock, protects what readers look at: live,
//     version, and everything behind live. Writers take it last and briefly.
//
// A write goes through these steps:
//
//   - It takes writing.
//   - It calls the index functions, looks its keys up, and compares the values with those
//     that the indexes have. Index functions are a user's code: they may be slow, and
//     panic. Readers needn't wait for them, and a panic leaves the store as it was,
//     because nothing has changed yet.
//   - It copies the pages that it will write, if a snapshot has them (Store.own), and
//     takes mu only to put each copy in place. Copying 8 KB, and what that costs the
//     allocator, is more than all the rest of a write.
//   - It takes mu, changes pages, table and indexes, and releases both. A snapshot that
//     was taken in between shares the pages again: then they are copied once more,
//     with mu held. That is rare, and it keeps the rule simple: what changes a page
//     checks that no snapshot has it (pages.writable).
//
// Replacement.Commit takes the same steps with a whole generation: it indexes the
// staged objects and compares them with the live ones under writing alone, and under
// mu exchanges two pointers.
//
// Three things are written with mu held for reading, or without it, and are atomic:
// pages.shared, which every snapshot sets, and a page's summaries of labels, which
// lists leave for later lists. No code outside the package runs under a lock, except
// for index functions, under writing, which must not call the store.
//
// # Inside
//
// Objects live in dense slots 0 to n-1: a deletion moves the last object into the gap.
// Slots are grouped in pages, which snapshots share. A hash table leads from key to
// slot, and an index holds lists of slots. Neither holds a pointer per object, which
// spares the garbage collector a walk. Beside keys, objects and versions (64 bytes an
// object with keys of type cache.ObjectName) a store of more than 1,024 objects keeps
// a copy of each key that is a string or an object's name, for look-ups (64 bytes).
// Lists by labels that there is no index of leave a summary of an object's labels (8
// bytes).
//
// # Objects are shared
//
// The store hands out what was put in. Changing an object that a store holds breaks
// the indexes and every other reader.
package store
