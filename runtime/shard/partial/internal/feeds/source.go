package feeds

import (
	"context"
	"errors"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/watchlist"

	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/shard"
)

// feedSource sends the selector of a feed with its requests.
type feedSource struct {
	sources.Source
	feed *feed
}

// IsWatchListSemanticsUnSupported is the method that client-go's util/watchlist looks for.
func (s feedSource) IsWatchListSemanticsUnSupported() bool {
	return watchlist.DoesClientNotSupportWatchListSemantics(s.Source)
}

// List reads a page. All pages of a list have the selector of the first.
func (s feedSource) List(
	ctx context.Context, opts metav1.ListOptions, to sources.Receiver,
) (page sources.ListMeta, err error) {
	if err := s.prepare(&opts, false); err != nil {
		return page, err
	}
	page, err = s.Source.List(sources.WithWanted(ctx, s.wants), opts, to)
	return page, s.checked(err)
}

// Watch opens a watch.
func (s feedSource) Watch(ctx context.Context, opts metav1.ListOptions) (stream sources.Stream, err error) {
	if err := s.prepare(&opts, true); err != nil {
		return nil, err
	}
	stream, err = s.Source.Watch(sources.WithWanted(ctx, s.wants), opts)
	return stream, s.checked(err)
}

// wants reports whether an object is in the feed's ranges, before it is decoded.
func (s feedSource) wants(namespace, uid string) bool {
	g := s.feed.group
	g.mu.Lock()
	defer g.mu.Unlock()
	value := namespace
	if g.options.Field == shard.ByUID {
		value = uid
	}
	return s.feed.sees(shard.Hash(value))
}

// errEnded is the error of requests and lists of a feed that has ended. Nobody sees it.
var errEnded = errors.New("the feed has ended")

// prepare sets the selector of a request. A further page of a list keeps that of the first. A list must not
// be older than any of the watermarks.
func (s feedSource) prepare(opts *metav1.ListOptions, watch bool) (err error) {
	f := s.feed
	f.group.mu.Lock()
	defer f.group.mu.Unlock()
	if f.ended {
		return errEnded
	}
	if opts.Continue == "" {
		f.request = request{watch: watch, selected: f.ranges}
	}
	if lists := !watch || opts.SendInitialEvents != nil; lists && opts.ResourceVersion != "" {
		for _, mark := range f.watermarks {
			if isBefore(opts.ResourceVersion, mark.version) {
				opts.ResourceVersion = mark.version
			}
		}
	}
	opts.ShardSelector, err = shard.Selector(f.group.options.Field, f.request.selected)
	return err
}

// selectorError is the fatal error of a group.
type selectorError struct{ cause error }

func (e *selectorError) Error() string {
	return "the server doesn't understand our shard selectors: " + e.cause.Error()
}

func (e *selectorError) Unwrap() error { return e.cause }

// Permanent makes [informer.SyncError] permanent.
func (e *selectorError) Permanent() bool { return true }

// refusal begins the server's error for a selector that it can't parse. That error has neither a reason nor a
// code of its own.
const refusal = "invalid shard selector"

// checked returns the error of a request. An error about the selector is fatal, because each request would
// fail with it.
func (s feedSource) checked(err error) error {
	if err != nil && strings.Contains(err.Error(), refusal) {
		s.feed.group.fail(&selectorError{err})
	}
	return err
}
