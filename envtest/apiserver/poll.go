package apiserver

import (
	"context"
	"fmt"
	"time"
)

// retryInterval is the pause between polls.
const retryInterval = 20 * time.Millisecond

// poll calls a function until it succeeds, where the server offers nothing to watch. If ctx ends first, the
// error begins with failure.
func poll(ctx context.Context, failure string, call func() error) error {
	for {
		err := call()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w (last answer: %w)", failure, context.Cause(ctx), err)
		case <-time.After(retryInterval):
		}
	}
}
