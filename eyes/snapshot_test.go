package eyes_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/eyes"
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
