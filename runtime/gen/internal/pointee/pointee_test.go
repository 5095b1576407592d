package pointee

import "testing"

func TestNew(t *testing.T) {
	type object struct{ n int }
	a, b := New[*object](), New[*object]()
	if a.n = 1; a == b || b.n != 0 {
		t.Errorf("%p, %p: %v", a, b, *b)
	}
}
