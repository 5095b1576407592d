package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// figure prints a measurement: a whole number in full, others like threeDigits.
func figure(f float64) string {
	if f == math.Trunc(f) {
		return thousands(strconv.FormatFloat(f, 'f', 0, 64))
	}
	return threeDigits(f)
}

// threeDigits prints a number with three digits, or with all digits before the point if these are more.
func threeDigits(f float64) string {
	digits := max(0, 2-int(math.Floor(math.Log10(math.Abs(f)))))
	return thousands(strconv.FormatFloat(f, 'f', digits, 64))
}

// thousands puts commas between the digits before the point.
func thousands(number string) string {
	whole, rest := number, ""
	if i := strings.IndexByte(number, '.'); i >= 0 {
		whole, rest = number[:i], number[i:]
	}
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole + rest
}

// about is before a ratio if the difference may be chance.
const about = "≈ "

// Ratio prints the ratio.
func (r *row) Ratio() string {
	switch ratio := r.ratio(); {
	case math.IsNaN(ratio):
		return "-"
	case math.IsInf(ratio, 0):
		return "∞"
	case ratio == 0:
		return "0"
	case r.overlap() && ratio != 1:
		return about + threeDigits(ratio)
	default:
		return threeDigits(ratio)
	}
}

// Excess prints by how much ours exceeds its share.
func (r *row) Excess() string { return fmt.Sprintf("%+.1f%%", r.excess()) }

// ShareMedian prints the share.
func (r *row) ShareMedian() string { return figure(median(r.Share)) }

// OursMedian and the others print the measurements of a side, without the unit.
func (r *row) OursMedian() string   { return figure(median(r.Ours)) }
func (r *row) TheirsMedian() string { return figure(median(r.Theirs)) }
func (r *row) OursSpread() string   { return spread(r.Ours) }
func (r *row) TheirsSpread() string { return spread(r.Theirs) }

// spread prints the lowest and the highest measurement, or just one if they are equal.
func spread(values []float64) string {
	lowest, highest := figure(slices.Min(values)), figure(slices.Max(values))
	if lowest == highest {
		return lowest
	}
	return lowest + " .. " + highest
}

// inUnit prints a median with its unit as people write it: for peak-MB that is MB, for ns/op a unit of time
// that needs few digits.
func inUnit(value float64, unit string) string {
	unit = unit[strings.LastIndexByte(unit, '-')+1:]
	if !moreIsBetter(unit) {
		unit, _, _ = strings.Cut(unit, "/")
	}
	if unit == "ns" {
		for _, larger := range []string{"µs", "ms", "s"} {
			if value < 1000 {
				break
			}
			value, unit = value/1000, larger
		}
	}
	return figure(value) + " " + unit
}
