package reflector

import (
	"errors"
	"sync/atomic"
	"time"
)

// errSilent is the failure of a watch on which nothing arrived.
var errSilent = errors.New("nothing arrived on the watch for too long, not even a bookmark")

// silence ends a stream on which nothing arrives for a while. A nil silence may
// last for ever.
type silence struct {
	patience time.Duration
	timer    *time.Timer
	over     atomic.Bool
}

// endSilence calls end after patience without a call of broken.
func endSilence(end func(), patience time.Duration) *silence {
	if patience <= 0 {
		return nil
	}
	s := &silence{patience: patience}
	s.timer = time.AfterFunc(patience, func() {
		s.over.Store(true)
		end()
	})
	return s
}

// broken says that something arrived. Once the stream was ended it changes
// nothing.
func (s *silence) broken() {
	if s != nil && s.timer.Stop() {
		s.timer.Reset(s.patience)
	}
}

// ended says that the stream was ended.
func (s *silence) ended() bool { return s != nil && s.over.Load() }

func (s *silence) stop() {
	if s != nil {
		s.timer.Stop()
	}
}
