package runtimetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// faults are the scripted faults of a server.
type faults struct {
	pending           []fault
	hook              func(context.Context, Request) error
	observe           func(Request)
	noWatchList       bool
	noWatchListClient bool
	noEndBookmark     bool
	watchCache        bool
	maxPage           int64
	sharding          shardFilter
}

type fault struct {
	verb string
	err  error
}

// Request is a request that a server received.
type Request struct {
	Verb    string // LIST or WATCH
	Options metav1.ListOptions
}

// String describes the request. It omits the value of a watch's timeout, which clients choose
// at random.
func (r Request) String() string {
	var b strings.Builder
	b.WriteString(r.Verb)
	o := r.Options
	fmt.Fprintf(&b, " rv=%q", o.ResourceVersion)
	if o.ResourceVersionMatch != "" {
		fmt.Fprintf(&b, " match=%s", o.ResourceVersionMatch)
	}
	if o.LabelSelector != "" {
		fmt.Fprintf(&b, " labels=%s", o.LabelSelector)
	}
	if o.FieldSelector != "" {
		fmt.Fprintf(&b, " fields=%s", o.FieldSelector)
	}
	if o.ShardSelector != "" {
		fmt.Fprintf(&b, " shard=%s", o.ShardSelector)
	}
	if o.Limit != 0 {
		fmt.Fprintf(&b, " limit=%d", o.Limit)
	}
	if o.Continue != "" {
		fmt.Fprintf(&b, " continue=%s", o.Continue)
	}
	if o.AllowWatchBookmarks {
		b.WriteString(" bookmarks")
	}
	if o.SendInitialEvents != nil {
		fmt.Fprintf(&b, " initial=%t", *o.SendInitialEvents)
	}
	if o.TimeoutSeconds != nil {
		b.WriteString(" timeout")
	}
	return b.String()
}

// Requests returns the requests received so far, in order.
func (s *Server[T, L]) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ForgetRequests empties Requests. Call it from time to time in a long test, since the server
// remembers every request.
func (s *Server[T, L]) ForgetRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

// Fail makes the next requests of the verb, LIST or WATCH, fail with these
// errors, one each.
func (s *Server[T, L]) Fail(verb string, errs ...error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, err := range errs {
		s.faults.pending = append(s.faults.pending, fault{verb, err})
	}
}

// OnRequest makes the server call hook before it serves a request. hook may block. If it
// returns an error, the client gets that error. A nil hook removes the last one.
func (s *Server[T, L]) OnRequest(hook func(context.Context, Request) error) {
	s.set(func(fs *faults) { fs.hook = hook })
}

// Observe makes the server call f with each request, before scripted errors and the hook of OnRequest.
func (s *Server[T, L]) Observe(f func(Request)) { s.set(func(fs *faults) { fs.observe = f }) }

// NoWatchList makes the server refuse to stream lists, as servers without that feature do.
func (s *Server[T, L]) NoWatchList() { s.set(func(f *faults) { f.noWatchList = true }) }

// NoWatchListClient makes the server and its ListerWatcher report that they don't support
// watch-lists, as fake clientsets do.
func (s *Server[T, L]) NoWatchListClient() { s.set(func(f *faults) { f.noWatchListClient = true }) }

// OmitEndBookmark makes the server omit the bookmark that ends the initial events of a watch-list.
func (s *Server[T, L]) OmitEndBookmark(omit bool) { s.set(func(f *faults) { f.noEndBookmark = omit }) }

// WatchCache makes the server ignore the limit of lists at a version, including "0", as a
// server's watch cache does.
func (s *Server[T, L]) WatchCache(on bool) { s.set(func(f *faults) { f.watchCache = on }) }

// MaxPage bounds the pages of lists with a limit to n objects, even if the limit is higher.
// Zero sets no bound.
func (s *Server[T, L]) MaxPage(n int64) { s.set(func(f *faults) { f.maxPage = n }) }

// Sharding makes the server filter lists, watches or both by their shard selectors. A server with the feature
// gate ShardedListAndWatch filters both; one without it, as every server is at first, ignores the selectors.
// Servers of 1.36 filter only lists where they read from etcd. Watches that are open stay as they are.
func (s *Server[T, L]) Sharding(lists, watches bool) {
	s.set(func(f *faults) { f.sharding = shardFilter{lists, watches} })
}

func (s *Server[T, L]) set(f func(*faults)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.faults)
}

// Bookmark sends a bookmark to each open watch that allows them.
func (s *Server[T, L]) Bookmark() {
	s.eachStream(func(w *stream) {
		if w.bookmarks {
			w.send(s.bookmark(false))
		}
	})
}

// EndInitialEvents sends the bookmark that OmitEndBookmark omitted.
func (s *Server[T, L]) EndInitialEvents() {
	s.eachStream(func(w *stream) { w.send(s.bookmark(true)) })
}

// CloseWatches ends all open watches in good order.
func (s *Server[T, L]) CloseWatches() { s.eachStream((*stream).close) }

// FailWatches ends all open watches with an error event.
func (s *Server[T, L]) FailWatches(err apierrors.APIStatus) {
	s.eachStream(func(w *stream) { w.fail(err) })
}

// Inject sends a raw event on all open watches.
func (s *Server[T, L]) Inject(e watch.Event) {
	s.eachStream(func(w *stream) { w.send(e) })
}

// Watches is the number of open watches.
func (s *Server[T, L]) Watches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.streams)
}

func (s *Server[T, L]) eachStream(f func(*stream)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.streams {
		f(w)
	}
}

// enter records a request, and returns the scripted error for it, if there is one.
func (s *Server[T, L]) enter(ctx context.Context, r Request) error {
	s.mu.Lock()
	s.requests = append(s.requests, r)
	hook, observe := s.faults.hook, s.faults.observe
	i := slices.IndexFunc(s.faults.pending, func(f fault) bool { return f.verb == r.Verb })
	var scripted error
	if i >= 0 {
		scripted = s.faults.pending[i].err
		s.faults.pending = slices.Delete(s.faults.pending, i, i+1)
	}
	s.mu.Unlock()
	if observe != nil {
		observe(r)
	}
	if scripted != nil {
		return scripted
	}
	if hook != nil {
		if err := hook(ctx, r); err != nil {
			return err
		}
	}
	return ctx.Err()
}
