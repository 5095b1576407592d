package conformance_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgo "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/internal/conformance"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // the scenarios provoke errors
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
	ungenerated = conformance.Implementation{Name: "factory.For", ConfigMapsOnly: true,
		New: func(s *conformance.ConfigMaps, o conformance.InformerOptions) clientgo.SharedIndexInformer {
			made, err := factory.For(factory.New(o.ResyncPeriod), resource{s})
			if err != nil {
				panic(err)
			}
			// It has this index already.
			delete(o.Indexers, clientgo.NamespaceIndex)
			if err := made.Informer().AddIndexers(o.Indexers); err != nil {
				panic(err)
			}
			return made.Informer()
		}}
)

// resource is a server of config maps that looks like a client of client.For.
type resource struct{ *conformance.ConfigMaps }

func (resource) Get(context.Context, string, metav1.GetOptions) (*corev1.ConfigMap, error) {
	return nil, errors.New("informers don't get objects")
}

// Resource returns no resource, so that the informer is named after the type of its objects, as client-go's
// are. docs/differences.md has the other names.
func (resource) Resource() schema.GroupVersionResource { return schema.GroupVersionResource{} }

// TestConformance checks that our informers behave as client-go's do.
func TestConformance(t *testing.T) {
	conformance.Conform(t, conformance.Scenarios, conformance.ClientGo, facade, typed, ungenerated)
}

// deaf is an informer that reports no deletions to its handlers.
type deaf struct{ clientgo.SharedIndexInformer }

func (d deaf) AddEventHandlerWithOptions(
	h clientgo.ResourceEventHandler, o clientgo.HandlerOptions,
) (clientgo.ResourceEventHandlerRegistration, error) {
	return d.SharedIndexInformer.AddEventHandlerWithOptions(
		clientgo.ResourceEventHandlerDetailedFuncs{AddFunc: h.OnAdd, UpdateFunc: h.OnUpdate}, o)
}

// TestRigCanFail checks that the rig finds the fault of an implementation, and finds none in a correct one.
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
