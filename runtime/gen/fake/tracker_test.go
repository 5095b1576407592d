package fake_test

import (
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/kubewright/kubewright/runtime/gen/fake"
)

var scheme = runtime.NewScheme()

func init() {
	if err := appsv1.AddToScheme(scheme); err != nil {
		panic(err)
	}
}

func named(name string, labels map[string]string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", Labels: labels}}
}

// TestTracker checks that both trackers answer reads and writes from their contents, and notify watches.
func TestTracker(t *testing.T) {
	decoder := serializer.NewCodecFactory(scheme).UniversalDecoder()
	for name, track := range map[string]func(
		*clienttesting.Fake, ...runtime.Object,
	) clienttesting.ObjectTracker{
		"plain": func(f *clienttesting.Fake, objects ...runtime.Object) clienttesting.ObjectTracker {
			return fake.NewTracker(f, scheme, decoder, objects...)
		},
		"managed": func(f *clienttesting.Fake, objects ...runtime.Object) clienttesting.ObjectTracker {
			return fake.NewManagedTracker(f, scheme, decoder,
				managedfields.NewDeducedTypeConverter(), objects...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &clienttesting.Fake{}
			tracker := track(f, named("there", nil))
			d := newFakeDeployments(f)
			if _, err := d.Get(t.Context(), "there", metav1.GetOptions{}); err != nil {
				t.Error(err)
			}
			if _, err := d.Get(t.Context(), "nowhere", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("error %v, want not found", err)
			}
			stream, err := d.Watch(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Stop()
			if _, err := d.Create(t.Context(), named("new", nil), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"there", "new"} {
				event := <-stream.ResultChan()
				if got := event.Object.(*appsv1.Deployment).Name; event.Type != watch.Added || got != want {
					t.Errorf("%s %s, want %s added", event.Type, got, want)
				}
			}
			if _, err := tracker.Get(gvr, "ns", "new"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestManagedTrackerApplies checks that a managed tracker merges an applied configuration into the object.
func TestManagedTrackerApplies(t *testing.T) {
	f := &clienttesting.Fake{}
	decoder := serializer.NewCodecFactory(scheme).UniversalDecoder()
	fake.NewManagedTracker(f, scheme, decoder, managedfields.NewDeducedTypeConverter(),
		named("there", map[string]string{"kept": "yes"}))
	c := fake.NewWithApply[*appsv1.Deployment, *labelled](f, "ns", gvr, gvk)
	configuration := &labelled{Kind: "Deployment", APIVersion: "apps/v1"}
	configuration.Metadata.Name, configuration.Metadata.Labels = ptr.To("there"),
		map[string]string{"added": "too"}
	got, err := c.Apply(t.Context(), configuration, metav1.ApplyOptions{FieldManager: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Labels["kept"] != "yes" || got.Labels["added"] != "too" {
		t.Errorf("labels %v", got.Labels)
	}
}

type labelled struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	Metadata   struct {
		Name   *string           `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
}

func (l *labelled) GetName() *string { return l.Metadata.Name }

func TestTrackerPanicsOnForeignObject(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	fake.NewTracker(&clienttesting.Fake{}, scheme, serializer.NewCodecFactory(scheme).UniversalDecoder(),
		&metav1.Status{})
}

// TestReactorsComeFirst checks that a reactor of the test runs before the tracker and decides object and
// error.
func TestReactorsComeFirst(t *testing.T) {
	f := &clienttesting.Fake{}
	fake.NewTracker(f, scheme, serializer.NewCodecFactory(scheme).UniversalDecoder())
	refused := errors.New("refused")
	f.PrependReactor("update",
		"deployments", func(action clienttesting.Action) (bool, runtime.Object, error) {
			return action.GetSubresource() == "status", named("answer", nil), refused
		})
	got, err := newFakeDeployments(f).UpdateStatus(t.Context(), named("d", nil), metav1.UpdateOptions{})
	if got.Name != "answer" || err != refused {
		t.Errorf("got %v, %v", got, err)
	}
}
