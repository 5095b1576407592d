// Package store keeps the objects of one resource by key, with indexes over
// them.
//
// # Consistency and blocking
//
// A Store is safe for concurrent use. Readers hold its lock only for as long
// as one look-up, or the copy of a short result, takes. What reads much (List,
// Keys, All, an index value with many objects) takes a Snapshot, which costs
// the same for ten objects as for a million, and reads that without any lock:
// a long list delays neither a writer nor another reader, and it sees the
// store at one instant.
//
// Writers wait for each other, never for a reader's long list. A writer pays
// for snapshots instead: the first change of a page of objects after a
// snapshot was taken copies that page. Snapshots that end, which are all but
// those of Snapshot and Commit, cost it less: after their end nothing is copied
// for them, and what was copied is used for the next copies.
//
// What Put, Apply and Replacement.Commit change becomes visible at once.
//
// # Inside
//
// Objects live in dense slots 0 to n-1: a deletion moves the last object into
// the gap. Slots are grouped in pages, which snapshots share. A hash table
// leads from key to slot, and an index holds lists of slots. Neither
// holds a pointer per object, which spares the garbage collector a walk. Of keys
// that are strings or names of objects, the table has copies of up to 62 bytes, for
// look-ups: 64 bytes an object, also in small stores. Who asks for labels that there is no index of leaves 8 bytes an
// object, a summary of its labels.
//
// # Objects are shared
//
// The store hands out what was put in. Whoever changes an object that a store
// holds breaks the indexes and every other reader.
package store
