// Package factory has functions for factories of informers: generated ones, those of package informers, and
// those that [New] returns. docs/concepts.md describes what informers promise.
//
// Its functions do what the interface of a factory has no method for:
//
//	WaitForSync       waits for the sync; its error gives the reason if an informer has not synced
//	HealthCheck       returns a check of all informers for /healthz
//	Statuses          returns the state of each informer
//	Retain, Release   count the users of an informer and stop it after the last one
//	Configure         sets options for all informers, or for those of single resources
//	For               makes an informer and a lister for which nothing was generated
//
// Package namespaces, below this one, runs such a factory for each namespace of a set that may change, and
// shows their objects as one cache.
package factory

import (
	"time"

	gen "github.com/kubewright/kubewright/runtime/gen/factory"
)

// Interface is what all factories of informers have, client-go's too. The functions of this package return
// [ErrUnsupportedFactory] for a factory that isn't of this module.
type Interface interface {
	Start(stopCh <-chan struct{})
	Shutdown()
}

// Factory is a factory for informers that come from [For].
type Factory struct{ *gen.Factory[any] }

// New returns a factory for programs whose informers all come from [For]. defaultResync is the resync period
// of its informers. Zero means no resync.
func New(defaultResync time.Duration) *Factory { return &Factory{gen.New[any](nil, defaultResync)} }
