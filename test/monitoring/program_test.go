package monitoring

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	kwprometheus "github.com/kubewright/kubewright/contrib/prometheus"
	"github.com/kubewright/kubewright/contrib/prometheus/eyesmetrics"
	"github.com/kubewright/kubewright/contrib/prometheus/shardingmetrics"
	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/internal/bubble"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/runtime/workqueue"
	"github.com/kubewright/kubewright/sharding"
	"github.com/kubewright/kubewright/sharding/shardingeyes"
	"github.com/kubewright/kubewright/sharding/shardingtest"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // faults are logged
	runtimetest.WithoutErrorBackoff()
	goleak.VerifyTestMain(m)
}

type server = runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList]

// program is a controller, and the scrapes of its metrics. Its parts are added one by one.
type program struct {
	*testing.T
	store    *store
	interval time.Duration // of scrapes
	eyes     *eyes.Eyes
	registry *prometheus.Registry
	server   *server
	queue    *queue.Queue[string]
	stop     func() // stops the informer
	// handle and reconcile are called with each object and each key, and replaced by faults.
	handle    atomic.Pointer[func(*corev1.ConfigMap)]
	reconcile atomic.Pointer[func(key string) error]
	// each is called before each scrape. The servers send a bookmark each minute if they aren't silent.
	each    func()
	silent  bool
	servers []interface {
		Bookmark()
		OnRequest(func(context.Context, runtimetest.Request) error)
	}

	ctx     context.Context
	running sync.WaitGroup
	created int
}

// play runs a program in a bubble, and returns what was scraped.
func play(t *testing.T, interval time.Duration, run func(*program)) *store {
	s := newStore()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(context.Background())
		p := &program{
			T: t, store: s, interval: interval, eyes: eyes.New(eyes.Options{}), ctx: ctx,
			registry: prometheus.NewPedanticRegistry(), each: nothing,
		}
		p.server = p.newServer()
		p.registry.MustRegister(eyesmetrics.New(p.eyes))
		p.recover()
		run(p)
		stop()
		p.running.Wait()
	})
	return s
}

// recover ends what was planted in handlers and reconcilers.
func (p *program) recover() {
	handle := func(*corev1.ConfigMap) {}
	reconcile := func(string) error { return nil }
	p.handle.Store(&handle)
	p.reconcile.Store(&reconcile)
}

// pass lets time pass, with scrapes.
func (p *program) pass(d time.Duration) {
	p.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		bubble.Advance(p.interval)
		p.each()
		if !p.silent && time.Now().Unix()%60 == 0 {
			for _, s := range p.servers {
				s.Bookmark()
			}
		}
		synctest.Wait()
		p.store.scrape(p.T, p.registry)
	}
}

// swallow makes the connections to all servers black holes: watches deliver nothing, and requests have no
// answer until the end.
func (p *program) swallow() (end func()) {
	ended := make(chan struct{})
	p.silent = true
	for _, s := range p.servers {
		s.OnRequest(func(ctx context.Context, _ runtimetest.Request) error {
			select {
			case <-ended:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}
	return func() { p.silent = false; close(ended) }
}

func (p *program) newServer() *server {
	s := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
	p.servers = append(p.servers, s)
	return s
}

// newInformer makes an informer of the server, with a handler that adds keys to the queue, if there is one.
func (p *program) newInformer(s *server) cache.SharedIndexInformer {
	i := gen.NewShared[*corev1.ConfigMap](func() gen.ResourceClient[*corev1.ConfigMapList] { return s },
		gen.Options{Resource: corev1.SchemeGroupVersion.WithResource("configmaps")})
	if err := informer.Configure(i, informer.Options{MutationSample: 1}); err != nil {
		p.Fatal(err)
	}
	_, err := informer.AddEventHandler(i, cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		configMap := obj.(*corev1.ConfigMap)
		(*p.handle.Load())(configMap)
		if p.queue != nil {
			p.queue.Add(configMap.Name)
		}
	}}, informer.HandlerOptions{Name: "baker", ContainPanics: true})
	if err != nil {
		p.Fatal(err)
	}
	return i
}

// inform runs a new informer of the server, until stop is called.
func (p *program) inform(source string, s *server) (stop func()) {
	i := p.newInformer(s)
	p.eyes.AddInformer(source, i)
	ctx, cancel := context.WithCancel(p.ctx)
	var running sync.WaitGroup
	running.Go(func() { i.RunWithContext(ctx) })
	p.running.Go(running.Wait)
	return func() {
		cancel()
		running.Wait()
	}
}

// addQueue adds a queue without a worker.
func (p *program) addQueue(source string, gate func(string) bool) *queue.Queue[string] {
	q := queue.New(queue.Config[string]{
		Gate: gate, Metrics: workqueue.NewMetrics(kwprometheus.NewProvider(p.registry), source),
	})
	context.AfterFunc(p.ctx, q.ShutDown)
	p.eyes.AddQueue(source, q)
	return q
}

// work runs the queue's worker.
func (p *program) work() {
	p.queue = p.addQueue("bakeries", nil)
	p.running.Go(func() {
		for {
			key, err := p.queue.GetContext(p.ctx)
			if err != nil {
				return
			}
			if (*p.reconcile.Load())(key) != nil {
				p.queue.AddRateLimited(key)
			} else {
				p.queue.Forget(key)
			}
			p.queue.Done(key)
		}
	})
}

// newMember makes a member of a group.
func (p *program) newMember(group *shardingtest.Group, name, identity string) *sharding.Member {
	m, err := group.NewMember(sharding.Config{
		Identity: identity, Kinds: []string{"bakeries"},
		Hashes: func(shard.Range) ([]uint64, bool) { return nil, true },
	})
	if err != nil {
		p.Fatal(err)
	}
	shardingeyes.Add(p.eyes, name+" "+identity, m)
	metrics := shardingmetrics.New(name, m)
	metrics.AddQueue("bakeries", dropped(0))
	p.registry.MustRegister(metrics)
	return m
}

// dropped is how many items a queue has dropped.
type dropped uint64

func (d dropped) Dropped() uint64 { return uint64(d) }

// join runs a member.
func (p *program) join(m *sharding.Member) {
	p.running.Go(func() {
		if err := m.Run(p.ctx); err != nil {
			p.Errorf("%s: %v", m.Identity(), err)
		}
	})
}

// move gives all ranges to a member.
func (p *program) move(group *shardingtest.Group, to *sharding.Member) {
	p.running.Go(func() {
		if err := group.Move(p.ctx, to, shardingtest.All); err != nil {
			p.Errorf("move: %v", err)
		}
	})
}

// create creates objects at the server.
func (p *program) create(objects int) {
	for range objects {
		p.created++
		name := "bakery-" + strconv.Itoa(p.created)
		p.server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "oslo", Name: name}})
	}
}
