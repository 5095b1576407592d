package conformance_test

import (
	"slices"
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	clientgo "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/conformance"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // What goes wrong in the scenarios goes wrong on purpose.
	runtimetest.WithoutErrorBackoff()
	goleak.VerifyTestMain(m)
}

var (
	facade = conformance.Implementation{Name: "cache",
		New: func(s *conformance.ConfigMaps, o conformance.InformerOptions) clientgo.SharedIndexInformer {
			lw, example := o.Source(s)
			return cache.NewSharedIndexInformer(lw, example, o.ResyncPeriod, o.Indexers)
		}}
	typed = conformance.Implementation{Name: "informer", ConfigMapsOnly: true,
		New: func(s *conformance.ConfigMaps, o conformance.InformerOptions) clientgo.SharedIndexInformer {
			return informer.NewShared[*corev1.ConfigMap](
				func() informer.ResourceClient[*corev1.ConfigMapList] { return s },
				informer.Options{Client: s, ResyncPeriod: o.ResyncPeriod, Indexers: o.Indexers})
		}}
)

// Our informers do what client-go's do.
func TestConformance(t *testing.T) {
	conformance.Conform(t, conformance.Scenarios, conformance.ClientGo, facade, typed)
}

// deaf is an informer that tells its handlers nothing of deletions.
type deaf struct{ clientgo.SharedIndexInformer }

func (d deaf) AddEventHandlerWithOptions(
	h clientgo.ResourceEventHandler, o clientgo.HandlerOptions,
) (clientgo.ResourceEventHandlerRegistration, error) {
	return d.SharedIndexInformer.AddEventHandlerWithOptions(
		clientgo.ResourceEventHandlerDetailedFuncs{AddFunc: h.OnAdd, UpdateFunc: h.OnUpdate}, o)
}

// The rig notices what an implementation does wrong, and nothing else.
func TestRigCanFail(t *testing.T) {
	wrong := conformance.Implementation{Name: "deaf",
		New: func(s *conformance.ConfigMaps, o conformance.InformerOptions) clientgo.SharedIndexInformer {
			return deaf{conformance.ClientGo.New(s, o)}
		}}
	noticed := 0
	for _, s := range conformance.Scenarios {
		want := s.Play(t, conformance.ClientGo)
		if !slices.Equal(want, s.Play(t, conformance.ClientGo)) {
			t.Errorf("%s: two transcripts of one implementation differ", s.Name)
		}
		if !slices.Equal(want, s.Play(t, wrong)) {
			noticed++
		}
	}
	if noticed == 0 || noticed == len(conformance.Scenarios) {
		t.Errorf("%d of %d scenarios noticed that deletions are not reported", noticed,
			len(conformance.Scenarios))
	}
}
