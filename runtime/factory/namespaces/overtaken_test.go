package namespaces

import (
	"slices"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/tools/cache"
)

// checker is done when it is closed.
type checker chan struct{}

func (c checker) Name() string          { return "checker" }
func (c checker) Done() <-chan struct{} { return c }

// TestMultiCheckerOvertaken checks that a wait that began because of a new checker doesn't end because the
// earlier checkers are done.
func TestMultiCheckerOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := make(checker), make(checker)
		all := []cache.DoneChecker{first}
		var looked func()
		over := make(chan struct{})
		defer close(over)
		both := newMultiChecker(func() []cache.DoneChecker {
			found := slices.Clone(all)
			if f := looked; f != nil {
				looked = nil
				f()
			}
			return found
		}, func(wait func(<-chan struct{})) { go wait(over) })
		both.Done()
		synctest.Wait()
		var asked <-chan struct{}
		looked = func() {
			all = append(all, second)
			both.change()
			asked = both.Done()
		}
		close(first)
		synctest.Wait()
		select {
		case <-asked:
			t.Error("done without the second")
		default:
		}
		close(second)
		<-asked
	})
}
