package main

import "testing"

func TestTwice(t *testing.T) {
	for _, test := range []struct {
		name           string
		earlier, later bake
		want           bool
	}{
		{"after a failure", bake{"a", 1, 2, 0}, bake{"b", 3, 4, 9}, false},
		{"at once", bake{"a", 1, 3, 0}, bake{"b", 2, 4, 9}, true},
		{"while nobody knows", bake{"a", 1, 0, 0}, bake{"b", 2, 4, 9}, true},
		{"after another's success", bake{"a", 1, 2, 8}, bake{"b", 3, 4, 0}, true},
		{"again, in vain", bake{"a", 1, 2, 8}, bake{"a", 3, 4, 0}, false},
		{"two successes", bake{"a", 1, 2, 8}, bake{"a", 3, 4, 9}, true},
	} {
		if got := twice(test.earlier, test.later); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
