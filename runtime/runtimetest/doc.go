// Package runtimetest provides an API server in memory for tests of code that lists and watches.
//
// Server models one resource: versioned objects, lists in pages, watches from a version,
// selectors, bookmarks, compaction, watch-lists. Faults are scripted: requests fail, streams break,
// bookmarks are omitted. client-go's informers use a server through its ListerWatcher, ours
// as a typed client.
//
// It works inside a bubble of testing/synctest if the server is created there.
package runtimetest
