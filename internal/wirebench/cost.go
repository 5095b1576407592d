package wirebench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	goruntime "runtime"
	"runtime/metrics"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
)

// Cost is what a process used.
type Cost struct {
	// CPU is the time of the whole process, from before its informer existed until the informer had synced.
	CPU time.Duration
	// Peak is the largest resident set until then; Live is the heap in use after a garbage collection. Both
	// are in bytes.
	Peak, Live int64
	Mallocs    uint64
	// Stacks is the memory of the goroutines' stacks at that moment, in bytes.
	Stacks int64
	// Received is the number of bytes received until the informer had synced, including those of HTTP.
	Received int64
	// Streamed is how many lists and watches an informer of ours has read as streams.
	Streamed int
	// Relist is the cost of a further list, if there was one.
	Relist Relist
}

// Relist is the cost of listing everything once more.
type Relist struct {
	CPU       time.Duration
	Allocated uint64
	// Peak is the largest resident set, Live the largest heap that a garbage
	// collection found in use, in bytes.
	Peak, Live int64
}

// Server describes the server of the objects.
type Server struct {
	// Host is its address. Token, Name and CA, in PEM, are for a server with TLS.
	Host, Token, Name string
	CA                []byte
	// Objects is the number of objects.
	Objects int
	// Relist, if not empty, is a URL to post to: the server then adds an object named "relisted", and ends
	// all watches as expired.
	Relist string
	// Program is a program that calls [Child]. The default is the running program.
	Program string
	// Uncompressed makes clients ask for responses that aren't compressed.
	Uncompressed bool
	// Repeat multiplies [Rounds], for modes whose costs vary much from round to round. 0 counts as 1.
	Repeat int
}

func (s Server) config() *rest.Config {
	return &rest.Config{Host: s.Host, BearerToken: s.Token, Dial: dial, DisableCompression: s.Uncompressed,
		TLSClientConfig: rest.TLSClientConfig{ServerName: s.Name, CAData: s.CA}, QPS: -1}
}

// received counts the bytes that all connections have received.
var received atomic.Int64

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return counted{c}, nil
}

type counted struct{ net.Conn }

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	received.Add(int64(n))
	return n, err
}

// job describes what a process has to measure. It is passed in the environment.
type job struct {
	Mode   string
	Server Server
	// Selector is that of the informer's part, "" for none.
	Selector string
	// Informers is how many informers run at a time; Live and Stacks cover all of them.
	Informers int
}

const variable = "WIREBENCH_JOB"

// Child does the measurement for which this process was started, and exits. It returns if the process was
// started for something else. It has the modes of this package, and others.
func Child(others Modes) {
	text := os.Getenv(variable)
	if text == "" {
		return
	}
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		panic(err)
	}
	mode := own[j.Mode]
	if mode == nil {
		mode = others[j.Mode]
	}
	if mode == nil {
		panic("no mode " + j.Mode)
	}
	if err := json.NewEncoder(os.Stdout).Encode(measure(j, mode)); err != nil {
		panic(err)
	}
	os.Exit(0)
}

func measure(j job, mode func(*rest.Config) cache.SharedIndexInformer) (c Cost) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var before, after goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&before)
	start := processCPU()
	var others []cache.SharedIndexInformer
	for range j.Informers - 1 {
		i := mode(j.Server.config())
		others = append(others, i)
		go i.RunWithContext(ctx)
	}
	i := mode(j.Server.config())
	if j.Selector != "" {
		narrow(i, j.Selector)
	}
	relisted := make(chan struct{})
	if j.Server.Relist != "" {
		must(i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
			if obj.(metav1.Object).GetName() == "relisted" {
				close(relisted)
			}
		}}))
	}
	go i.RunWithContext(ctx)
	await(ctx, i.HasSyncedChecker().Done())
	for _, i := range others {
		await(ctx, i.HasSyncedChecker().Done())
	}
	c = Cost{CPU: processCPU() - start, Peak: peak(), Received: received.Load()}
	goruntime.GC()
	goruntime.GC()
	goruntime.ReadMemStats(&after)
	c.Live, c.Mallocs = int64(after.HeapAlloc)-int64(before.HeapAlloc), after.Mallocs-before.Mallocs
	c.Stacks = int64(after.StackInuse) - int64(before.StackInuse)
	if n := len(i.GetStore().ListKeys()); n != j.Server.Objects {
		panic(fmt.Sprintf("%d objects", n))
	}
	if status, ok := informer.StatusOf(i); ok {
		c.Streamed = status.Reading.Streamed
	}
	if j.Server.Relist != "" {
		c.Relist = relist(ctx, j.Server.Relist, relisted)
	}
	goruntime.KeepAlive(i)
	goruntime.KeepAlive(others)
	return c
}

func relist(ctx context.Context, url string, done <-chan struct{}) (r Relist) {
	// This resets the peak.
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		panic(err)
	}
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	start := processCPU()
	must(http.Post(url, "", nil)).Body.Close()
	for waiting := true; waiting; {
		select {
		case <-ticker.C:
		case <-done:
			waiting = false
		case <-ctx.Done():
			panic("no relist")
		}
		metrics.Read(live)
		r.Live = max(r.Live, int64(live[0].Value.Uint64()))
	}
	r.CPU, r.Peak = processCPU()-start, peak()
	goruntime.ReadMemStats(&after)
	r.Allocated = after.TotalAlloc - before.TotalAlloc
	return r
}

func await(ctx context.Context, done <-chan struct{}) {
	select {
	case <-done:
	case <-ctx.Done():
		panic("it doesn't sync")
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func processCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// peak returns the largest resident set in bytes, or 0 if the system doesn't report it.
func peak() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	kb, _ := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
	return kb << 10
}
