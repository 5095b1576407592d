package reflector

import (
	"sync"
	"sync/atomic"
	"time"
)

// State is what a reflector is doing.
type State string

const (
	// Idle: it wasn't started.
	Idle State = "Idle"
	// Streaming: it reads a watch-list, a list that is sent as events.
	Streaming State = "Streaming"
	// Listing: it reads a list in pages.
	Listing State = "Listing"
	// Waiting: its list waits for those of others that share the source's limiter.
	Waiting State = "Waiting"
	// Watching: it follows changes.
	Watching State = "Watching"
	// BackingOff: it waits before the next attempt.
	BackingOff State = "BackingOff"
	// Stopped: Run has returned.
	Stopped State = "Stopped"
)

// Health is the state of a reflector, with its last events and errors. The time of an
// event that never happened is zero.
type Health struct {
	State State
	// Since is when State was entered.
	Since time.Time
	// Synced is when the last list became visible.
	Synced time.Time
	// Lists counts the lists that became visible, Watches the watches that were opened. ListTook is how long
	// the last list took, with its waits, and ListItems how many objects it had. Relisted is why the last list
	// but the first was necessary, RelistedAt when that list became visible. With Options.From, that includes
	// the first.
	Lists, Watches int
	ListTook       time.Duration
	ListItems      int
	Relisted       error
	RelistedAt     time.Time
	// ListingSince is when the list that is under way began, later by its waits for others that are over, zero
	// if none is. A list that is tried again at once, or after a refusal of the server, goes on. Relisting is
	// the error that ended the round before, nil if there was none.
	ListingSince time.Time
	Relisting    error
	// RecentLists are when the last three lists became visible, the latest last. RelistingSince is when the
	// first relist of those became visible of which each three lists were within three minutes, zero if the
	// last three weren't.
	RecentLists    [3]time.Time
	RelistingSince time.Time
	// LastError is the last error, even if the reflector has recovered from it. It may also report that the
	// server broke its contract, which isn't a failure.
	LastError error
	// FailingSince is when the current series of failures began, zero if there is
	// none. Failures counts them.
	FailingSince time.Time
	Failures     int
	// LastEvent is when the last event, bookmarks included, arrived on a watch; LastBookmark when the last
	// bookmark did on the watch that is open. One that ends initial events doesn't count.
	LastEvent    time.Time
	LastBookmark time.Time
}

// health is the Health that the running goroutine writes and anyone reads.
type health struct {
	mu sync.Mutex
	h  Health
	// When the last event and the last bookmark arrived, in nanoseconds since
	// 1970, 0 for never. They aren't in h because they change with each event.
	lastEvent, lastBookmark atomic.Int64
	// listing is when the list that is under way began, zero if none is, and waited how long it has waited for
	// others. reason is why another list will be necessary.
	listing time.Time
	waited  time.Duration
	reason  error
	// resumed is set if the sink was filled before: the first list is another one.
	resumed bool
	// onFailure is called after each failure. It may be nil.
	onFailure func(error)
}

func (h *health) update(f func(now time.Time, h *Health)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(time.Now(), &h.h)
}

func (h *health) read() Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.h
	if now.ListingSince = h.listing; !h.listing.IsZero() {
		now.ListingSince, now.Relisting = h.listing.Add(h.waited), h.reason
	}
	now.LastEvent, now.LastBookmark = timeOf(&h.lastEvent), timeOf(&h.lastBookmark)
	return now
}

func timeOf(nanoseconds *atomic.Int64) time.Time {
	if n := nanoseconds.Load(); n != 0 {
		return time.Unix(0, n)
	}
	return time.Time{}
}

func (h *health) enter(s State) {
	h.update(func(now time.Time, h *Health) {
		if h.State != s {
			h.State, h.Since = s, now
		}
	})
}

// begin notes that a list begins, unless one is under way.
func (h *health) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listing.IsZero() {
		h.listing, h.waited = time.Now(), 0
	}
}

// waitedFor notes that the list that is under way has waited for others.
func (h *health) waitedFor(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waited += d
}

// relists notes why another list is necessary.
func (h *health) relists(reason error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reason, h.listing = reason, time.Time{}
}

func (h *health) failed(err error) {
	h.update(func(now time.Time, h *Health) {
		if h.Failures++; h.Failures == 1 {
			h.FailingSince = now
		}
		h.LastError = err
	})
	if h.onFailure != nil {
		h.onFailure(err)
	}
}

// noticed records an error that isn't a failure.
func (h *health) noticed(err error) {
	h.update(func(_ time.Time, h *Health) { h.LastError = err })
}

func (h *health) synced(items int) {
	h.update(func(now time.Time, of *Health) {
		of.Synced, of.ListTook, of.ListItems = now, now.Sub(h.listing), items
		of.addList(now)
		if of.Lists++; of.Lists > 1 || h.resumed {
			of.Relisted, of.RelistedAt = h.reason, now
		}
		h.listing, h.reason = time.Time{}, nil
	})
}

// quickLists is the time within which three lists follow each other quickly. Package eyes has the same limit.
const quickLists = 3 * time.Minute

// addList notes when a list became visible.
func (h *Health) addList(now time.Time) {
	h.RecentLists = [3]time.Time{h.RecentLists[1], h.RecentLists[2], now}
	switch third := h.RecentLists[0]; {
	case third.IsZero() || now.Sub(third) >= quickLists:
		h.RelistingSince = time.Time{}
	case h.RelistingSince.IsZero():
		h.RelistingSince = h.RecentLists[1]
	}
}

// connected records that a watch is open, which ends a series of failures. A list alone
// doesn't end it: a reflector that may list but not watch never stops failing.
func (h *health) connected() {
	h.lastBookmark.Store(0)
	h.update(func(_ time.Time, h *Health) {
		h.FailingSince, h.Failures = time.Time{}, 0
		h.Watches++
	})
}

// event notes that an event arrives now, which may be a bookmark that counts, and returns that time.
func (h *health) event(bookmark bool) (now int64) {
	now = time.Now().UnixNano()
	h.lastEvent.Store(now)
	if bookmark {
		h.lastBookmark.Store(now)
	}
	return now
}
