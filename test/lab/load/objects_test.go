package load

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
)

const (
	namespace = "load"
	// written is the annotation with the time of the write, in nanoseconds since 1970.
	written = "lab/written"
	// marker is the name of the object that is created after all others.
	marker = "marker"
)

// bakery returns an object of about 1 KB of JSON.
func bakery(name string) *shopv1.Bakery {
	return &shopv1.Bakery{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name,
			Labels: map[string]string{"app": "load", "shard": fmt.Sprint(len(name) % 7)},
			Annotations: map[string]string{
				written: strconv.FormatInt(time.Now().UnixNano(), 10),
				"text":  strings.Repeat(name+" sells bread. ", 400/(len(name)+13)),
			},
		},
		Spec: shopv1.BakerySpec{Bread: "rye of " + name, Market: "market", Bakers: 3},
	}
}

// lagOf returns how long ago an object was written.
func lagOf(b *shopv1.Bakery) time.Duration {
	at, err := strconv.ParseInt(b.Annotations[written], 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(time.Now().UnixNano() - at)
}
