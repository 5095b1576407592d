package clientsource_test

import (
	"bytes"
	"fmt"
	"net/http"
	"reflect"
	goruntime "runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// TestSharingLeaksNothing replaces all objects by others several times, and checks that shared values don't
// keep the replaced objects alive. The live heap may grow by the size of the tables, which are bounded.
func TestSharingLeaksNothing(t *testing.T) {
	const objects = 20_000
	times := 10
	if testing.Short() {
		times = 2
	}
	generation := 0
	c := configMapClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		generation++
		var b bytes.Buffer
		b.WriteString(listHead)
		for k := range objects {
			if k > 0 {
				b.WriteByte(',')
			}
			// These values repeat a few times, so that decoders search for them.
			data := fmt.Sprintf(`{"own":"%d-%d","some":%q}`, generation, k/8,
				strings.Repeat("x", 80)+fmt.Sprint(generation, k/8))
			fmt.Fprintf(&b,
				`{"metadata":{"name":"object-%d-%d","namespace":"ns","annotations":{"a":"%0500d"},`+
					`"labels":%s},"data":%s}`, generation, k, k, data, data)
		}
		b.WriteString("]}")
		w.Write(b.Bytes())
	})
	for _, share := range []bool{false, true} {
		t.Run(fmt.Sprintf("values=%v", share), func(t *testing.T) {
			source := clientsource.FromClient(reflect.TypeFor[*corev1.ConfigMap](),
				func() sources.Client[*corev1.ConfigMapList] { return c },
				clientsource.Options{Decoding: sources.Decoding{ShareValues: share}})
			var all []*corev1.ConfigMap
			heap := func() int64 {
				all, _ = collect[*corev1.ConfigMap](t, source, metav1.ListOptions{})
				goruntime.GC()
				goruntime.GC()
				var stats goruntime.MemStats
				goruntime.ReadMemStats(&stats)
				return int64(stats.HeapAlloc)
			}
			first, last := heap(), int64(0)
			for range times {
				last = heap()
			}
			t.Logf("%d objects: %d KB, %d KB after %d times others", len(all), first>>10, last>>10, times)
			if last > first+first/20 {
				t.Errorf("%d bytes after the first list, %d after %d more", first, last, times)
			}
			goruntime.KeepAlive(source)
		})
	}
}
