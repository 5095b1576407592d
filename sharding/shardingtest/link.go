package shardingtest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/kubewright/kubewright/sharding/internal/leaseserver"
)

// link is a member's connection to the server, up unless it was cut.
type link struct {
	server *leaseserver.Server
	isCut  atomic.Bool
}

var errDisconnected = errors.New("shardingtest: the member is disconnected")

// setConnected makes or breaks the connection.
func (l *link) setConnected(up bool) {
	l.isCut.Store(!up)
	l.server.Wake()
}

// Carry carries out a request at once, if the link is up. A member that can't read the election's Lease would
// log that again and again, so such reads pass. They do no harm, because the test is elected forever.
func (l *link) Carry(ctx context.Context, verb, name string, do func() (any, error)) (any, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if looks := verb == "get" && name == election; !l.Up() && !looks {
		return nil, errDisconnected
	}
	return do()
}

// Deliver delivers events at once, if the link is up.
func (l *link) Deliver(context.Context, time.Time) bool { return l.Up() }

// Up reports whether the connection is there.
func (l *link) Up() bool { return !l.isCut.Load() }
