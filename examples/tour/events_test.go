package tour

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/scheme"
)

// Events tell people what a controller did, with kubectl describe. They are objects of their own, which a
// broadcaster writes in the background: equal ones are counted in one object, and too many are dropped.
// Never read them to decide anything.
func TestEvents(t *testing.T) {
	clients, err := kubernetes.NewForConfig(serverConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	events := clients.CoreV1().Events(namespace(t))
	written, err := events.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer written.Stop()

	broadcaster := record.NewBroadcaster(record.WithContext(t.Context()))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: clients.CoreV1().Events("")})
	// The scheme gives the kind of the object that the event is about.
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "bakery-controller"})
	ann := bakery(t, "ann")
	recorder.Eventf(ann, corev1.EventTypeNormal, "Hired", "%d bakers work here now", ann.Spec.Bakers)

	event, ok := (<-written.ResultChan()).Object.(*corev1.Event)
	if !ok {
		t.Fatal("the watch ended")
	}
	about := event.InvolvedObject.Kind + " " + event.InvolvedObject.Name
	if about != "Bakery ann" || event.Reason != "Hired" || event.Message != "1 bakers work here now" {
		t.Errorf("about %s: %s: %s", about, event.Reason, event.Message)
	}
}
