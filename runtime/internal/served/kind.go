package served

import "time"

// Definition is what the watch of CustomResourceDefinitions shows of the definition of a kind.
type Definition int

const (
	// Unlisted: the first list hasn't arrived.
	Unlisted Definition = iota
	// Unwatched: definitions can't be watched, because that is forbidden.
	Unwatched
	// Present: the definition exists. Whether its versions are served is unknown.
	Present
	// Missing: there is no definition. The kind may be of an aggregated API.
	Missing
)

// Answer is what an answer says of a kind.
type Answer int

const (
	// Unclear says nothing: an error, or a backend that is down.
	Unclear Answer = iota
	// Serves: the kind is served.
	Serves
	// Lacks: the kind isn't served, or GET has answered with 404.
	Lacks
)

const (
	// retryFor is how long GET is repeated after a sign that the kind is served or gone: replicas of a server
	// lag.
	retryFor = 5 * time.Second
	// retryFirst and retryMax are the first and the longest time between two of these requests.
	retryFirst, retryMax = 100 * time.Millisecond, time.Second
	// spacing is the least time between the two discoveries that show that a kind is absent.
	spacing = 10 * time.Second
	// period is the time between discoveries for absent kinds, and between requests after unclear answers.
	period = 30 * time.Second
)

// Kind is what is known of a kind. It isn't safe for concurrent use.
type Kind struct {
	state State
	since time.Time
	// served is set once the kind was seen to be served, until it is absent.
	served     bool
	definition Definition
	// deleted is set once the definition was deleted, until the kind is absent or defined again.
	deleted bool
	// lacks is set if the last clear answer of GET didn't serve the kind.
	lacks bool
	// get is when to send GET, discover when to send a discovery. Zero is never.
	get, discover time.Time
	// until is the end of the time in which GET is repeated, and pause the time until the next one.
	until time.Time
	pause time.Duration
	// lacked is when the first complete discovery without the kind ended, zero if there was none.
	lacked time.Time
}

// NewKind returns a kind of which nothing is known but its definition.
func NewKind(now time.Time, definition Definition) *Kind {
	k := &Kind{since: now, definition: definition}
	k.check(now)
	return k
}

// State returns the state, since when the kind has it, and whether the last clear answer served the kind.
func (k *Kind) State() (state State, since time.Time, served bool) {
	return k.state, k.since, k.served && !k.lacks
}

// Next returns when to send GET, and when to send a discovery. Zero is never.
func (k *Kind) Next() (get, discover time.Time) { return k.get, k.discover }

// Defined is called when the watch shows that the definition has changed, or may have.
func (k *Kind) Defined(now time.Time, definition Definition) {
	before := k.definition
	k.definition = definition
	switch definition {
	case Present:
		k.deleted = false
		k.check(now)
	case Missing:
		k.deleted = k.deleted || before == Present && k.state != Absent
		switch {
		case k.state == Unknown && k.lacks:
			k.becomeAbsent(now)
		case k.state == Absent:
			k.discoverBy(now.Add(period))
		case before != Missing:
			k.check(now)
		}
	case Unlisted, Unwatched:
		switch {
		case k.state == Absent:
			k.discoverBy(now.Add(period))
		case k.lacks && definition == Unwatched:
			k.discoverAgain(now)
		}
	}
}

// Missed is called when an informer's request for the kind was answered with 404.
func (k *Kind) Missed(now time.Time) {
	isChecked := k.lacks || !k.get.IsZero() && k.get.Before(now.Add(retryMax))
	if k.state == Open && !isChecked {
		k.check(now)
	}
}

// Sent is called when GET is sent.
func (k *Kind) Sent() { k.get = time.Time{} }

// Got is called with the answer of GET.
func (k *Kind) Got(now time.Time, a Answer) {
	switch a {
	case Serves:
		k.gotServed(now)
	case Lacks:
		k.gotLack(now)
	case Unclear:
		if k.state == Unknown {
			k.enter(now, Open)
		}
		k.retry(now, period)
	}
}

func (k *Kind) gotServed(now time.Time) {
	k.served, k.lacks, k.lacked, k.discover = true, false, time.Time{}, time.Time{}
	k.enter(now, Open)
	if k.deleted {
		// A replica that lags has answered, or an aggregated API has the kind now.
		k.deleted = k.retry(now, 0)
	}
}

func (k *Kind) gotLack(now time.Time) {
	k.lacks = true
	switch {
	case k.state == Absent:
		if !k.retry(now, 0) && k.definition == Present {
			k.discoverBy(now) // Other versions may be served.
		}
		return
	case k.definition == Missing && (k.deleted || k.state == Unknown):
		k.becomeAbsent(now)
		return
	}
	if !k.retry(now, 0) || k.definition != Unlisted {
		k.discoverAgain(now)
	}
}

// Discovered is called with what a discovery says that has begun and ended at these times. whole is false if
// parts of it, of other groups, are missing.
func (k *Kind) Discovered(began, ended time.Time, a Answer, whole bool) {
	k.discover = time.Time{}
	doubted := k.lacks && k.state != Absent
	switch {
	case a == Serves && (doubted || k.state == Absent):
		k.lacked = time.Time{}
		k.check(ended)
	case k.state == Absent:
	case !doubted:
		return
	case a != Lacks || !whole && k.state == Open:
		k.discover = ended.Add(spacing)
	case k.lacked.IsZero():
		k.lacked = ended
		k.discoverAgain(ended)
	case began.Sub(k.lacked) >= spacing:
		k.becomeAbsent(ended)
	default:
		k.discoverAgain(ended)
	}
	if k.state == Absent && k.definition != Present {
		k.discoverBy(ended.Add(period))
	}
}

// becomeAbsent begins the absence.
func (k *Kind) becomeAbsent(now time.Time) {
	k.enter(now, Absent)
	k.served, k.deleted = false, false
	k.lacked, k.get, k.discover = time.Time{}, time.Time{}, time.Time{}
	if k.definition != Present { // Else the watch shows when that changes.
		k.discoverBy(now.Add(period))
	}
}

func (k *Kind) enter(now time.Time, s State) {
	if k.state != s {
		k.state, k.since = s, now
	}
}

// check begins to send GET.
func (k *Kind) check(now time.Time) {
	k.get, k.until, k.pause = now, now.Add(retryFor), retryFirst
}

// retry sends GET again: after a pause as long as the time for that lasts, then after later, if that isn't
// zero. It returns false if that time is over.
func (k *Kind) retry(now time.Time, later time.Duration) bool {
	next := now.Add(k.pause)
	k.pause = min(2*k.pause, retryMax)
	within := !next.After(k.until)
	if !within {
		if later == 0 {
			return false
		}
		next = now.Add(later)
	}
	if k.get.IsZero() || next.Before(k.get) {
		k.get = next
	}
	return within
}

// discoverBy sends a discovery at a time, or earlier.
func (k *Kind) discoverBy(at time.Time) {
	if k.discover.IsZero() || at.Before(k.discover) {
		k.discover = at
	}
}

// discoverAgain sends the next discovery of a kind that may be absent.
func (k *Kind) discoverAgain(now time.Time) {
	if k.lacked.IsZero() {
		k.discoverBy(now)
	} else {
		k.discoverBy(k.lacked.Add(spacing))
	}
}
