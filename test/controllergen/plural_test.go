package main

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/gobuffalo/flect"

	"github.com/kubewright/kubewright/generators/internal/crd"
)

// TestPlurals compares the plurals of random kinds with those of the library that controller-gen has.
func TestPlurals(t *testing.T) {
	text, err := os.ReadFile("../../generators/internal/crd/plurals.txt")
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"Pod", "Config", "V1", "x", "Metadata", "Index", "DNS", "Dns", "IPs", "A", "S", "Policy"}
	separates := func(r rune) bool { return strings.ContainsRune(" \n:!>-=#", r) }
	for _, word := range strings.FieldsFunc(string(text), separates) {
		words = append(words, word, strings.ToUpper(word[:1])+word[1:])
	}
	r := rand.New(rand.NewPCG(seed(t), 2))
	for range 100000 {
		kind := ""
		for range 1 + r.IntN(3) {
			kind += words[r.IntN(len(words))]
		}
		kind = strings.ToUpper(kind[:1]) + kind[1:]
		if got, want := crd.Plural(kind), strings.ToLower(flect.Pluralize(kind)); got != want {
			t.Fatalf("the plural of %s is %s, not %s", kind, got, want)
		}
	}
}
