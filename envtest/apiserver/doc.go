// Package apiserver runs a real Kubernetes API server inside the calling process: an embedded etcd, and on
// top of it the server of k8s.io/apiextensions-apiserver. Both listen on 127.0.0.1, on ports that the kernel
// chooses, and keep their files in one scratch directory.
//
// It serves custom resources, ConfigMaps, Secrets, Namespaces, Events and Leases, and their discovery. So it
// has everything that only a server decides: resource versions, validation, server-side apply, subresources,
// watch caches, bookmarks, expiry of old versions. Leader election, event recorders and controller-runtime's
// manager work with it unchanged. The other kinds of Kubernetes, authentication, admission and controllers
// are missing: a table in docs/testing.md lists what is there and what isn't.
//
// The server is for tests and demonstrations only: every client that can connect is an administrator, and
// nothing is synced to disk.
package apiserver
