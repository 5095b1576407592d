// Package view has read-only views of cached objects. The code that kubewright generates
// with --read-only-views uses it.
//
// A view returns scalars unchanged, structs, lists and maps as views, and other values
// as deep copies. So nothing that a view returns can be used to change the object behind
// it. Views are small values that are cheap to make. They are safe for concurrent use as
// long as the object isn't changed by other means.
package view

import "iter"

// List is a read-only list.
type List[E any] struct {
	len int
	at  func(int) E
}

// ListOf returns a view of a list of scalars.
func ListOf[S ~[]E, E any](list S) List[E] {
	return List[E]{len(list), func(i int) E { return list[i] }}
}

// Views returns a view of a list whose elements are not scalars. view makes a view or copy of an element.
func Views[S ~[]T, T, V any](list S, view func(*T) V) List[V] {
	return List[V]{len(list), func(i int) V { return view(&list[i]) }}
}

// Len returns the number of elements.
func (l List[E]) Len() int { return l.len }

// At returns the element at index i. It panics unless 0 <= i < Len.
func (l List[E]) At(i int) E {
	if i < 0 || i >= l.len {
		panic("index out of range of a view")
	}
	return l.at(i)
}

// All yields the elements in order, with their indices.
func (l List[E]) All() iter.Seq2[int, E] {
	return func(yield func(int, E) bool) {
		for i := range l.len {
			if !yield(i, l.at(i)) {
				return
			}
		}
	}
}

// Map is a read-only map.
type Map[K comparable, V any] struct {
	len  int
	find func(K) (V, bool)
	all  iter.Seq2[K, V]
}

// MapOf returns a view of a map to scalars.
func MapOf[M ~map[K]V, K comparable, V any](m M) Map[K, V] {
	return MapViews(m, func(v *V) V { return *v })
}

// MapViews returns a view of a map whose values are not scalars. view makes a view or copy of a value.
func MapViews[M ~map[K]T, K comparable, T, V any](m M, view func(*T) V) Map[K, V] {
	find := func(k K) (V, bool) {
		value, ok := m[k]
		return view(&value), ok
	}
	all := func(yield func(K, V) bool) {
		for k, value := range m {
			if !yield(k, view(&value)) {
				return
			}
		}
	}
	return Map[K, V]{len(m), find, all}
}

// Len returns the number of entries.
func (m Map[K, V]) Len() int { return m.len }

// Get returns the value of a key; ok is false if there is none.
func (m Map[K, V]) Get(key K) (value V, ok bool) {
	if m.len == 0 {
		return value, false
	}
	return m.find(key)
}

// All yields the entries in no particular order.
func (m Map[K, V]) All() iter.Seq2[K, V] {
	if m.len == 0 {
		return func(func(K, V) bool) {}
	}
	return m.all
}

// Optional returns the scalar behind a pointer; ok is false for nil.
func Optional[T any](p *T) (value T, ok bool) {
	if p == nil {
		return value, false
	}
	return *p, true
}

// Pointer returns the view of the value behind a pointer; ok is false for nil.
func Pointer[T, V any](p *T, view func(*T) V) (v V, ok bool) {
	if p == nil {
		return v, false
	}
	return view(p), true
}
