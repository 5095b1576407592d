// Package filters finds out whether API servers filter by shard selectors.
package filters

import (
	"context"
	"errors"
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/runtime/shard"
)

// lower is the half of the hashes of namespaces that ShardSelector selects.
var lower = shard.Ranges{{First: 0, Last: math.MaxUint64 / 2}}

// ShardSelector requests the ConfigMaps of half of the namespaces, and returns whether the server filters
// lists and watches. It leaves two namespaces behind, whose names begin with prefix, with ConfigMaps in them.
func ShardSelector(ctx context.Context, config *rest.Config, prefix string) (lists, watches bool, err error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return false, false, err
	}
	selector, err := shard.Selector(shard.ByNamespace, lower)
	if err != nil {
		return false, false, err
	}
	in, out := inAndOut(prefix)
	for _, name := range []string{in, out} {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		_, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return false, false, err
		}
	}
	create := func(namespace string) error {
		_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx,
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "m-"}}, metav1.CreateOptions{})
		return err
	}
	if err := errors.Join(create(in), create(out)); err != nil {
		return false, false, err
	}
	all := client.CoreV1().ConfigMaps(metav1.NamespaceAll)
	list, err := all.List(ctx, metav1.ListOptions{ShardSelector: selector})
	if err != nil {
		return false, false, err
	}
	namespaces := map[string]bool{}
	for _, item := range list.Items {
		namespaces[item.Namespace] = true
	}
	if !namespaces[in] {
		return false, false, fmt.Errorf("the list by %s has nothing in %s, which it selects", selector, in)
	}
	w, err := all.Watch(ctx, metav1.ListOptions{ShardSelector: selector, ResourceVersion: list.ResourceVersion})
	if err != nil {
		return false, false, err
	}
	defer w.Stop()
	// If the unselected object is delivered, it is delivered first.
	if err := errors.Join(create(out), create(in)); err != nil {
		return false, false, err
	}
	watches = true
	for {
		select {
		case event, ok := <-w.ResultChan():
			m, isMap := event.Object.(*corev1.ConfigMap)
			switch {
			case !ok || event.Type == watch.Error || !isMap:
				return false, false, fmt.Errorf("the watch by %s ended: %v", selector, event.Object)
			case m.Namespace == out:
				watches = false
			case m.Namespace == in:
				return !namespaces[out], watches, nil
			}
		case <-ctx.Done():
			return false, false, fmt.Errorf("the watch by %s had nothing in %s: %w", selector, in,
				context.Cause(ctx))
		}
	}
}

// inAndOut returns a namespace of the lower half, and one of the upper half.
func inAndOut(prefix string) (in, out string) {
	for i := 0; in == "" || out == ""; i++ {
		name := fmt.Sprintf("%s-%d", prefix, i)
		if lower.Contains(shard.Hash(name)) {
			in = name
		} else {
			out = name
		}
	}
	return in, out
}
