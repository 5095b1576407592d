package kwctrl_test

import (
	"context"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	kwprometheus "github.com/kubewright/kubewright/contrib/prometheus"
	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/informers"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// runManager runs a manager with our caches and queue until the test ends.
func (p *patient) runManager(o informer.Options, ownWrites bool) {
	config := &rest.Config{Host: "http://api", QPS: -1, Transport: p}
	options := kwctrl.Options{Options: o}
	if ownWrites {
		options.OwnWrites = &ownwrites.Tracker{}
		config.Wrap(options.OwnWrites.Transport)
	}
	caches := kwctrl.NewCaches(options)
	mgr := p.manager(config, caches)
	p.eyes.AddCaches("manager", caches)
	controllerOptions := controller.Options{
		NewQueue: func(name string, l limiter[reconcile.Request]) limitingQueue {
			q := kwctrl.NewQueue(name, l)
			p.eyes.AddQueue(name, q.(eyes.StatusQueue))
			return q
		}}
	r := p.reconciler()
	if ownWrites {
		var err error
		if r, controllerOptions, err = kwctrl.OwnWrites(caches, r, controllerOptions); err != nil {
			p.Fatal(err)
		}
	}
	p.start(mgr, r, controllerOptions)
}

// runPlain runs a manager with client-go's informers and controller-runtime's queue until the test ends.
func (p *patient) runPlain(informer.Options, bool) {
	klog.SetLogger(p.logger())
	p.Cleanup(klog.ClearLogger)
	mgr := p.manager(&rest.Config{Host: "http://api", QPS: -1, Transport: p}, nil)
	p.start(mgr, p.reconciler(), controller.Options{})
}

func (p *patient) logger() logr.Logger {
	return funcr.New(func(prefix, line string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.log.WriteString(prefix + " " + line + "\n")
	}, funcr.Options{})
}

func (p *patient) reconciler() reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		return p.reconcile(ctx, request)
	})
}

// manager makes a manager that logs to p. caches may be nil.
func (p *patient) manager(config *rest.Config, caches *kwctrl.Caches) manager.Manager {
	options := managerOptions(caches)
	options.Logger = p.logger()
	if caches == nil {
		options.NewCache = nil
	}
	options.BaseContext = func() context.Context { // as log.SetLogger does it for a whole program
		return logr.NewContext(p.Context(), options.Logger)
	}
	mgr, err := manager.New(config, options)
	if err != nil {
		p.Fatal(err)
	}
	return mgr
}

// start starts a manager with a controller.
func (p *patient) start(mgr manager.Manager, r reconcile.Reconciler, options controller.Options) {
	p.program = managed{mgr}
	options.MaxConcurrentReconciles = 3
	if err := builder.ControllerManagedBy(mgr).Named("baker").For(&corev1.ConfigMap{}).
		WithOptions(options).WithLogConstructor(func(*reconcile.Request) logr.Logger {
		return mgr.GetLogger()
	}).Complete(r); err != nil {
		p.Fatal(err)
	}
	ctx, cancel := context.WithCancel(p.Context())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	p.Cleanup(func() {
		cancel()
		<-ended // An error of a cache that never synced is no surprise.
	})
}

// managed is the program of a manager.
type managed struct{ manager.Manager }

func (m managed) handle(ctx context.Context, h toolscache.ResourceEventHandler) error {
	i, err := m.GetCache().GetInformer(ctx, &corev1.ConfigMap{})
	if err == nil {
		_, err = i.AddEventHandler(h)
	}
	return err
}

func (m managed) cached(ctx context.Context) (objects []*corev1.ConfigMap, err error) {
	list := &corev1.ConfigMapList{}
	err = m.GetCache().List(ctx, list, client.UnsafeDisableDeepCopy)
	for i := range list.Items {
		objects = append(objects, &list.Items[i])
	}
	return objects, err
}

func (m managed) get(ctx context.Context, name types.NamespacedName) (*corev1.ConfigMap, error) {
	object := &corev1.ConfigMap{}
	return object, m.GetClient().Get(ctx, name, object)
}

func (m managed) patch(ctx context.Context, name types.NamespacedName, text string) error {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
	return m.GetClient().Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(text)))
}

// runGenerated runs a controller with the informers of a generated factory, and a queue, until the test ends.
func (p *patient) runGenerated(o informer.Options, ownWrites bool) {
	config := &rest.Config{Host: "http://api", QPS: -1, Transport: p}
	tracker := &ownwrites.Tracker{}
	if ownWrites {
		config.Wrap(tracker.Transport)
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		p.Fatal(err)
	}
	g := &generated{clients, informers.NewSharedInformerFactory(clients, 0)}
	p.program = g
	if err := factory.Configure(g.informers, o); err != nil {
		p.Fatal(err)
	}
	queueConfig := queue.Config[toolscache.ObjectName]{
		Metrics: workqueue.NewMetrics(kwprometheus.NewProvider(prometheus.NewRegistry()), "baker")}
	var q *queue.Queue[toolscache.ObjectName]
	if ownWrites {
		q = ownwrites.NewQueue(tracker, queueConfig)
		if err := tracker.Add(g.informers.Core().V1().ConfigMaps().Informer()); err != nil {
			p.Fatal(err)
		}
	} else {
		q = queue.New(queueConfig)
	}
	if err := p.eyes.AddFactory("factory", g.informers); err != nil {
		p.Fatal(err)
	}
	p.eyes.AddQueue("baker", q)
	add := func(object any) { q.Add(toolscache.MetaObjectToName(object.(*corev1.ConfigMap))) }
	if err := g.handle(p.Context(), toolscache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, changed any) { add(changed) },
	}); err != nil {
		p.Fatal(err)
	}
	ctx, cancel := context.WithCancel(logr.NewContext(p.Context(), p.logger()))
	g.informers.StartWithContext(ctx)
	ended := make(chan error)
	go func() {
		ended <- workqueue.Run(ctx, q, 3, func(
			ctx context.Context, name toolscache.ObjectName,
		) (workqueue.Result, error) {
			result, err := p.reconcile(ctx, reconcile.Request{NamespacedName: types.NamespacedName(name)})
			return workqueue.Result{RequeueAfter: result.RequeueAfter}, err
		})
	}()
	p.Cleanup(func() {
		cancel()
		g.informers.Shutdown()
		if err := <-ended; err != nil {
			p.Error(err)
		}
	})
}

// generated is the program of a controller that has generated clients and informers.
type generated struct {
	clients   kubernetes.Interface
	informers informers.SharedInformerFactory
}

func (g *generated) handle(_ context.Context, h toolscache.ResourceEventHandler) error {
	_, err := g.informers.Core().V1().ConfigMaps().Informer().AddEventHandler(h)
	return err
}

func (g *generated) cached(context.Context) ([]*corev1.ConfigMap, error) {
	return g.informers.Core().V1().ConfigMaps().Lister().List(labels.Everything())
}

func (g *generated) get(_ context.Context, name types.NamespacedName) (*corev1.ConfigMap, error) {
	return g.informers.Core().V1().ConfigMaps().Lister().ConfigMaps(name.Namespace).Get(name.Name)
}

func (g *generated) patch(ctx context.Context, name types.NamespacedName, text string) error {
	_, err := g.clients.CoreV1().ConfigMaps(name.Namespace).Patch(ctx, name.Name, types.MergePatchType,
		[]byte(text), metav1.PatchOptions{})
	return err
}
