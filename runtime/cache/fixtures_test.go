package cache_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgo "k8s.io/client-go/tools/cache"
)

// pod returns an object that both sides share.
func pod(namespace, name, version string, labels ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name,
		ResourceVersion: version}}
	for _, label := range labels {
		if p.Labels == nil {
			p.Labels = map[string]string{}
		}
		p.Labels[label] = "yes"
	}
	return p
}

// byLabel indexes objects by the names of their labels.
func byLabel(obj any) ([]string, error) {
	var values []string
	for label := range obj.(metav1.Object).GetLabels() {
		values = append(values, label)
	}
	return values, nil
}

func indexers() clientgo.Indexers {
	return clientgo.Indexers{"namespace": clientgo.MetaNamespaceIndexFunc, "label": byLabel}
}

// names formats the objects that a store or a queue returns, sorted if sorted is set.
func names(objs []any, sorted bool) string {
	list := make([]string, len(objs))
	for i, obj := range objs {
		list[i] = text(obj)
	}
	if sorted {
		slices.Sort(list)
	}
	return strings.Join(list, " ")
}

// text formats an object, or the form in which a queue returns one.
func text(obj any) string {
	switch obj := obj.(type) {
	case nil:
		return "nil"
	case error:
		return "error"
	case *corev1.Pod:
		return fmt.Sprintf("%s/%s@%s", obj.Namespace, obj.Name, obj.ResourceVersion)
	case clientgo.DeletedFinalStateUnknown:
		return fmt.Sprintf("gone(%s %s)", obj.Key, text(obj.Obj))
	case clientgo.Delta:
		return string(obj.Type) + ":" + text(obj.Object)
	case clientgo.Deltas:
		list := make([]any, len(obj))
		for i, d := range obj {
			list[i] = d
		}
		return "{" + names(list, false) + "}"
	}
	return fmt.Sprintf("%v", obj)
}

func ordered(list []string) string {
	list = slices.Clone(list)
	slices.Sort(list)
	return strings.Join(list, " ")
}

var errBad = errors.New("bad object")

// badName is the name of pods without a key.
const badName = "bad"

func keyFunc(obj any) (string, error) {
	if p, ok := obj.(*corev1.Pod); ok && p.Name == badName {
		return "", errBad
	}
	return clientgo.DeletionHandlingMetaNamespaceKeyFunc(obj)
}

// randomPods makes objects with few different names and growing versions.
type randomPods struct {
	*rand.Rand
	version int
	bad     bool // whether some have no key
}

func (r *randomPods) one() *corev1.Pod {
	r.version++
	name := string(rune('a' + r.IntN(4)))
	if r.bad && r.IntN(20) == 0 {
		name = badName
	}
	p := pod(string(rune('x'+r.IntN(2))), name, fmt.Sprint(r.version))
	for _, label := range []string{"red", "big"} {
		if r.IntN(2) == 0 {
			p.Labels = map[string]string{label: "yes"}
		}
	}
	return p
}

func (r *randomPods) some() []any {
	list := []any{}
	seen := map[string]bool{}
	for range r.IntN(6) {
		if p := r.one(); !seen[p.Namespace+p.Name] {
			seen[p.Namespace+p.Name] = true
			list = append(list, p)
		}
	}
	return list
}

// eachSeed runs f with many random seeds.
func eachSeed(t *testing.T, f func(t *testing.T, r *randomPods)) {
	for seed := range uint64(60) {
		f(t, &randomPods{Rand: rand.New(rand.NewPCG(seed, 0))})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// kind returns the kind of an error, without the objects in its message.
func kind(err error) string {
	if txn, ok := err.(*clientgo.TransactionError); ok {
		return fmt.Sprintf("%v of %d, %d errors", txn.SuccessfulIndices, txn.TotalTransactions,
			len(txn.Errors))
	}
	return fmt.Sprintf("%T %t", err, errors.Is(err, errBad))
}

// same compares the results of both sides.
func same(t *testing.T, what string, ours, theirs any) {
	t.Helper()
	if a, b := text(ours), text(theirs); a != b {
		t.Errorf("%s: %s, theirs %s", what, a, b)
	}
}
