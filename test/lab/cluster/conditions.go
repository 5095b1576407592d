package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// conditions are how the cluster is doing, within the contract of servers.
type conditions struct {
	// until is when watches are served again. Until then they are closed at once, or refused.
	until   time.Time
	refuses bool
}

// Lag makes another server answer lists at a version, "0" included: one that stays where the cluster is now
// and refuses later versions. Lag(false) and Compact bring it up to date. Lists without a version, of the
// newest state, are never behind.
func (c *Cluster) Lag(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.kinds {
		if k.behind = 0; on {
			k.behind, _ = strconv.ParseInt(k.server.Version(), 10, 64)
		}
	}
}

// CloseNewWatches makes the cluster close each watch as soon as it is open, for a time.
func (c *Cluster) CloseNewWatches(d time.Duration) { c.set(conditions{time.Now().Add(d), false}) }

// RefuseWatches makes the cluster answer each watch with 429, without Retry-After, for a time.
func (c *Cluster) RefuseWatches(d time.Duration) { c.set(conditions{time.Now().Add(d), true}) }

// Calm ends what CloseNewWatches and RefuseWatches have begun.
func (c *Cluster) Calm() { c.set(conditions{}) }

func (c *Cluster) set(now conditions) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conditions = now
}

// list answers a list, from the server that is behind if that may be.
func (k *Kind) list(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	if opts.ResourceVersion != "" {
		behind, err := k.reached(opts.ResourceVersion)
		if err != nil {
			return nil, err
		}
		if behind > 0 {
			// This is how the server in memory names a list at a version.
			opts.ResourceVersion, opts.Continue = "", fmt.Sprint(behind, ":")
		}
	}
	return k.server.list(ctx, opts)
}

// watch answers a watch. Only for initial events the version has to be reached.
func (k *Kind) watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	if opts.SendInitialEvents != nil && opts.ResourceVersion != "" {
		if _, err := k.reached(opts.ResourceVersion); err != nil {
			return nil, err
		}
	}
	return k.server.Watch(ctx, opts)
}

// reached returns where the server is that is behind, 0 if none is. It returns an error if that server hasn't
// reached the version.
func (k *Kind) reached(version string) (behind int64, err error) {
	k.cluster.mu.Lock()
	behind = k.behind
	k.cluster.mu.Unlock()
	wanted, err := strconv.ParseInt(version, 10, 64)
	if err != nil || behind == 0 || wanted <= behind {
		return behind, nil
	}
	tooLarge := apierrors.NewTimeoutError(
		fmt.Sprintf("Too large resource version: %d, current: %d", wanted, behind), 1)
	tooLarge.ErrStatus.Details.Causes = []metav1.StatusCause{
		{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"},
	}
	return behind, tooLarge
}

// answersWatch answers a watch if the conditions don't let it be served.
func (c *Cluster) answersWatch(w http.ResponseWriter, r *http.Request) bool {
	c.mu.Lock()
	now := c.conditions
	c.mu.Unlock()
	if watches, _ := strconv.ParseBool(r.URL.Query().Get("watch")); !watches || !time.Now().Before(now.until) {
		return false
	}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	if now.refuses {
		status := apierrors.NewTooManyRequestsError("too many watches").Status()
		w.WriteHeader(int(status.Code))
		_ = json.NewEncoder(w).Encode(status)
	}
	return true
}
