package engine

import (
	"errors"

	"github.com/kubewright/kubewright/runtime/gen/client"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/deltafifo"
	"github.com/kubewright/kubewright/runtime/internal/observe"
)

// restore is what an informer knows of the last restore of the server from a backup. Everything that was
// written up to the sequence number has been undone, or is shown at the version.
type restore struct {
	sequence uint64
	version  string
}

// errRestored ends a wait for own writes that has to find out anew which writes to wait for.
var errRestored = errors.New("the server's data was restored")

// beforeNewest is called before the reflector requests the newest state because the server couldn't serve the
// version. It returns what to call after the list, if that is older than what the store had: then the server
// was restored. That list shows everything that was written before its request and still exists.
func (i *engine[K]) beforeNewest(queue *deltafifo.DeltaFIFO[K]) (wentBack func()) {
	written, _ := i.writtenSince("", 0)
	return func() {
		queue.Call(func(w *writer[K]) {
			i.restored.Store(&restore{written.Sequence, i.store.ResourceVersion()})
			i.observers.each(observe.Observer.Voided)
			w.announceVersion()
		})
	}
}

// ownWrites returns what to wait for to see the own writes in a namespace: the version, and the deletions
// that the store isn't known to show. valid returns errRestored once that has changed.
func (i *engine[K]) ownWrites(namespace string) (written client.Written, valid func() error, err error) {
	restored := i.restored.Load()
	written, ok := i.writtenSince(namespace, restored.sequence)
	if !ok {
		return written, nil, informer.ErrWritesNotTracked
	}
	if shown, err := isAtLeast(restored.version, written.ResourceVersion); shown && err == nil ||
		written.ResourceVersion == "" {
		written.ResourceVersion = restored.version
	}
	return written, func() error {
		if i.restored.Load() != restored {
			return errRestored
		}
		return nil
	}, nil
}

// writtenSince returns what the informer's client wrote and deleted in a namespace after the sequence number
// restored.
func (i *engine[K]) writtenSince(namespace string, restored uint64) (written client.Written, ok bool) {
	writing, ok := i.config.Source.(interface {
		WrittenSince(namespace string, restored, after uint64) (client.Written, bool)
	})
	if !ok {
		return client.Written{}, false
	}
	return writing.WrittenSince(namespace, restored, i.deletionsSeen.Load())
}
