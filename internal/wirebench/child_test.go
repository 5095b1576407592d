package wirebench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	goruntime "runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/client"
	"github.com/kubewright/kubewright/runtime/decode"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// cost is what a process paid to have everything in its cache.
type cost struct {
	// CPU is that of the whole process, from before its informer existed until
	// that had synced.
	CPU time.Duration
	// Peak is the largest resident set, Live the heap that is in use after a
	// garbage collection, in bytes.
	Peak, Live int64
	Mallocs    uint64
}

// child is set in processes that are measured, to what they measure.
const child = "WIREBENCH_CHILD"

func TestMain(m *testing.M) {
	if mode := os.Getenv(child); mode != "" {
		json.NewEncoder(os.Stdout).Encode(measure(mode, os.Getenv("WIREBENCH_SERVER")))
		return
	}
	os.Exit(m.Run())
}

func measure(mode, server string) cost {
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	start := processCPU()
	i := modes[mode](server)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	go i.RunWithContext(ctx)
	select {
	case <-i.HasSyncedChecker().Done():
	case <-ctx.Done():
		panic("it doesn't sync")
	}
	c := cost{CPU: processCPU() - start, Peak: peak()}
	goruntime.GC()
	goruntime.GC()
	goruntime.ReadMemStats(&after)
	c.Live, c.Mallocs = int64(after.HeapAlloc)-int64(before.HeapAlloc), after.Mallocs-before.Mallocs
	if n := len(i.GetStore().ListKeys()); n != objects {
		panic(fmt.Sprintf("%d objects", n))
	}
	return c
}

func processCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func peak() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	kb, _ := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
	return kb << 10
}

type workloads = client.ClientWithList[*Workload, *WorkloadList]

func newClient(server string) *workloads {
	config := &rest.Config{Host: server, QPS: -1}
	group := client.Group{Version: groupVersion, APIPath: "/apis", Scheme: scheme, Codecs: codecs}
	httpClient := client.Must(rest.HTTPClientFor(config))
	c := client.Must(group.RESTClient(config, httpClient))
	return client.NewWithList[Workload, WorkloadList](c, parameters, "workloads", "")
}

// modes are what is measured. Whether lists are streamed as watches is decided
// by client-go's feature gate, in the environment.
var modes = map[string]func(server string) cache.SharedIndexInformer{
	"ours": func(server string) cache.SharedIndexInformer {
		return ours(server, listwatch.DecodingOptions{})
	},
	"drop": func(server string) cache.SharedIndexInformer {
		return ours(server, listwatch.DecodingOptions{Options: decode.Options{Drop: []string{"metadata.managedFields"}}})
	},
	"share": func(server string) cache.SharedIndexInformer {
		return ours(server, listwatch.DecodingOptions{Options: decode.Options{
			Drop: []string{"metadata.managedFields"}, ShareValues: true,
		}})
	},
	"client-go": func(server string) cache.SharedIndexInformer {
		c := newClient(server)
		return cache.NewSharedIndexInformer(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
				return c.List(ctx, opts)
			},
			WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
				return c.Watch(ctx, opts)
			},
		}, &Workload{}, 0, cache.Indexers{})
	},
}

func ours(server string, decoding listwatch.DecodingOptions) cache.SharedIndexInformer {
	c := newClient(server)
	i := informer.NewShared[Workload](func() listwatch.Client[*WorkloadList] { return c }, informer.Options{})
	if err := informer.SetDecoding(i, decoding); err != nil {
		panic(err)
	}
	return i
}
