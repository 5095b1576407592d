package feeds

import "github.com/kubewright/kubewright/runtime/shard"

// Filter is what is known of the server's filter.
type Filter string

// What is known of a filter.
const (
	Unknown  Filter = "unknown"
	Filtered Filter = "filtered"
	// Whole means that objects arrive that weren't selected.
	Whole Filter = "whole"
)

// Filtering is what is known of the server's filters for lists and for watches, by what arrived last.
type Filtering struct{ Lists, Watches Filter }

// watchesAreWhole reports whether watches seem to deliver everything.
func (f Filtering) watchesAreWhole() bool {
	return f.Watches == Whole || f.Watches != Filtered && f.Lists == Whole
}

// convincing is how many selected objects, with none among them that wasn't selected, show that a server
// filters.
const convincing = 16

// request is a list or a watch.
type request struct {
	watch bool
	// selected are the ranges of its selector.
	selected shard.Ranges
	// own counts the selected objects that have arrived, up to convincing. stranger is set once another object
	// has arrived.
	own      int
	stranger bool
}

// recordArrival records that an object has arrived.
func (r *request) recordArrival(hash uint64, known *Filtering) {
	if r.stranger || r.own == convincing && r.selected.Contains(hash) {
		return
	}
	if !r.selected.Contains(hash) {
		r.stranger = true
		r.recordFilter(Whole, known)
		return
	}
	if r.own++; r.own == convincing && !r.selected.Equal(shard.All()) {
		r.recordFilter(Filtered, known)
	}
}

func (r *request) recordFilter(filter Filter, known *Filtering) {
	if r.watch {
		known.Watches = filter
		return
	}
	if known.Lists == Whole && filter == Filtered {
		known.Watches = Unknown // It is another server, or another configuration.
	}
	known.Lists = filter
}
