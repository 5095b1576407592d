package factory

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
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
func Drop(f any, fields ...string) error {
	for _, field := range fields {
		if slices.Contains(strings.Split(field, "."), "") {
			return fmt.Errorf("drop the field %q: part of its name is missing", field)
		}
	}
	return decode(f, "Drop", func(d *decoding) { d.dropped = append(d.dropped, fields...) })
}

// SetDecoding sets how the informers of f, a generated factory, decode objects, in place of
// options that were set before; see [informer.SetDecoding]. Functions of [OnCreate] run later,
// so they can set other options for single informers. For errors and concurrency see [Drop].
func SetDecoding(f any, opts listwatch.DecodingOptions) error {
	return decode(f, "SetDecoding", func(d *decoding) { d.options = opts })
}

// decoding is how the informers of a factory decode objects.
type decoding struct {
	options listwatch.DecodingOptions
	dropped []string
}

// decode changes the decoding of f. function is the name of its caller, for errors.
func decode(f any, function string, change func(*decoding)) error {
	o, err := ownerOf(f)
	if err != nil {
		return err
	}
	return o.decode(function, change)
}

func (s *Set[K]) decode(function string, change func(*decoding)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.tooLate(function); err != nil {
		return err
	}
	if s.decoding == nil {
		s.decoding = &decoding{}
	}
	change(s.decoding)
	return nil
}

// apply sets the decoding of an informer.
func (d *decoding) apply(i cache.SharedIndexInformer) error {
	opts := d.options
	opts.Drop = slices.Concat(opts.Drop, d.dropped)
	return informer.SetDecoding(i, opts)
}
