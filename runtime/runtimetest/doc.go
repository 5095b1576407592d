// Package runtimetest is for tests of list-and-watch code.
//
// Server models one resource of an API server in memory: versioned objects,
// lists in pages, watches from a version, bookmarks, compaction, streamed
// lists. Faults are scripted: requests fail, streams break, bookmarks don't
// come. The same server serves client-go's informers, by ListerWatcher, and
// ours, by its typed client.
//
// Everything works inside a bubble of testing/synctest; create the server there.
package runtimetest
