package cache_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubewright/kubewright/runtime/runtimetest"
)

type server = runtimetest.Server[*corev1.Pod, *corev1.PodList]

func newServer() *server { return runtimetest.NewServer[corev1.Pod, corev1.PodList]() }

var (
	expired   = apierrors.NewResourceExpired("expired")
	forbidden = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", nil)
)

// journal records the calls of a handler or a store, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) take() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return strings.Join(lines, "; ")
}

func (j *journal) OnAdd(obj any, initial bool) { j.add("add %s %t", text(obj), initial) }
func (j *journal) OnUpdate(old, new any)       { j.add("update %s to %s", text(old), text(new)) }
func (j *journal) OnDelete(obj any)            { j.add("delete %s", text(obj)) }

// settle waits until all other goroutines block.
func settle() { synctest.Wait() }

// backoff is longer than any back-off.
const backoff = 61 * time.Second

// running runs f until the test's end.
func running(t *testing.T, run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { run(ctx) })
	settle()
	return func() {
		cancel()
		wg.Wait()
	}
}
