package cluster

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
)

// conditions are how the cluster is doing, within the contract of servers.
type conditions struct {
	// until is when watches are served again. Until then they are closed at once, or refused.
	until   time.Time
	refuses bool
}

// CloseNewWatches makes the cluster close each watch as soon as it is open, for a time.
func (c *Cluster) CloseNewWatches(d time.Duration) { c.set(conditions{time.Now().Add(d), false}) }

// RefuseWatches makes the cluster answer each watch with 429, without Retry-After, for a time.
func (c *Cluster) RefuseWatches(d time.Duration) { c.set(conditions{time.Now().Add(d), true}) }

// Calm ends what CloseNewWatches and RefuseWatches have begun. If a server is behind, it closes its watches,
// and the other one serves the next ones until Lag is called again.
func (c *Cluster) Calm() {
	c.set(conditions{})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.move(c.behind.at, false)
}

func (c *Cluster) set(now conditions) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conditions = now
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
