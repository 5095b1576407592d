package reflector

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// defaultPageSize is the page size of client-go's pager.
const defaultPageSize = 500

// listing reads a list in pages and stages it. If the server can't serve the
// version, the same step lists again without one; any other error ends the round.
type listing struct{}

func (listing) name() State { return Listing }

func (listing) step(ctx context.Context, r *round) state {
	first := r.position.forList()
	l := stagedList{Reflector: r.Reflector, limit: r.pageSize(first)}
	defer l.discard()
	waitCtx := r.withWaits(ctx, Listing, nil)
	wentBack := r.newest()
	err := l.list(waitCtx, first)
	if err != nil && isVersionUnavailable(err) {
		r.position.unavailable = true
		l.paginated = false
		wentBack = r.newest()
		err = l.list(waitCtx, r.position.forList())
	}
	if err != nil {
		if l.sinkErr != nil {
			return r.fail(ctx, fmt.Errorf("unable to sync list result: %w", l.sinkErr))
		}
		return r.fail(ctx, fmt.Errorf("failed to list %v: %w", r.typ, err))
	}
	// Only the first list shows whether there is a watch cache. Later ones may
	// request a quorum read, which comes in pages from any server.
	if first == "0" && l.paginated {
		r.paginated = true
	}
	r.position.unavailable = false
	staging := l.staging
	l.staging = nil
	if err := staging.Commit(l.version); err != nil {
		return r.fail(ctx, fmt.Errorf("unable to sync list result: %w", err))
	}
	return r.committed(ctx, l.version, l.items, nil, wentBack)
}

// pageSize is the limit of a page of a list at version. At a definite version a
// limit would make the server read from etcd rather than from its watch cache.
// At "0" the cache ignores it, and it spares a server without a cache.
func (r *Reflector) pageSize(version string) int64 {
	switch {
	case r.opts.PageSize != 0:
		return r.opts.PageSize
	case r.paginated, version == "", version == "0":
		return defaultPageSize
	}
	return 0
}

// stagedList stages one list, which may take several attempts.
type stagedList struct {
	*Reflector
	limit     int64
	staging   Staging
	pages     *pages
	version   string
	items     int
	paginated bool
	sinkErr   error
}

// list stages everything from the first page to the last. A list whose pages
// expire while it is read starts over without pages, at the version that was
// requested first. A list whose pages don't end fails.
func (l *stagedList) list(ctx context.Context, version string) error {
	opts := metav1.ListOptions{ResourceVersion: version, Limit: l.limit}
	l.restart()
	for {
		meta, err := l.page(ctx, opts)
		// As in client-go's pager, an error with the reason Gone, which isExpired also accepts, ends the list.
		if err != nil && opts.Continue != "" && apierrors.IsResourceExpired(err) {
			l.restart()
			if meta, err = l.page(ctx, metav1.ListOptions{ResourceVersion: version}); err == nil {
				l.version = meta.ResourceVersion
			}
			return err
		}
		if err != nil {
			return err
		}
		// All pages show the server at one version, that of the first.
		if opts.Continue == "" {
			l.version = meta.ResourceVersion
		}
		if meta.Continue == "" {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		l.paginated = true
		if err := l.pages.next(meta.Continue); err != nil {
			return err
		}
		// The token contains the version; servers refuse a request with both.
		opts.ResourceVersion, opts.Continue = "", meta.Continue
	}
}

// page stages one page.
func (l *stagedList) page(ctx context.Context, opts metav1.ListOptions) (sources.ListMeta, error) {
	return l.source.List(ctx, opts, pageReceiver{l, opts.Continue == ""})
}

// pageReceiver receives the objects of one page of a list.
type pageReceiver struct {
	list  *stagedList
	first bool
}

func (p pageReceiver) Add(obj any) error {
	p.list.pages.received(obj)
	p.list.items++
	p.list.sinkErr = p.list.staging.Add(obj, versionOf(obj))
	return p.list.sinkErr
}

// Restart drops the objects of the page. The staging can't distinguish them from those of
// earlier pages, so the restart of a later page fails the list.
func (p pageReceiver) Restart() error {
	if !p.first {
		return errors.New("the list function began again in the middle of a list")
	}
	p.list.restart()
	return nil
}

func (l *stagedList) restart() {
	l.discard()
	l.staging, l.items = l.sink.Begin(), 0
	l.pages = newPages(l.limit)
}

func (l *stagedList) discard() {
	if l.staging != nil {
		l.staging.Discard()
		l.staging = nil
	}
}

// versionOf is the resourceVersion of an object of a list, "" for one that isn't
// an API object.
func versionOf(obj any) string {
	m, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return m.GetResourceVersion()
}
