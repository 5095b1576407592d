// Package indexer presents a store as client-go's cache.Indexer. Informers and the
// facade runtime/cache share it.
package indexer
