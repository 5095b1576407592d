package conformance

import (
	"fmt"
	"strings"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubewright/kubewright/internal/bubble"
)

// DetectorScenarios need KUBE_CACHE_MUTATION_DETECTOR to be true when the process
// starts.
var DetectorScenarios = []ToolScenario{
	{Name: "MutationDetector: an object that was changed", Script: func(b *Bench) { b.detect(func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"k": "v"} }) }},
	{Name: "MutationDetector: objects that weren't", Script: func(b *Bench) { b.detect(func(*corev1.ConfigMap) {}) }},
}

// detect has a detector look for what do changes.
func (b *Bench) detect(do func(*corev1.ConfigMap)) {
	d := b.Tools.MutationDetector("objects")
	cm := object("a", "1")
	d.AddObject(cm)
	d.AddObject(object("b", "1"))
	stop := make(chan struct{})
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer func() { b.Note("panics %t", strings.Contains(fmt.Sprint(recover()), "objects modified")) }()
		d.Run(stop)
	}()
	// Between two looks of the detector; what is added tells it, and the race
	// detector, that what comes later comes after the change.
	bubble.Pass(10*time.Second + 500*time.Millisecond)
	synctest.Wait()
	do(cm)
	d.AddObject(object("c", "1"))
	bubble.Pass(10 * time.Second)
	close(stop)
	<-over
}
