package decode

import (
	"reflect"
	"unsafe"
)

// This file states what the package does with unsafe, what that relies on, and which tests check it. No
// other package of the runtime imports unsafe. The package needs unsafe for speed: setting the roughly
// 100 values of an object through [reflect.Value] takes longer than parsing them.
//
// Stores at offsets. A plan is compiled from a [reflect.Type]. It contains the offset of each field, as
// reported by reflect, and an op chosen by the kind of the field's type: the value is stored through a
// pointer to the plain type of that kind (string for all types of strings, int32 for all of 32 bits,
// and so on). Types of one kind have the same layout. So an address and a plan belong together: callers
// of [jsonDecoder.value], [protoDecoder.message] and [jsonDecoder.normalize] must pass the address of a
// value of the plan's type. Tests: TestDifferentialDocuments stores into each kind of field, named types
// included; TestKinds and TestMessages into all types of k8s.io/api.
//
// Alignment. An address is that of an allocation of the right type, plus an offset reported by reflect
// or a multiple of an element's size. Tests: all. With the race detector the compiled code checks that
// each converted pointer is aligned and stays in one allocation.
//
// Pointers. A field that is a pointer is read and set as an [unsafe.Pointer], a slice of any type as a
// []byte, whose length and capacity count elements and not bytes. Guards: checkLayout, at start-up; the
// sizes, when this file is compiled. Test: TestLayout, for more types.
//
// Lifetime. Memory is allocated by reflect or by Go itself, with its type, and all stores go through
// typed pointers, so the garbage collector sees every reference. No pointer is ever held as an integer.
// Test: TestCollectorSeesAll.
//
// Aliasing. Strings and []byte of objects are copies: what scanner.bytes, scanner.raw and reader.bytes
// return is part of the input's window, which the next read overwrites. Bytes and strings are never
// converted without a copy. Objects share strings, which can't be changed, and what Options.ShareValues
// shares. Elements are collected in spare memory of a plan, copied with their type, and cleared there.
// Tests: TestNothingAliasesTheInput, TestWires, TestNothingMutableIsShared.

// All pointers and all slices have the same size.
var (
	_ [unsafe.Sizeof(unsafe.Pointer(nil))]byte = [unsafe.Sizeof((*string)(nil))]byte{}
	_ [unsafe.Sizeof([]byte(nil))]byte         = [unsafe.Sizeof([]string(nil))]byte{}
	_ [unsafe.Sizeof([]byte(nil))]byte         = [unsafe.Sizeof([]struct{}(nil))]byte{}
)

// If a Go version changes these layouts, the program panics at start-up.
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

// anyPointer returns the pointer of any type that is stored at an address.
func anyPointer(at unsafe.Pointer) *unsafe.Pointer { return (*unsafe.Pointer)(at) }

// anySlice returns the slice of any type that is stored at an address. Only its length, its capacity
// and the address of its elements make sense.
func anySlice(at unsafe.Pointer) *[]byte { return (*[]byte)(at) }

// element returns the address of element i of a slice from anySlice. The element must exist.
func element(s []byte, i int, size uintptr) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(s)), uintptr(i)*size)
}

// decodeInto decodes the value at d's position.
func decodeInto[V any](d *jsonDecoder, to *V) bool {
	return d.value(d.plans.forType(reflect.TypeFor[V]()), unsafe.Pointer(to))
}
