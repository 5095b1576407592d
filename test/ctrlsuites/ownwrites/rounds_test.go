package ownwrites

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// bakeries are read from a cache and written to the server. All methods that write use what the cache has.
type bakeries interface {
	cached(ctx context.Context, name string) (metav1.Object, error)
	create(ctx context.Context, name string) (metav1.Object, error)
	update(ctx context.Context, cached metav1.Object, mark string) (metav1.Object, error)
	updateStatus(ctx context.Context, cached metav1.Object) (metav1.Object, error)
	patch(ctx context.Context, name string, patch []byte) (metav1.Object, error)
	remove(ctx context.Context, name string) error
}

// rounds are reconciles that write: each key creates, updates, updates the status of, patches and deletes a
// bakery, in this order, again and again.
type rounds struct {
	*testing.T
	// done is closed when all keys have run after the last round.
	done chan struct{}

	mu sync.Mutex
	// left is the number of rounds that have yet to begin.
	left     int
	keys     map[string]*keyed
	finished int
	runs     int
	// reading is how long reads of the cache took together.
	reading  time.Duration
	stale    []string
	failures []error
}

// keyed is what a key has written.
type keyed struct {
	step     int
	version  string
	deleted  types.UID
	finished bool
}

// workers is the number of keys, and of reconciles at a time.
func workers() int {
	if testing.Short() {
		return 16
	}
	return 64
}

func newRounds(t *testing.T, n int) *rounds {
	r := &rounds{T: t, done: make(chan struct{}), left: n, keys: map[string]*keyed{}}
	for _, name := range names() {
		r.keys[name] = &keyed{}
	}
	return r
}

func names() (names []string) {
	for n := range workers() {
		names = append(names, fmt.Sprint("bakery-", n))
	}
	return names
}

// reconcile reports whether the key is to run again.
func (r *rounds) reconcile(ctx context.Context, all bakeries, name string) (again bool, err error) {
	begin := time.Now()
	object, err := all.cached(ctx, name)
	took := time.Since(begin)
	if err != nil && !apierrors.IsNotFound(err) {
		return false, r.fails(err)
	}
	found := err == nil
	r.mu.Lock()
	k := r.keys[name]
	r.runs++
	r.reading += took
	if lacks := k.lacks(object, found); lacks != "" {
		r.stale = append(r.stale, name+": "+lacks)
	}
	if r.left <= 0 {
		if !k.finished {
			k.finished = true
			if r.finished++; r.finished == len(r.keys) {
				close(r.done)
			}
		}
		r.mu.Unlock()
		return false, nil
	}
	r.left--
	step := k.step
	r.mu.Unlock()

	next := keyed{step: (step + 1) % 5}
	switch {
	case !found:
		next.step = 1
		object, err = all.create(ctx, name)
	case step <= 1:
		next.step = 2
		object, err = all.update(ctx, object, strconv.Itoa(r.begun()))
	case step == 2:
		object, err = all.updateStatus(ctx, object)
	case step == 3:
		object, err = all.patch(ctx, name, fmt.Appendf(nil, `{"spec":{"bread":"bread-%d"}}`, r.begun()))
	default:
		next.deleted = object.GetUID()
		err = all.remove(ctx, name)
	}
	if err != nil {
		r.mu.Lock()
		r.left++
		r.mu.Unlock()
		return true, r.fails(err)
	}
	if next.deleted == "" {
		next.version = object.GetResourceVersion()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next.finished = k.finished
	*k = next
	return true, nil
}

// begun returns how many rounds have yet to begin, which is a number that changes.
func (r *rounds) begun() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left
}

// lacks says what the cache lacks of the key's last write.
func (k *keyed) lacks(object metav1.Object, found bool) string {
	switch {
	case k.deleted != "":
		if found && object.GetUID() == k.deleted {
			return "the deleted object is in the cache"
		}
	case k.version != "" && !found:
		return "version " + k.version + " is written, and the object isn't in the cache"
	case k.version != "":
		shown, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
		written, wrong := strconv.ParseUint(k.version, 10, 64)
		if err != nil || wrong != nil || shown < written {
			return fmt.Sprintf("version %s is written, and %s in the cache", k.version, object.GetResourceVersion())
		}
	}
	return ""
}

func (r *rounds) fails(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, err)
	return err
}
