package monitoring

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/sharding/shardingtest"
)

// TestHealthy checks that no alert fires in programs in which nothing is wrong.
func TestHealthy(t *testing.T) {
	alerts := readAlerts(t)
	for name, run := range map[string]func(p *program){
		"a start with many objects": func(p *program) {
			slow := func(*corev1.ConfigMap) { bubble.Pass(100 * time.Millisecond) }
			p.handle.Store(&slow)
			p.work()
			p.create(5000)
			p.inform("shop", p.server)
			group := shardingtest.NewGroup()
			anna := p.newMember(group, "bakers", "anna")
			p.join(anna)
			p.pass(time.Minute)
			p.move(group, anna)
			p.pass(20 * time.Minute)
		},
		"a standby": func(p *program) {
			p.eyes.AddInformer("shop", p.newInformer(p.server))
			p.addQueue("bakeries", nil).Add("oslo") // as with EnableWarmup of controller-runtime
			p.newMember(shardingtest.NewGroup(), "bakers", "anna")
			p.pass(time.Hour)
		},
		"an empty collection": func(p *program) {
			p.work()
			p.inform("shop", p.server)
			p.pass(time.Hour)
		},
		"an empty collection of a server without bookmarks": func(p *program) {
			p.silent = true
			p.work()
			p.inform("shop", p.server)
			p.pass(time.Hour)
		},
		"a restart of the API server": func(p *program) {
			start(p)
			p.pass(10 * time.Minute)
			p.server.OnRequest(func(context.Context, runtimetest.Request) error { return syscall.ECONNREFUSED })
			p.server.CloseWatches()
			p.pass(15 * time.Second)
			p.server.OnRequest(nil)
			p.pass(10 * time.Minute)
		},
		"a list every other minute": func(p *program) {
			start(p)
			p.each = func() {
				if time.Now().Unix()%120 == 0 {
					p.server.FailWatches(apierrors.NewResourceExpired("too old"))
				}
			}
			p.pass(20 * time.Minute)
		},
		"a program that changes much": busy,
		"two clusters, three forms of a kind, and namespaces that come and go": func(p *program) {
			all := runMany(p)
			for _, n := range []int{namespaces, namespaces / 4, namespaces} {
				for cluster, informers := range all {
					p.eyes.AddCaches(cluster, informers[:n*len(forms)])
				}
				p.pass(10 * time.Minute)
			}
		},
	} {
		for _, interval := range intervals {
			t.Run(name+"/"+interval.String(), func(t *testing.T) {
				s := play(t, interval, run)
				for _, one := range s.firings(t, alerts, interval) {
					t.Errorf("%s fires from %s to %s: %s", one.alert, one.first, one.last, one.labels)
				}
			})
		}
	}
}

// busy runs informers, handlers, queues and members that all have something to do.
func busy(p *program) {
	start(p)
	group, _, ben := pair(p)
	p.each = func() { p.create(10) }
	p.pass(10 * time.Minute)
	p.move(group, ben)
	p.pass(10 * time.Minute)
}

// caches are informers that are added as one source, as controller-runtime's caches are.
type caches []cache.SharedIndexInformer

func (c caches) Statuses() (all []informer.Status) {
	for _, i := range c {
		status, _ := informer.StatusOf(i)
		all = append(all, status)
	}
	return all
}

var (
	clusters = []string{"north", "south"}
	forms    = []string{"metadata", "typed", "unstructured"}
)

// namespaces is how many informers there are for each form in each cluster.
const namespaces = 20

// runMany runs informers of one kind: for each cluster, several namespaces and three forms.
func runMany(p *program) map[string]caches {
	byCluster := map[string]caches{}
	for _, cluster := range clusters {
		typed := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
		metadata := runtimetest.NewServer[metav1.PartialObjectMetadata, metav1.PartialObjectMetadataList]()
		untyped := runtimetest.NewServer[unstructured.Unstructured, unstructured.UnstructuredList]()
		p.servers = append(p.servers, typed, metadata, untyped)
		var all caches
		for n := range namespaces {
			namespace := fmt.Sprint("town-", n)
			meta := metav1.ObjectMeta{Namespace: namespace, Name: "bakery"}
			typed.Create(&corev1.ConfigMap{ObjectMeta: meta})
			metadata.Create(&metav1.PartialObjectMetadata{ObjectMeta: meta})
			bakery := &unstructured.Unstructured{Object: map[string]any{}}
			bakery.SetNamespace(namespace)
			bakery.SetName("bakery")
			untyped.Create(bakery)
			all = append(all, oneOf(p, typed, namespace), oneOf(p, metadata, namespace), oneOf(p, untyped, namespace))
		}
		p.eyes.AddCaches(cluster, all)
		byCluster[cluster] = all
	}
	return byCluster
}

type object interface {
	cache.Object
	runtimetest.Object
}

// oneOf runs an informer of one namespace.
func oneOf[T object, L runtime.Object](
	p *program, s *runtimetest.Server[T, L], namespace string,
) cache.SharedIndexInformer {
	i := gen.NewShared[T](func() gen.ResourceClient[L] { return s }, gen.Options{
		Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Namespace: namespace,
		TweakListOptions: func(o *metav1.ListOptions) { o.FieldSelector = "metadata.namespace=" + namespace },
	})
	_, err := informer.AddEventHandler(i, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {}},
		informer.HandlerOptions{Name: "baker"})
	if err != nil {
		p.Fatal(err)
	}
	p.running.Go(func() { i.RunWithContext(p.ctx) })
	return i
}

// TestMany checks that a registry which refuses two series with the same labels accepts informers of one kind
// in two clusters, several namespaces and three forms, and that alerts tell clusters and forms apart.
func TestMany(t *testing.T) {
	interval := intervals[0]
	s := play(t, interval, func(p *program) {
		runMany(p)
		p.pass(time.Minute)
		end := p.swallow()
		p.pass(10 * time.Minute)
		end()
	})
	const metric = "kubewright_informer_objects"
	if got := s.valuesOf(metric, "source"); !slices.Equal(got, clusters) {
		t.Errorf("sources %q", got)
	}
	if got := s.valuesOf(metric, "form"); !slices.Equal(got, forms) {
		t.Errorf("forms %q", got)
	}
	for _, one := range s.evaluate(t, metric, interval) {
		if last := one.Floats[len(one.Floats)-1].F; last != namespaces {
			t.Errorf("%v has %v objects", one.Metric, last)
		}
	}
	firings := s.firings(t, readAlerts(t), interval)
	if len(firings) != len(clusters)*len(forms) {
		t.Errorf("want a silent watch for each cluster and form, got %v", firings)
	}
}
