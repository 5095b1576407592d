package decode

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// The table of values has bounds, whatever goes through it, and knows how much
// it holds.
func TestValuesAreBounded(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	var v values
	p := &plan{}
	for i := range 100_000 {
		size := random.Intn(200)
		if i > 30_000 && i < 60_000 {
			size = random.Intn(longestValue)
		}
		text := []byte(fmt.Sprint(random.Intn(1+i/3)) + strings.Repeat("x", size))
		b := v.bucket(text)
		if b[1].plan != nil && random.Intn(3) == 0 {
			b[0], b[1] = b[1], b[0] // Found again.
			continue
		}
		v.add(value{plan: p, text: text})
		if v.text > largestText {
			t.Fatalf("%d bytes of text", v.text)
		}
		if i%1000 != 0 {
			continue
		}
		held := 0
		for _, b := range v.buckets {
			held += len(b[0].text) + len(b[1].text)
		}
		if held != v.text {
			t.Fatalf("step %d: %d bytes are held, %d counted", i, held, v.text)
		}
	}
	if len(v.buckets) != largestValues {
		t.Errorf("%d buckets", len(v.buckets))
	}
}

// Values that go round in a circle of 200 are found, and so is what begins to
// repeat after thousands of objects in which it didn't.
func TestSharingFindsLateRepetition(t *testing.T) {
	const objects = 20_000
	var list bytes.Buffer
	list.WriteString(`{"items":[`)
	for i := range objects {
		if i > 0 {
			list.WriteByte(',')
		}
		fickle := i
		if i > 5000 {
			fickle = 7
		}
		fmt.Fprintf(&list, `{"metadata":{"labels":{"circle":"%d"},"annotations":{"fickle":"%d"}}}`, i%200, fickle)
	}
	list.WriteString(`]}`)
	d := New[*corev1.ConfigMap](Options{ShareValues: true})
	n, labels, late := 0, map[string]bool{}, map[string]bool{}
	_, err := d.List(&list, ListVisitor[*corev1.ConfigMap]{Item: func(o *corev1.ConfigMap) error {
		labels[fmt.Sprintf("%p", o.Labels)] = true
		if n++; n > objects/2 {
			late[fmt.Sprintf("%p", o.Annotations)] = true
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(labels) > 1000 {
		t.Errorf("%d maps with 200 different contents", len(labels))
	}
	// One comes with each of the 200 metadata, which are shared as a whole.
	if len(late) > 400 {
		t.Errorf("%d maps with one content", len(late))
	}
}
