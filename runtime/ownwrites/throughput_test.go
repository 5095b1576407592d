//go:build unix

package ownwrites_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/runtime/client"
	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/runtime/queue"
	own "github.com/kubewright/kubewright/runtime/workqueue"
)

// BenchmarkReconcileWithWrite is a reconcile that updates an object on a server in memory, without and with a
// tracker. Both take turns, so that what else the machine does matters little, and there are two of each, as
// what is made later is slower. "throughput" is the median of how many reconciles run with a tracker, for one
// without, and "throughput/cpu" the same for a second of CPU.
func BenchmarkReconcileWithWrite(b *testing.B) {
	for _, workers := range []int{1, 16, 64} {
		b.Run(fmt.Sprint("workers=", workers), func(b *testing.B) {
			var sides []*throughput
			tracks := []bool{false, true, true, false}
			for _, tracks := range tracks {
				s := newThroughput(b, workers, tracks)
				s.round()
				sides = append(sides, s)
			}
			var ratios []float64
			var cpu [2]time.Duration
			rounds := 0
			for ; b.Loop(); rounds++ {
				var took [2]time.Duration
				for i := range sides {
					i = (i + rounds) % len(sides)
					kind := 0
					if tracks[i] {
						kind = 1
					}
					before := cpuTime(b)
					took[kind] += sides[i].round()
					cpu[kind] += cpuTime(b) - before
				}
				ratios = append(ratios, took[0].Seconds()/took[1].Seconds())
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "throughput")
			b.ReportMetric(cpu[0].Seconds()/cpu[1].Seconds(), "throughput/cpu")
			writes := float64(2 * rounds * writesInRound)
			b.ReportMetric(float64(cpu[0].Nanoseconds())/writes, "cpu-ns/without")
			b.ReportMetric(float64(cpu[1].Nanoseconds())/writes, "cpu-ns/with")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// writesInRound is the number of objects: each is written once.
const writesInRound = 256

// throughput is a queue with workers, which update config maps.
type throughput struct {
	queue *queue.Queue[string]
	names []string
	done  sync.WaitGroup
}

func newThroughput(b *testing.B, workers int, tracks bool) *throughput {
	b.Helper()
	t, s := &throughput{}, newServer()
	for n := range writesInRound {
		obj := configMap(fmt.Sprint("config-", n), "app", "part-of", "managed-by")
		obj.Data = map[string]string{"text": strings.Repeat("some text ", 20)}
		obj.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: "controller", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1",
			FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:data":{".":{},"f:text":{}},"f:metadata":{"f:labels":{}}}`)},
		}}
		s.Create(obj)
		t.names = append(t.names, obj.Name)
	}
	i := newInformer(s)
	config := &rest.Config{Host: "http://api", Transport: &api{server: s}, QPS: -1}
	if tracks {
		tracker := &ownwrites.Tracker{}
		config.Wrap(tracker.Transport)
		if err := tracker.Add(i); err != nil {
			b.Fatal(err)
		}
		t.queue = ownwrites.NewQueue(tracker, queue.Config[string]{})
	} else {
		t.queue = queue.New(queue.Config[string]{})
	}
	all, err := client.For[*corev1.ConfigMap, *corev1.ConfigMapList](config, scheme.Scheme)
	if err != nil {
		b.Fatal(err)
	}
	maps := all.Namespace("shop")
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { i.RunWithContext(ctx) })
	for !i.HasSynced() {
		<-i.HasSyncedChecker().Done()
	}
	running.Go(func() {
		err := own.Run(ctx, t.queue, workers, func(ctx context.Context, name string) (own.Result, error) {
			defer t.done.Done()
			cached, _, err := i.GetStore().GetByKey("shop/" + name)
			if err == nil {
				changed := cached.(*corev1.ConfigMap).DeepCopy()
				changed.ResourceVersion = "" // Without a tracker it may be outdated.
				_, err = maps.Update(ctx, changed, metav1.UpdateOptions{})
			}
			if err != nil {
				b.Error(err)
			}
			return own.Result{}, nil
		})
		if err != nil {
			b.Error(err)
		}
	})
	b.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return t
}

// round reconciles each object, and returns how long that takes.
func (t *throughput) round() time.Duration {
	begin := time.Now()
	t.done.Add(len(t.names))
	for _, name := range t.names {
		t.queue.Add(name)
	}
	t.done.Wait()
	return time.Since(begin)
}
