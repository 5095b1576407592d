package check

import (
	"slices"

	"github.com/kubewright/kubewright/test/lab/fault"
)

// Shrink returns a shorter script that still fails: it cuts the operations and faults that the failure
// doesn't need. The faults of s must be a fault.Script.
func Shrink(s Script, fails func(Script) bool) Script {
	for {
		before := len(s.Ops)
		faults, _ := s.Faults.(fault.Script)
		faults = minimize(faults, func(fewer fault.Script) bool { return fails(Script{s.Ops, fewer, s.Wrong}) })
		s.Faults = faults
		s.Ops = minimize(s.Ops, func(fewer []Op) bool { return fails(Script{fewer, faults, s.Wrong}) })
		if len(s.Ops) == before {
			return s
		}
	}
}

// minimize is delta debugging: it cuts pieces of a list, first halves and in the end single elements, as long
// as the rest fails. No single element of the result can be cut.
func minimize[L ~[]E, E any](list L, fails func(L) bool) L {
	for size := (len(list) + 1) / 2; size > 0; {
		cut := false
		for from := 0; from < len(list); {
			rest := slices.Concat(list[:from], list[min(from+size, len(list)):])
			if fails(rest) {
				list, cut = rest, true
			} else {
				from += size
			}
		}
		switch {
		case size > 1:
			size = (size + 1) / 2
		case !cut:
			return list
		}
		size = min(size, len(list))
	}
	return list
}
