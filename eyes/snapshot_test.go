package eyes_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	clientgoqueue "k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// TestEmpty checks that lists without elements are such in JSON, also at the first look.
func TestEmpty(t *testing.T) {
	e := eyes.New(eyes.Options{})
	const want = `"findings":[],"informers":[],"queues":[],"members":[]}`
	for range 2 {
		text, err := json.Marshal(e.Snapshot())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(string(text), want) {
			t.Errorf("%s, want %s at the end", text, want)
		}
	}
	e.AddInformer("shop", cache.NewSharedInformer(&cache.ListWatch{}, &corev1.Pod{}, 0)) // client-go's
	text, err := json.Marshal(e.Snapshot())
	if err != nil || !strings.Contains(string(text), `"handlers":[],"unread":"the informer isn't`) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestErrorsDontNameObjects checks that the name of an object goes from the text of an error, and that other
// words keep its letters.
func TestErrorsDontNameObjects(t *testing.T) {
	for name, want := range map[string]string{
		"pods":   `(name) "(name)" is forbidden: no`, // in doubt, more goes
		"is":     `pods "(name)" (name) forbidden: no`,
		"for":    `pods "(name)" is forbidden: no`,
		"a:b":    `pods "(name)" is forbidden: no`,
		":b":     `pods "(name)" is forbidden: no`,
		"ünused": `pods "(name)" is forbidden: no`,
	} {
		e := eyes.New(eyes.Options{})
		e.AddCaches("shop", statuses{{LastError: apierrors.NewForbidden(
			schema.GroupResource{Resource: "pods"}, name, errors.New("no"))}})
		if got := e.Snapshot().Informers[0]; got.LastError != want || got.LastErrorKey != "" {
			t.Errorf("%s: the error is %q, want %q", name, got.LastError, want)
		}
	}
}

// TestNilQueue checks that AddQueue refuses what AsQueue returns for client-go's queues, where it is called.
func TestNilQueue(t *testing.T) {
	q := clientgoqueue.NewTyped[string]()
	defer q.ShutDown()
	for _, nothing := range []eyes.StatusQueue{nil, workqueue.AsQueue(q)} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, "bakeries needs a queue, got nil") {
					t.Errorf("AddQueue of %T: %q", nothing, text)
				}
			}()
			eyes.New(eyes.Options{}).AddQueue("bakeries", nothing)
		}()
	}
}
