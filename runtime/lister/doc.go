// Package lister has what listers of this module can do beyond client-go's: [ListByFields] finds objects by
// the values of fields, [WaitForVersion] waits until a lister shows a resourceVersion, and [WaitForOwnWrites]
// until it shows the writes made through the clientset behind it.
//
// The functions take generated listers, those of factory.For, and those of the dynamic and metadata factories
// of package informers, for all namespaces or for one. Go infers the type of the objects. Listers are safe
// for concurrent use. They return the objects that the cache holds, not copies: callers must not change them,
// including their labels. docs/concepts.md describes how listers fit into a controller.
package lister
