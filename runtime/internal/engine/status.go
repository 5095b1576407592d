package engine

import (
	"slices"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// find returns the object with a key that is given as text.
func (i *engine[K]) find(text string) (obj any, ok bool) {
	key, err := i.config.Keys.Parse(text)
	if err != nil {
		return nil, false
	}
	return i.store.Get(key)
}

// Status returns the state of the informer.
func (i *engine[K]) Status() informer.Status {
	i.mu.Lock()
	r, queue := i.reader, i.queue
	stopped, resource, dropped := i.stopped, i.resource(), i.config.Options.Drop
	name := i.config.Name
	i.mu.Unlock()

	s := informer.Status{
		Name:            name,
		Type:            i.config.TypeName,
		Resource:        resource,
		Namespace:       i.config.Namespace,
		Dropped:         dropped,
		State:           informer.Idle,
		Synced:          i.HasSynced(),
		ResourceVersion: i.store.ResourceVersion(),
		Objects:         i.store.Len(),
		Find:            i.find,
		CountLag:        i.countLag,
	}
	if r != nil {
		h := r.Health()
		s.State, s.Since, s.Listed = informer.State(h.State), h.Since, h.Synced
		s.LastError, s.FailingSince, s.Failures = h.LastError, h.FailingSince, h.Failures
		s.Lists, s.Watches, s.ListTook, s.Relisted = h.Lists, h.Watches, h.ListTook, h.Relisted
		s.ListItems, s.RecentLists, s.RelistingSince = h.ListItems, h.RecentLists, h.RelistingSince
		s.ListingSince, s.Relisting = h.ListingSince, h.Relisting
		s.LastEvent, s.LastBookmark = h.LastEvent, h.LastBookmark
		s.Queued = queue.Len()
	}
	if optional := i.optional.Load(); optional != nil {
		s.ServedVersions = optional.servedVersions()
	}
	if source, ok := i.config.Source.(interface{ Reading() listwatch.Reading }); ok {
		s.Reading = source.Reading()
	}
	i.setLag(&s)
	s.FindsMutations = i.config.Options.MutationSample > 0
	i.detector.Load().status(&s)
	if stopped {
		s.State = informer.Stopped
	}
	handlers := *i.handlers.Load()
	s.Handlers = slices.Grow(s.Handlers, len(handlers))
	for _, handler := range handlers {
		delivered, busy := handler.progress()
		status := informer.HandlerStatus{
			Name: handler.name, At: handler.at, Synced: handler.HasSynced(), Backlog: handler.Backlog(),
			Delivered: delivered, Busy: busy,
		}
		if p := handler.panics.Load(); p != nil {
			status.Panics, status.Panicked, status.PanickingSince = p.number, &p.last, &p.since
		}
		s.Handlers = append(s.Handlers, status)
	}
	return s
}
