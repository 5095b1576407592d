package main

import (
	"errors"
	"fmt"
)

// excluded is why a row can't be checked. Such a row counts neither as passed nor as failed.
type excluded string

func (e excluded) Error() string { return string(e) }

// checkRows runs a check on each selected row. It prints the row's verdict, and at the end how many rows
// passed, and returns how many it ran.
func checkRows[R any](r *run, check string, rows []R, name func(R) string,
	verdict func(R) (string, error)) (ran int, err error) {
	good, left := 0, 0
	var failed []error
	for _, row := range rows {
		if !r.wanted(name(row)) {
			continue
		}
		text, err := verdict(row)
		if reason := excluded(""); errors.As(err, &reason) {
			left++
			fmt.Printf("  excluded: %s: %s\n", name(row), reason)
			continue
		}
		ran++
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name(row), err))
			text = "FAILS: " + err.Error()
		} else {
			good++
		}
		fmt.Printf("  %s: %s\n", name(row), text)
	}
	remark := ""
	if left > 0 {
		remark = fmt.Sprintf(", %d excluded", left)
	}
	fmt.Printf("check %s: %d of %d rows%s\n", check, good, ran, remark)
	if ran+left == 0 {
		failed = append(failed, fmt.Errorf("%s: no such row", check))
	}
	return ran, errors.Join(failed...)
}
