package decode

import (
	"reflect"
	"unsafe"
)

// This page states what the package does with unsafe, what that relies on, and which tests show it. No
// other package of the runtime imports unsafe. Why at all: an object has some 100 values, and setting
// each through a [reflect.Value] would take longer than reading its text does.
//
// Stores at offsets. A plan is compiled from a [reflect.Type]. It has the offset that reflect tells for
// each field, and an op that is chosen by the kind of the field's type: the value is stored through a
// pointer to the plain type of that kind (string for all types of strings, int32 for all of 32 bits,
// and so on). Types of one kind have one layout. So an address and a plan belong together: whoever
// calls [jsonDecoder.value], [protoDecoder.message] or [jsonDecoder.normalize] passes an address of a
// value of the plan's type. Tests: TestDifferentialDocuments stores into each kind of field, named types
// included; TestKinds and TestMessages into all types of k8s.io/api.
//
// Alignment. Addresses are those of allocations of the right type plus offsets that reflect tells, or
// plus multiples of an element's size. Test: with the race detector the compiler checks each conversion
// of a pointer for alignment, and that it stays in one allocation, so all tests show it.
//
// Pointers. A field that is a pointer is read and set as an [unsafe.Pointer], a slice of any type as a
// []byte, whose length and capacity count elements and not bytes. Guards: checkLayout, at start-up; the
// sizes, when this file is compiled. Test: TestLayout, for more types.
//
// Lifetime. Memory is allocated by reflect or by the language, with its type, and all stores go through
// typed pointers, so that the garbage collector knows of every reference. No pointer is ever held as an
// integer. Test: TestCollectorSeesAll.
//
// Aliasing. Strings and []byte of objects are copies: what jsonDecoder.bytes, jsonDecoder.raw and
// reader.bytes return is part of the input's window, which the next read overwrites. No bytes are ever
// seen as a string, or the reverse, without a copy. Objects share strings, which can't be changed, and
// what Options.ShareValues shares. Elements are collected in spare memory of a plan, copied with their
// type, and cleared there. Tests: TestNothingAliasesTheInput, TestWires, TestNothingMutableIsShared.

// All pointers and all slices have the same size.
var (
	_ [unsafe.Sizeof(unsafe.Pointer(nil))]byte = [unsafe.Sizeof((*string)(nil))]byte{}
	_ [unsafe.Sizeof([]byte(nil))]byte         = [unsafe.Sizeof([]string(nil))]byte{}
	_ [unsafe.Sizeof([]byte(nil))]byte         = [unsafe.Sizeof([]struct{}(nil))]byte{}
)

// If a Go release lays slices or pointers out in another way, programs end before they decode anything.
var _ = checkLayout([]string{"a", "b", "c"}[:2]) && checkLayout([]struct{ a, b int64 }{{}, {}, {}}[:2])

// checkLayout panics if a slice of two elements, with room for more, can't be handled as a []byte.
func checkLayout[T any](s []T) bool {
	header := *anySlice(unsafe.Pointer(&s))
	second := element(header, 1, unsafe.Sizeof(s[0]))
	pointer := &s[1]
	if len(header) != len(s) || cap(header) != cap(s) || second != *anyPointer(unsafe.Pointer(&pointer)) {
		panic("decode: this release of Go lays slices or pointers out in a way that is not supported")
	}
	return true
}

// anyPointer is the pointer of any type that stands at an address.
func anyPointer(at unsafe.Pointer) *unsafe.Pointer { return (*unsafe.Pointer)(at) }

// anySlice is the slice of any type that stands at an address. Only its length, its capacity and its
// elements' address make sense.
func anySlice(at unsafe.Pointer) *[]byte { return (*[]byte)(at) }

// element is the address of an element of a slice from anySlice. It must be there.
func element(s []byte, i int, size uintptr) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(s)), uintptr(i)*size)
}

// decodeInto decodes the value at d's position.
func decodeInto[V any](d *jsonDecoder, to *V) bool {
	return d.value(d.plans.of(reflect.TypeFor[V]()), unsafe.Pointer(to))
}
