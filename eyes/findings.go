package eyes

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kubewright/kubewright/runtime/informer"
)

// Finding is something that doesn't work. Its kinds, with what they need:
//
//	cannot list       an informer's lists or watches fail, twice in a row and for 10 s
//	never synced      an informer without a whole list has listed for a minute, without two errors in a row
//	list hangs        an informer that had a whole list has listed again, or listed ranges that it gained, for
//	                  three minutes, without two errors in a row. informer.Options.InitialEventsTimeout ends
//	                  lists that are sent as events
//	silent watch      a watch that has delivered bookmarks delivers nothing for three minutes. One that is
//	                  silent from its start isn't found, not even after a silent one: servers may send no
//	                  bookmark before something changes. informer.Options.SilenceTimeout opens another watch
//	relists too often the last list but two is less than three minutes ago, since the first relist of which
//	                  each three lists were as close
//	handler hangs     a handler hasn't returned from the same notification between two looks
//	backlog grows     1,000 notifications or more waited for a handler at the look before, and more do now,
//	                  though it was given some meanwhile
//	handler panics    a handler has panicked less than ten minutes ago, since the first of those with no more
//	                  than ten minutes between two
//	reconcile hangs   an item has been in process for ten minutes, in a queue with metrics
//	key fails         items in the queue were requeued with back-off twelve times in a row, with the default
//	                  limiter for 10 s or longer: by errors if workqueue.Run or kwctrl.OwnWrites runs them,
//	                  else also by results of controller-runtime with Requeue
//	stale after own writes
//	                  an item was handed out less than ten minutes ago though a cache didn't show its own
//	                  writes, since the first of those with no more than ten minutes between two
//	cache mutated     a cached object was found to be modified: if informer.Options.MutationSample is set, one
//	                  of so many is compared for some minutes after it was handed out
//	no progress       items have been ready in all looks of two minutes, and none was handed out
//	no worker         items have been ready in all looks of ten seconds, none was handed out and none is in
//	                  process, though some were before: until then, the workers may have yet to start
//	member can't act  a member of a sharded controller may begin no work in two looks
//	work hangs        a member's work doesn't end in two looks though its range is to move
//	no owner          nobody owns a range of a sharded controller in two looks
//	source panics     what was added panics when its status is read
//
// Each request by a page or a command, and each scrape of eyesmetrics, is a look, and there is one after two
// minutes without. Those that are compared are ten seconds apart or more. Where only looks tell since when,
// the time is exact to some two minutes, or to the interval of scrapes if that is less.
//
// None fires for a start, a standby that never led, or an empty collection. Informers of one source that have
// the same name are not compared with those of the look before. Handlers of one informer that have the same
// name aren't either, while handlers come and go.
type Finding struct {
	Kind string `json:"kind"`
	// Source is the name that was given to Add, Subject the informer, the handler or the queue.
	Source  string `json:"source"`
	Subject string `json:"subject"`
	// Cause says why, as far as that is known, and Since since when. Earlier is set if it may have begun
	// earlier: if only looks tell, with cache mutated, which is since a comparison, with never synced, which may
	// be since the state began, and with key fails, which is since the twelfth failure.
	Cause   string    `json:"cause"`
	Since   time.Time `json:"since,omitzero"`
	Earlier bool      `json:"earlier,omitempty"`
	// Key is the object that it is about, if it is about one and Options.Keys is set.
	Key string `json:"key,omitempty"`
	// span is the range that it is about, if it is about one.
	span string
}

func (f Finding) String() string {
	text := fmt.Sprintf("%s: %s of %q: %s", f.Kind, f.Subject, f.Source, f.Cause)
	if f.Key != "" {
		text += ", object " + f.Key
	}
	if !f.Since.IsZero() {
		text += ", since " + f.Since.Format(time.RFC3339)
		if f.Earlier {
			text += " or earlier"
		}
	}
	return text
}

// count returns a number with a word, for one or for several.
func count(n uint64, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// The limits of findings.
const (
	failingFor    = 10 * time.Second
	syncWithin    = time.Minute
	listWithin    = 3 * time.Minute
	silentFor     = 3 * time.Minute
	threeLists    = 3 * time.Minute // Back-offs between lists grow to a minute. RelistingSince has the same.
	backlogLimit  = 1000
	reconcileTime = 10 * time.Minute
	stalledFor    = 2 * time.Minute
	lateFor       = 10 * time.Minute // that of queue.Status.FirstLateAgo
	panickedFor   = 10 * time.Minute // HandlerStatus.PanickingSince has the same.
)

// Findings returns what doesn't work, in the order of their sources. before is an earlier look, or nil: then
// what needs two looks isn't found.
func Findings(before, now *Snapshot) []Finding {
	findings := append([]Finding{}, now.panics...)
	var earlier Snapshot
	if before != nil {
		earlier = *before
	}
	are, were := now.byIdentity(), earlier.byIdentity()
	for n := range now.Informers {
		i := &now.Informers[n]
		f := Finding{Source: i.Source, Subject: i.Name}
		findings = append(findings, i.findings(f, now.Taken)...)
		if was := only(were, i); was != nil && only(are, i) != nil {
			findings = append(findings, i.changes(f, was, earlier.Taken)...)
		}
	}
	for n := range now.Members {
		m := &now.Members[n]
		f := Finding{Source: m.Source, Subject: "member " + m.Identity}
		was := slices.IndexFunc(earlier.Members, func(o Member) bool { return o.Source == m.Source })
		if was >= 0 {
			findings = append(findings, m.changes(f, &earlier.Members[was], earlier.Taken)...)
		}
	}
	for n := range now.Queues {
		q := &now.Queues[n]
		f := Finding{Source: q.Source, Subject: "the queue"}
		findings = append(findings, q.findings(f, now.Taken)...)
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Source, b.Source) })
	return findings
}

// byIdentity returns the informers in the order of what they are found by in another look.
func (s *Snapshot) byIdentity() []*Informer {
	all := make([]*Informer, 0, len(s.Informers))
	for n := range s.Informers {
		all = append(all, &s.Informers[n])
	}
	slices.SortFunc(all, compareIdentities)
	return all
}

func compareIdentities(a, b *Informer) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Form, b.Form))
}

// only returns the informer among all, in their order, that is the same as i, nil without exactly one.
func only(all []*Informer, i *Informer) *Informer {
	n, found := slices.BinarySearchFunc(all, i, compareIdentities)
	if !found || n+1 < len(all) && compareIdentities(all[n+1], i) == 0 {
		return nil
	}
	return all[n]
}

// findings returns what one look shows of an informer.
func (i *Informer) findings(f Finding, now time.Time) (found []Finding) {
	for _, h := range i.Handlers {
		if h.Panicked != nil && h.PanickingSince != nil && now.Sub(*h.Panicked) < panickedFor {
			f := f
			f.Kind, f.Subject, f.Since = "handler panics", h.subject(i), *h.PanickingSince
			f.Cause = fmt.Sprintf("it panicked %s in all, the last %s ago", count(uint64(h.Panics), "time", "times"),
				now.Sub(*h.Panicked).Round(time.Second))
			found = append(found, f)
		}
	}
	runs := i.State != string(informer.Idle) && i.State != string(informer.Stopped) && i.Unread == ""
	switch {
	case !runs:
	case i.Failures > 1 && now.Sub(i.FailingSince) >= failingFor:
		f.Kind, f.Since, f.Key = "cannot list", i.FailingSince, i.LastErrorKey
		f.Cause = fmt.Sprintf("%s, %d requests failed in a row: %s", i.Reason, i.Failures, i.LastError)
		found = append(found, f)
	case i.Failures < 2 && i.unlisted() && now.Sub(i.unlistedSince()) >= i.listWithin():
		found = append(found, i.listHangs(f))
	case i.State == string(informer.Watching) && !i.LastBookmark.IsZero() &&
		now.Sub(i.quietSince()) >= silentFor:
		f.Kind, f.Since = "silent watch", i.quietSince()
		f.Cause = "nothing arrives, not even the bookmark that this server sends each minute: the connection " +
			"may be dead"
		found = append(found, f)
	}
	if runs && i.ThirdListed != nil && now.Sub(*i.ThirdListed) < threeLists {
		f.Kind, f.Since, f.Key = "relists too often", *i.ThirdListed, i.RelistedKey
		f.Earlier = i.RelistingSince == nil
		if i.RelistingSince != nil {
			f.Since = *i.RelistingSince
		}
		f.Cause = fmt.Sprintf("%d lists, three of them in the last %s; the last because of: %s", i.Lists,
			now.Sub(*i.ThirdListed).Round(time.Second), cmp.Or(i.Relisted, "an unknown reason"))
		found = append(found, f)
	}
	if i.Mutations != nil && i.MutatedSince != nil {
		f.Kind, f.Since, f.Earlier, f.Key = "cache mutated", *i.MutatedSince, true, i.MutatedKey
		f.Cause = count(uint64(*i.Mutations), "cached object was", "cached objects were") +
			" modified by code that shares the cache"
		found = append(found, f)
	}
	return found
}

// unlisted reports whether the informer has no list yet, or is listing again.
func (i *Informer) unlisted() bool { return i.ListingSince != nil || !i.Synced && !i.Since.IsZero() }

// unlistedSince returns since when the informer is unlisted, or in its state if that is all that is known.
func (i *Informer) unlistedSince() time.Time {
	if i.ListingSince != nil {
		return *i.ListingSince
	}
	return i.Since
}

// listWithin is how long a list may take.
func (i *Informer) listWithin() time.Duration {
	if i.Synced {
		return listWithin
	}
	return syncWithin
}

// listHangs returns the finding of an informer whose list doesn't end.
func (i *Informer) listHangs(f Finding) Finding {
	f.Kind, f.Since, f.Earlier = "never synced", i.unlistedSince(), i.ListingSince == nil
	f.Cause = fmt.Sprintf("it is in state %s, without an error", i.State)
	if i.Failures > 0 {
		f.Cause = fmt.Sprintf("it is in state %s, after an error: %s", i.State, i.LastError)
	}
	if i.Synced {
		f.Kind = "list hangs"
		f.Cause += "; the cache lacks what that list brings"
		if i.relisting != "" && i.relisting != i.LastError {
			f.Cause += ". It lists because of: " + i.relisting
		}
	}
	return f
}

// subject returns what a finding about a handler of an informer is about.
func (h *Handler) subject(i *Informer) string { return "handler " + h.shown() + " of the " + i.Name }

// quietSince returns when the watch last delivered anything, or when it began if that was later.
func (i *Informer) quietSince() time.Time {
	if i.Since.After(i.LastEvent) {
		return i.Since
	}
	return i.LastEvent
}

// changes returns what two looks show of an informer.
func (i *Informer) changes(f Finding, was *Informer, then time.Time) (found []Finding) {
	inOrder := slices.EqualFunc(i.Handlers, was.Handlers, sameHandler)
	for n, h := range i.Handlers {
		var before *Handler
		if inOrder {
			before = &was.Handlers[n]
		} else if onlyHandler(i.Handlers, h) != nil { // Others came or went.
			before = onlyHandler(was.Handlers, h)
		}
		f := Finding{Source: f.Source, Since: then, Earlier: true}
		switch {
		case before == nil || h.Delivered < before.Delivered: // It is another one.
			continue
		case h.Busy && before.Busy && h.Delivered == before.Delivered:
			f.Kind = "handler hangs"
			f.Cause = fmt.Sprintf("it hasn't returned from a notification; %s", count(uint64(h.Backlog),
				"more waits", "more wait"))
		case before.Backlog >= backlogLimit && h.Backlog > before.Backlog && h.Delivered > before.Delivered:
			f.Kind = "backlog grows"
			f.Cause = fmt.Sprintf("%d notifications wait, and %d did before; it got %d meanwhile",
				h.Backlog, before.Backlog, h.Delivered-before.Delivered)
		default:
			continue
		}
		f.Subject = h.subject(i)
		found = append(found, f)
	}
	return found
}

// sameHandler reports whether two handlers have the same name and place.
func sameHandler(a, b Handler) bool { return a.Name == b.Name && a.At == b.At }

// onlyHandler returns the handler among all that has the name of h, nil without exactly one.
func onlyHandler(all []Handler, h Handler) (found *Handler) {
	for n := range all {
		if sameHandler(all[n], h) {
			if found != nil {
				return nil
			}
			found = &all[n]
		}
	}
	return found
}

// changes returns what two looks show of a member.
func (m *Member) changes(f Finding, was *Member, then time.Time) (found []Finding) {
	add := func(kind, cause string) {
		f.Kind, f.Cause, f.Since, f.Earlier = kind, cause, then, true
		found = append(found, f)
	}
	if m.Error != "" && was.Error != "" && was.Started {
		add("member can't act", m.Error)
		found[0].Key = m.ErrorKey
	}
	if m.Hung > 0 && was.Hung > 0 {
		add("work hangs", count(uint64(m.Hung), "call doesn't", "calls don't")+
			" end, so that a range can't move")
	}
	for _, span := range m.Unowned {
		if slices.Contains(was.Unowned, span) {
			f.span = span
			cause := "nobody owns " + span
			if n := len(m.Unowned); n > 1 {
				cause += fmt.Sprintf(", one of %d ranges without an owner", n)
			}
			if n := uint64(m.UnownedObjects); n > 0 {
				cause += fmt.Sprintf("; the last count was %s without an owner", count(n, "object", "objects"))
			}
			add("no owner", cause)
			if !m.UnownedSince.IsZero() {
				found[len(found)-1].Since = m.UnownedSince
			}
			break
		}
	}
	return found
}

// findings returns what doesn't work in a queue.
func (q *Queue) findings(f Finding, now time.Time) (found []Finding) {
	if t := q.LongestRunningSeconds; t != nil && *t >= reconcileTime.Seconds() {
		f := f
		f.Kind, f.Since, f.Key = "reconcile hangs", now.Add(-time.Duration(*t*float64(time.Second))), q.RunningKey
		f.Cause = fmt.Sprintf("%s in process, the oldest for %s",
			count(uint64(q.InProcess), "item is", "items are"), seconds(t))
		found = append(found, f)
	}
	if q.Failing > 0 {
		f := f
		f.Kind, f.Since, f.Earlier, f.Key = "key fails", q.FailingSince, true, q.FailingKey
		f.Cause = count(uint64(q.Failing), "item was", "items were") +
			" requeued with back-off twelve times in a row or more"
		switch {
		case q.FailingKey == "":
			f.Cause += "; eyes.Options.Keys shows one, with its last error if it is known"
		case q.FailingError != "" && q.Failing > 1:
			f.Cause += "; the last error of the first of them: " + q.FailingError
		case q.FailingError != "":
			f.Cause += "; its last error: " + q.FailingError
		}
		found = append(found, f)
	}
	if q.LateSince != nil && q.LateLast != nil && now.Sub(*q.LateLast) < lateFor {
		f := f
		f.Kind, f.Since, f.Key = "stale after own writes", *q.LateSince, q.LateKey
		f.Cause = fmt.Sprintf("items are handed out before the %s shows what was written for them: %d in all, the "+
			"last %s ago", q.LateFor, q.Late, now.Sub(*q.LateLast).Round(time.Second))
		found = append(found, f)
	}
	if q.StalledSince.IsZero() {
		return found
	}
	stalled := now.Sub(q.StalledSince)
	f.Since, f.Earlier = q.StalledSince, true
	switch {
	case q.InProcess == 0 && q.HandedOut > 0 && stalled >= spacing:
		f.Kind, f.Cause = "no worker", count(uint64(q.Ready), "item is", "items are")+" ready, and nobody takes any"
		found = append(found, f)
	case q.InProcess > 0 && stalled >= stalledFor:
		f.Kind = "no progress"
		f.Cause = fmt.Sprintf("%s ready, and none was handed out; %s in process",
			count(uint64(q.Ready), "item is", "items are"), count(uint64(q.InProcess), "is", "are"))
		found = append(found, f)
	}
	return found
}
