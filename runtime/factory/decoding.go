package factory

import (
	"fmt"
	"slices"
	"strings"

	gen "github.com/kubewright/kubewright/runtime/gen/factory"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// Drop makes the informers of f, a generated factory, leave out fields of the objects that
// they cache:
//
//	err := factory.Drop(informers, "metadata.managedFields")
//
// Streamed lists and watches skip the fields at next to no cost; see
// [listwatch.DecodingOptions.Drop] for how fields are named and what isn't streamed. Further
// calls drop further fields, and [SetDecoding] keeps them.
//
// Like [OnCreate], Drop returns an error and does nothing if f has informers already. It also
// returns an error if part of a field's name is empty. An informer that can't drop fields is
// reported to utilruntime. Drop is safe for concurrent use.
func Drop(f Interface, fields ...string) error {
	for _, field := range fields {
		if slices.Contains(strings.Split(field, "."), "") {
			return fmt.Errorf("drop the field %q: part of its name is missing", field)
		}
	}
	return decode(f, "Drop", func(d *gen.Decoding) { d.Dropped = append(d.Dropped, fields...) })
}

// SetDecoding sets how the informers of f, a generated factory, decode objects, in place of
// options that were set before; see [informer.SetDecoding]. Functions of [OnCreate] run later,
// so they can set other options for single informers. For errors and concurrency see [Drop].
func SetDecoding(f Interface, opts listwatch.DecodingOptions) error {
	return decode(f, "SetDecoding", func(d *gen.Decoding) { d.Options = opts })
}

// decode changes the decoding of f. function is the name of its caller, for errors.
func decode(f Interface, function string, change func(*gen.Decoding)) error {
	o, err := ownerOf(f)
	if err != nil {
		return err
	}
	return o.Decode(function, change)
}
