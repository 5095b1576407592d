package cluster

import (
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/watch"
)

// lateWatch is a watch of the server that is behind. It holds back what that server hasn't reached.
type lateWatch struct {
	watch.Interface
	cluster *Cluster
	result  chan watch.Event
	stopped chan struct{}
	stop    func()

	// waiting are the events that weren't sent, in order. last is the version that the client has.
	waiting []watch.Event
	last    int64
}

// newLateWatch returns a watch from a version, which begins with some events.
func newLateWatch(c *Cluster, w watch.Interface, from int64, initial []watch.Event) *lateWatch {
	l := &lateWatch{Interface: w, cluster: c, result: make(chan watch.Event), stopped: make(chan struct{}),
		waiting: initial, last: from}
	l.stop = sync.OnceFunc(func() {
		close(l.stopped)
		w.Stop()
	})
	go l.run()
	return l
}

func (l *lateWatch) ResultChan() <-chan watch.Event { return l.result }

func (l *lateWatch) Stop() { l.stop() }

// run passes events on until either side ends the watch, or the server serves no more watches.
func (l *lateWatch) run() {
	defer close(l.result)
	defer l.Interface.Stop()
	arriving := l.Interface.ResultChan()
	for {
		at, watches, moved := l.cluster.reached()
		if at > 0 && !watches {
			return
		}
		var next watch.Event
		var result chan watch.Event
		if len(l.waiting) > 0 && (at == 0 || versionOf(l.waiting[0]) <= at) {
			next, result = l.waiting[0], l.result
		} else if arriving == nil {
			return
		}
		select {
		case e, open := <-arriving:
			if !open {
				arriving = nil
				continue
			}
			l.arrived(e, at)
		case result <- next:
			l.last = max(l.last, versionOf(next))
			l.waiting = l.waiting[1:]
		case <-moved:
		case <-l.stopped:
			return
		}
	}
}

// arrived queues an event. A server that is at a version sends bookmarks of that version, unless the client
// has a later one.
func (l *lateWatch) arrived(e watch.Event, at int64) {
	if e.Type != watch.Bookmark || at == 0 || versionOf(e) <= at {
		l.waiting = append(l.waiting, e)
		return
	}
	if at < l.last {
		return
	}
	e.Object.(Object).SetResourceVersion(fmt.Sprint(at))
	i := slices.IndexFunc(l.waiting, func(e watch.Event) bool { return versionOf(e) > at })
	if i < 0 {
		i = len(l.waiting)
	}
	l.waiting = slices.Insert(l.waiting, i, e)
}

// versionOf returns the version of an event's object, 0 for an error.
func versionOf(e watch.Event) int64 {
	if obj, ok := e.Object.(Object); ok && e.Type != watch.Error {
		return number(obj.GetResourceVersion())
	}
	return 0
}
