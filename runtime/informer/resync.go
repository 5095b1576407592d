package informer

import (
	"slices"
	"time"

	"k8s.io/klog/v2"
)

// minResyncPeriod is the least period that a handler gets, as in client-go.
const minResyncPeriod = time.Second

// resyncPeriodFor returns the period that a new handler counts as having asked for
// if it asks for wanted. Before the start, a period below the resync check period
// lowers that; after the start, the period is raised to it. The caller holds mu.
func (i *informer[K]) resyncPeriodFor(wanted time.Duration, logger klog.Logger) time.Duration {
	if wanted <= 0 {
		return wanted
	}
	if wanted < minResyncPeriod {
		logger.Info("Warning: a handler's resync period is too small and is raised to the minimum", "resyncPeriod", wanted, "minimum", minResyncPeriod)
		wanted = minResyncPeriod
	}
	if wanted >= i.resyncCheckPeriod {
		return wanted
	}
	if i.started {
		logger.Info("Warning: a handler's resync period is below the resync check period of its running informer and is raised to it", "resyncPeriod", wanted, "resyncCheckPeriod", i.resyncCheckPeriod)
		return i.resyncCheckPeriod
	}
	i.resyncCheckPeriod = wanted
	for _, r := range *i.handlers.Load() {
		r.period = effectivePeriod(r.requested, wanted, r.logger)
	}
	return wanted
}

// effectivePeriod returns the period that a handler gets if it requested one and the
// informer checks for due resyncs every check.
func effectivePeriod(requested, check time.Duration, logger klog.Logger) time.Duration {
	switch {
	case requested == 0:
		return 0
	case check == 0:
		logger.Info("Warning: a handler's resync period has no effect because its informer doesn't resync", "resyncPeriod", requested)
		return 0
	case requested < check:
		logger.Info("Warning: a handler's resync period is raised to the informer's resync check period", "resyncPeriod", requested, "resyncCheckPeriod", check)
		return check
	default:
		return requested
	}
}

// resyncDue says whether a resync is due for any handler. It also decides which
// handlers get unchanged updates until it is called again.
func (i *informer[K]) resyncDue(now time.Time) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	due := false
	for _, r := range *i.handlers.Load() {
		r.resyncing = r.period != 0 && !now.Before(r.next)
		if r.resyncing {
			r.next = now.Add(r.period)
			due = true
		}
	}
	i.updateAudience()
	return due
}

// updateAudience recomputes which handlers get unchanged updates. The caller holds mu.
func (i *informer[K]) updateAudience() {
	var a audience[K]
	handlers := *i.handlers.Load()
	for _, r := range handlers {
		if r.resyncing {
			a.members = append(a.members, r)
		}
	}
	if len(a.members) == len(handlers) {
		i.audience.Store(nil)
	} else if old := i.audience.Load(); old == nil || !slices.Equal(old.members, a.members) {
		i.audience.Store(&a)
	}
}
