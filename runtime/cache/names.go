package cache

import "k8s.io/client-go/tools/cache"

// NewInformerName reserves a name for informers in metrics. The names are
// client-go's: no two informers of a process have the same, whoever made them.
func NewInformerName(name string) (*InformerName, error) { return cache.NewInformerName(name) }

// ResetInformerNamesForTesting releases all names.
func ResetInformerNamesForTesting() { cache.ResetInformerNamesForTesting() }
