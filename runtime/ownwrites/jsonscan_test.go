package ownwrites

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestScanIsDecoding compares what is found in texts that arrive in random pieces with what encoding/json
// finds.
func TestScanIsDecoding(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range r.IntN(150) {
			b.WriteString([]string{`"`, `\`, "a", "{", "}", "[", ":", ",", "\n", "ü", "\\\""}[r.IntN(11)])
		}
		return b.String()
	}
	for range 3000 {
		meta := metav1.ObjectMeta{
			Name: text(), Namespace: text(), UID: types.UID(text()), ResourceVersion: text(),
			Annotations:     map[string]string{text(): text(), "uid": "wrong"},
			OwnerReferences: []metav1.OwnerReference{{Name: text(), UID: "wrong", Kind: "wrong"}},
		}
		if r.IntN(2) == 0 {
			meta.Labels = map[string]string{text(): text(), "a": "b"}
		}
		encoded, err := json.Marshal(map[string]any{
			"kind": "Pod", "metadata": meta, "data": map[string]any{"metadata": text(), "kind": 3},
			"items": []any{text(), map[string]string{"uid": "wrong"}, nil, 1.5, true}, text(): text(),
		})
		if err != nil {
			t.Fatal(err)
		}
		var found answer
		s := new(jsonScan)
		over := false
		for rest := encoded; len(rest) > 0 && !over; {
			n := min(1+r.IntN(80), len(rest))
			over = s.write(rest[:n], &found)
			rest = rest[n:]
		}
		if !over || found.kind != "Pod" || found.name != meta.Name || found.namespace != meta.Namespace ||
			found.uid != string(meta.UID) || found.version != meta.ResourceVersion ||
			!maps.Equal(found.labels, meta.Labels) {
			t.Fatalf("found %+v in %s", found, encoded)
		}
	}
}
