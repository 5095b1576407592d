// Package apiserver runs a real Kubernetes API server for custom resources inside the calling process: an
// embedded etcd, and on top of it the server of k8s.io/apiextensions-apiserver. Both listen on 127.0.0.1, on
// ports that the kernel chooses, and keep their files in one scratch directory.
//
// It has everything that only a server decides: resource versions, validation against a CRD's schema,
// sub-resources, watch caches, bookmarks, expiry of old versions. It has no built-in API (no Pods, no
// namespaces, no RBAC), no webhooks, no admission plugins, and no discovery document at /apis (/apis/<group>
// works). Namespaces are plain names and need not be created.
//
// The server is for tests and demonstrations only: any client with the token of [Server.Config] is an
// administrator, and nothing is synced to disk.
package apiserver
