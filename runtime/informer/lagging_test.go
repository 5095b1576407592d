package informer_test

import (
	"context"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/runtime/gen/client"
	"github.com/kubewright/kubewright/runtime/gen/informer"
)

// delay is the time by which a watch lags behind the server.
const delay = 500 * time.Millisecond

// lagging is a client of a server whose watches lag. It records the writes made through it.
type lagging struct {
	*server
	// highest has the highest version by namespace, and for all under "".
	highest   map[string]int
	deletions []client.Deletion
}

func (l *lagging) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	w, err := l.server.Watch(ctx, opts)
	if err != nil {
		return nil, err
	}
	type timed struct {
		event watch.Event
		due   time.Time
	}
	line, late := make(chan timed, 4096), watch.NewProxyWatcher(make(chan watch.Event))
	go func() {
		defer close(line)
		defer w.Stop()
		for {
			select {
			case e, ok := <-w.ResultChan():
				if !ok {
					return
				}
				line <- timed{e, time.Now().Add(delay)}
			case <-late.StopChan():
				return
			}
		}
	}()
	events := make(chan watch.Event)
	go func() {
		defer close(events)
		for t := range line {
			select {
			case <-time.After(time.Until(t.due)):
			case <-late.StopChan():
				continue
			}
			select {
			case events <- t.event:
			case <-late.StopChan():
			}
		}
	}()
	return &lateWatch{late, events}, nil
}

type lateWatch struct {
	*watch.ProxyWatcher
	events chan watch.Event
}

func (w *lateWatch) ResultChan() <-chan watch.Event { return w.events }

func (l *lagging) Written(namespace string, after uint64) (client.Written, bool) {
	var written client.Written
	if version := l.highest[namespace]; version > 0 {
		written.ResourceVersion = strconv.Itoa(version)
	}
	written.Deletions = append(written.Deletions, l.deletions[after:]...)
	return written, true
}

func (l *lagging) write(name string) {
	version := l.put(name)
	l.highest[l.objects[name].Namespace], l.highest[""] = version, version
}

// delete returns a status, as servers usually do.
func (l *lagging) delete(name string) {
	obj := l.objects[name]
	if obj == nil {
		return
	}
	d := client.Deletion{
		Sequence:  uint64(len(l.deletions) + 1),
		Namespace: obj.Namespace, Name: name,
		UID: obj.UID,
	}
	if version := l.highest[obj.Namespace]; version > 0 {
		d.After = strconv.Itoa(version)
	}
	l.remove(name)
	l.deletions = append(l.deletions, d)
}

func (l *lagging) informer(opts informer.Options) made {
	opts.Client = l
	return made{informer.NewShared[*configMap](
		func() informer.ResourceClient[*corev1.ConfigMapList] { return l }, opts)}
}

func newLagging() *lagging { return &lagging{server: newServer(), highest: map[string]int{}} }
