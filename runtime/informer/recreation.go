package informer

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

// isRecreation says whether a change is an object in place of another one of the
// same name, and is to be told as what it is.
func (i *Informer[K, T]) isRecreation(c *store.Change[K, T]) bool {
	if !i.config.RecreationIsDeletion || c.Type != store.Updated {
		return false
	}
	before, now := uidOf(c.Old), uidOf(c.Object)
	return before != "" && now != "" && before != now
}

func uidOf[T any](obj T) types.UID {
	m, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return m.GetUID()
}
