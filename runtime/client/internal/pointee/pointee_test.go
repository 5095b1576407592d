package pointee

import "testing"

func TestNew(t *testing.T) {
	type object struct{ n int }
	a, b := New[*object](), New[*object]()
	if a == b || *a != (object{}) {
		t.Errorf("%p, %p: %v", a, b, *a)
	}
}
