package kwctrl

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/internal/bubble"
	kwcache "github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/informer"
)

// TestUnmatchedOverridesAreLogged makes informers of two resources, at different times, and checks which
// overrides are logged: those of which no informer was made a minute after the first informer has started,
// once, and none if the informers stop before.
func TestUnmatchedOverridesAreLogged(t *testing.T) {
	pods, secrets, nodes := corev1.Resource("pods"), corev1.Resource("secrets"), corev1.Resource("nodes")
	for name, test := range map[string]struct {
		runs time.Duration
		want []string
	}{"runs on": {time.Hour, []string{"nodes"}}, "stops": {time.Minute / 2, nil}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var logged []string
				ctx := klog.NewContext(t.Context(), funcr.New(func(_, line string) {
					mu.Lock()
					defer mu.Unlock()
					for _, resource := range []schema.GroupResource{pods, secrets, nodes} {
						if strings.Contains(line, resource.Resource) {
							logged = append(logged, resource.Resource)
						}
					}
				}, funcr.Options{}))
				c := NewCaches(Options{Options: informer.Options{
					Overrides: map[schema.GroupResource]informer.Options{pods: {}, secrets: {}, nodes: {}}}})
				newInformer := func(resource schema.GroupResource) {
					c.configure(kwcache.NewSharedIndexInformer(&toolscache.ListWatch{}, nil, 0, nil),
						resource.WithVersion("v1"), &optionals{})
				}
				newInformer(pods)
				for range 2 { // informers that start
					time.AfterFunc(test.runs, c.overrides.logLater(ctx))
				}
				bubble.Advance(time.Second)
				newInformer(secrets)
				bubble.Advance(2 * time.Minute)
				mu.Lock()
				defer mu.Unlock()
				if !slices.Equal(logged, test.want) {
					t.Errorf("logged %q, want %q", logged, test.want)
				}
			})
		})
	}
}
