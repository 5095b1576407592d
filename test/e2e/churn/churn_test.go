package churn_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/envtest/record"
	"github.com/kubewright/kubewright/test/e2e/churn"
)

// memory is a server for a single type.
type memory struct {
	objects map[string]metav1.ObjectMeta
	version int
}

var errRefused = errors.New("refused")

func (m *memory) put(obj *metav1.ObjectMeta) (*metav1.ObjectMeta, error) {
	m.version++
	stored := *obj
	stored.ResourceVersion = fmt.Sprint(m.version)
	m.objects[obj.Name] = stored
	return &stored, nil
}

func (m *memory) Create(
	_ context.Context, obj *metav1.ObjectMeta, _ metav1.CreateOptions,
) (*metav1.ObjectMeta, error) {
	if _, present := m.objects[obj.Name]; present {
		return nil, errRefused
	}
	return m.put(obj)
}

func (m *memory) Update(
	_ context.Context, obj *metav1.ObjectMeta, _ metav1.UpdateOptions,
) (*metav1.ObjectMeta, error) {
	if old, present := m.objects[obj.Name]; !present || old.Generation == obj.Generation ||
		old.ResourceVersion != obj.ResourceVersion {
		return nil, errRefused
	}
	return m.put(obj)
}

func (m *memory) Delete(_ context.Context, name string, _ metav1.DeleteOptions) error {
	if _, present := m.objects[name]; !present {
		return errRefused
	}
	delete(m.objects, name)
	return nil
}

func TestChurn(t *testing.T) {
	m := &memory{objects: map[string]metav1.ObjectMeta{}}
	c := churn.New(m, 1,
		func(name string) *metav1.ObjectMeta { return &metav1.ObjectMeta{Name: name} },
		func(obj *metav1.ObjectMeta, n int) { obj.Generation = int64(n) },
	)
	if err := c.Run(t.Context(), 1000); err != nil {
		t.Fatal(err)
	}
	name, version, err := c.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[cache.ObjectName]string{}
	for name, obj := range m.objects {
		want[cache.ObjectName{Name: name}] = obj.ResourceVersion
	}
	if got := record.After(c.Done()); !maps.Equal(got, want) || got[name] != version {
		t.Errorf("the account ends in %v, the server has %v", got, want)
	}
	did := map[string]int{}
	for _, e := range c.Done() {
		did[e.What]++
	}
	if len(c.Done()) != 1001 || did[record.Added] < 100 || did[record.Updated] < 100 ||
		did[record.Deleted] < 100 {
		t.Errorf("did %v", did)
	}
}
