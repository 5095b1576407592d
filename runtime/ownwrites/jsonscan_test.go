package ownwrites

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
		if r.IntN(2) == 0 {
			meta.CreationTimestamp = metav1.Unix(1, 0)
		}
		if r.IntN(2) == 0 {
			meta.DeletionTimestamp, meta.DeletionGracePeriodSeconds = new(metav1.Unix(2, 0)), new(r.Int64N(3))
		}
		if r.IntN(2) == 0 {
			meta.Finalizers = []string{text()}
		}
		var written any = meta // in the order of API types, or of sorted keys as custom resources
		if r.IntN(2) == 0 {
			sorted, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&meta)
			if err != nil {
				t.Fatal(err)
			}
			written = sorted
		}
		encoded, err := json.Marshal(map[string]any{
			"kind": "Pod", "metadata": written, "data": map[string]any{"metadata": text(), "kind": 3},
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
		deleting, finalizers := meta.DeletionTimestamp != nil, len(meta.Finalizers) > 0
		graced := deleting && *meta.DeletionGracePeriodSeconds > 0
		if found.deleting != deleting || found.graced != graced || found.finalizers != finalizers ||
			brief.deleting != deleting || deleting && (brief.graced != graced || brief.finalizers != finalizers) {
			t.Fatalf("found %+v, and in brief %+v, in %s", found, brief, encoded)
		}
	}
}

// TestBriefScanEnds checks that the scan of an answer whose labels don't matter ends before long metadata, in
// the order of API types, and goes on if the object is being deleted.
func TestBriefScanEnds(t *testing.T) {
	for times, want := range map[string]bool{
		`"creationTimestamp":"2026","labels":`:                                    true,
		`"creationTimestamp":null,"labels":`:                                      true,
		`"creationTimestamp":"2026","deletionTimestamp":"2026","labels":`:         false,
		`"creationTimestamp":"2026","deletionTimestamp":null,"labels":`:           true,
		`"deletionGracePeriodSeconds":0,"deletionTimestamp":"2026","finalizers":`: false,
	} {
		text := `{"kind":"Pod","metadata":{"name":"one","uid":"1","resourceVersion":"2",` + times
		s := &jsonScan{brief: true}
		if over := s.write([]byte(text), &answer{}); over != want {
			t.Errorf("after %s the scan is over: %t", times, over)
		}
	}
}

// TestRemovalOfNamespace checks that no update of a Namespace counts as its removal: it may have some in
// its spec, which an answer with nothing but metadata doesn't show.
func TestRemovalOfNamespace(t *testing.T) {
	for path, want := range map[string]bool{
		"/api/v1/namespaces/one": false, "/api/v1/namespaces/one/pods/one": true,
	} {
		at, _ := targetOf(path)
		w := &write{target: at, uid: "1", answer: &answer{kind: "PartialObjectMetadata", deleting: true}}
		if got := w.removes(); got != want {
			t.Errorf("%s: removed is %t", path, got)
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
