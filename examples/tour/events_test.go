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

// Events show people what a controller did, in kubectl describe. They are objects of their own, which a
// broadcaster writes in the background. It counts equal events in one object, and drops some if there are too
// many, so never base decisions on them.
func TestEvents(t *testing.T) {
	clients, err := kubernetes.NewForConfig(serverConfig(t)) // of server_test.go, like namespace and bakery
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
	// With the empty argument, each event goes to its object's namespace.
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: clients.CoreV1().Events("")})
	// The recorder takes the kind of the event's object from the scheme.
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
