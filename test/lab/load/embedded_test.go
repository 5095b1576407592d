package load

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/envtest/apiserver"
	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/crds"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	typed "github.com/kubewright/kubewright/examples/generated/clientset/versioned/typed/shop/v1"
	"github.com/kubewright/kubewright/internal/child"
)

// embedded is the embedded API server. Writes go through HTTP, like those of other clients.
type embedded struct {
	server   *apiserver.Server
	bakeries typed.BakeryInterface
	versions *sync.Map // of the objects, by name
}

func startEmbedded(ctx context.Context) (server, error) {
	s, err := apiserver.Start(ctx, apiserver.Options{})
	if err != nil {
		return nil, err
	}
	if err := s.InstallCRDs(ctx, crds.Files); err != nil {
		return nil, err
	}
	client, err := versioned.NewForConfig(s.Config())
	if err != nil {
		return nil, err
	}
	return embedded{server: s, bakeries: client.ShopV1().Bakeries(namespace), versions: &sync.Map{}}, nil
}

func (e embedded) address() child.Address { return child.AddressOf(e.server.Config()) }

func (e embedded) create(ctx context.Context, b *shopv1.Bakery) error {
	created, err := e.bakeries.Create(ctx, b, metav1.CreateOptions{})
	if err == nil {
		e.versions.Store(b.Name, created.ResourceVersion)
	}
	return err
}

func (e embedded) update(ctx context.Context, b *shopv1.Bakery) error {
	version, _ := e.versions.Load(b.Name)
	b.ResourceVersion, _ = version.(string)
	updated, err := e.bakeries.Update(ctx, b, metav1.UpdateOptions{})
	if err == nil {
		e.versions.Store(b.Name, updated.ResourceVersion)
	}
	return err
}

func (e embedded) remove(ctx context.Context, name string) error {
	e.versions.Delete(name)
	return e.bakeries.Delete(ctx, name, metav1.DeleteOptions{})
}

func (e embedded) stop() error { return e.server.Stop() }
