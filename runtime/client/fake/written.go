package fake

import "github.com/kubewright/kubewright/runtime/listwatch"

// Written says that nothing was written that an informer could wait for: a fake's
// objects have no versions but those that a test gives them, see
// [listwatch.Writing].
func (c *Client[T]) Written(string, uint64) (listwatch.Written, bool) {
	return listwatch.Written{}, true
}
