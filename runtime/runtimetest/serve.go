package runtimetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// List serves a list request. The versions "" and "0" request the present state, any other
// version a state that is no older; the first page always has the present state. Limits apply
// to every request, as on a server without a watch cache, unless WatchCache is on.
func (s *Server[T, L]) List(ctx context.Context, opts metav1.ListOptions) (L, error) {
	var none L
	if err := s.enter(ctx, Request{Verb: "LIST", Options: opts}); err != nil {
		return none, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	selected, err := selectionOf(opts, s.faults.sharding, s.faults.sharding.lists)
	if err != nil {
		return none, err
	}

	version, after := s.version, ""
	if opts.Continue != "" {
		var err error
		if version, after, err = parseToken(opts.Continue); err != nil {
			return none, apierrors.NewBadRequest(err.Error())
		}
		if opts.ResourceVersion != "" {
			return none, apierrors.NewBadRequest(
				"specifying resource version is not allowed when using continue")
		}
		if version < s.compacted {
			return none, expired()
		}
	} else if err := s.reached(opts.ResourceVersion); err != nil {
		return none, err
	}
	if s.faults.watchCache && opts.Continue == "" && opts.ResourceVersion != "" {
		opts.Limit = 0
	}

	if s.faults.maxPage > 0 && opts.Limit > s.faults.maxPage {
		opts.Limit = s.faults.maxPage
	}

	var items []runtime.Object
	next := ""
	for _, obj := range sorted(s.at(version)) {
		if after != "" && keyOf(obj) <= after || !selected.matches(obj) {
			continue
		}
		if opts.Limit > 0 && int64(len(items)) == opts.Limit {
			next = fmt.Sprintf("%d:%s", version, keyOf(items[len(items)-1].(T)))
			break
		}
		items = append(items, obj)
	}
	list := s.newList()
	if err := meta.SetList(list, items); err != nil {
		return none, err
	}
	m, err := meta.ListAccessor(list)
	if err != nil {
		return none, err
	}
	m.SetResourceVersion(format(version))
	m.SetContinue(next)
	return list, nil
}

// Watch serves a watch request. Without a version, or with "0", the stream begins with the
// existing objects. With SendInitialEvents it does, too, and a bookmark marks their end. The
// stream ends with ctx, or after opts.TimeoutSeconds.
func (s *Server[T, L]) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	if err := s.enter(ctx, Request{Verb: "WATCH", Options: opts}); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	initial := opts.SendInitialEvents != nil && *opts.SendInitialEvents
	selected, err := selectionOf(opts, s.faults.sharding, s.faults.sharding.watches)
	if err != nil {
		return nil, err
	}
	if initial {
		if s.faults.noWatchList {
			return nil, apierrors.NewInvalid(metav1.SchemeGroupVersion.WithKind("ListOptions").GroupKind(),
				"", nil)
		}
		if err := s.reached(opts.ResourceVersion); err != nil {
			return nil, err
		}
	}
	from, _ := strconv.ParseInt(opts.ResourceVersion, 10, 64)
	w := newStream(from, selected, opts.AllowWatchBookmarks, s.forget)
	switch {
	case initial, from == 0:
		for _, obj := range sorted(s.objects) {
			if selected.matches(obj) {
				w.send(watch.Event{Type: watch.Added, Object: obj})
			}
		}
		w.from = s.version
		if initial && !s.faults.noEndBookmark {
			w.send(s.bookmark(true))
		}
	case from < s.compacted:
		// As on a real server, the watch opens, and the error is its only event.
		w.fail(expired())
	default:
		after, _ := slices.BinarySearchFunc(s.history, from+1,
			func(c change[T], version int64) int { return cmp.Compare(c.version, version) })
		for _, c := range s.history[after:] {
			if e, ok := c.event(selected); ok {
				w.push(c.version, e)
			}
		}
	}
	s.streams[w] = struct{}{}
	if opts.TimeoutSeconds != nil {
		w.closeAfter(time.Duration(*opts.TimeoutSeconds) * time.Second)
	}
	context.AfterFunc(ctx, w.Stop)
	go w.sendEvents()
	return w, nil
}

// IsWatchListSemanticsUnSupported returns true after NoWatchListClient, as fake clientsets
// do.
func (s *Server[T, L]) IsWatchListSemanticsUnSupported() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults.noWatchListClient
}

// reached returns an error for versions that the server has not reached.
func (s *Server[T, L]) reached(version string) error {
	if wanted, _ := strconv.ParseInt(version, 10, 64); wanted > s.version {
		err := apierrors.NewTimeoutError(
			fmt.Sprintf("Too large resource version: %d, current: %d", wanted, s.version), 1)
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{
			Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
		}}
		return err
	}
	return nil
}

func (s *Server[T, L]) bookmark(end bool) watch.Event {
	obj := s.newObject()
	obj.SetResourceVersion(format(s.version))
	if end {
		obj.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	return watch.Event{Type: watch.Bookmark, Object: obj}
}

func (s *Server[T, L]) forget(w *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, w)
}

func expired() *apierrors.StatusError {
	return apierrors.NewResourceExpired("too old resource version")
}

func parseToken(token string) (version int64, after string, err error) {
	number, after, found := strings.Cut(token, ":")
	version, err = strconv.ParseInt(number, 10, 64)
	if err != nil || !found {
		return 0, "", fmt.Errorf("continue token %q is not one of this server's", token)
	}
	return version, after, nil
}
