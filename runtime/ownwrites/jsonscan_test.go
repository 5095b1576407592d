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
		found, brief := scanned(t, encoded, false, r), scanned(t, encoded, true, r)
		if found.kind != "Pod" || found.name != meta.Name || found.namespace != meta.Namespace ||
			found.uid != string(meta.UID) || found.version != meta.ResourceVersion ||
			!maps.Equal(found.labels, meta.Labels) {
			t.Fatalf("found %+v in %s", found, encoded)
		}
		if brief.kind != "Pod" || brief.name != meta.Name || brief.uid != found.uid ||
			brief.version != found.version {
			t.Fatalf("found %+v in %s", brief, encoded)
		}
	}
}

// scanned returns what is found in a text that arrives in random pieces.
func scanned(t *testing.T, text []byte, brief bool, r *rand.Rand) (found answer) {
	s := &jsonScan{brief: brief}
	for rest := text; len(rest) > 0; {
		n := min(1+r.IntN(80), len(rest))
		if s.write(rest[:n], &found) {
			return found
		}
		rest = rest[n:]
	}
	t.Fatalf("the scan isn't over at the end of %s", text)
	return found
}
