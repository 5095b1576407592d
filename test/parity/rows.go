package main

import (
	"errors"
	"fmt"
)

// checkRows runs a check on each selected row. It prints the row's verdict, and at the end how many rows
// passed, and returns how many it ran.
func checkRows[R any](r *run, check string, rows []R, name func(R) string,
	verdict func(R) (string, error)) (ran int, err error) {
	good := 0
	var failed []error
	for _, row := range rows {
		if !r.wanted(name(row)) {
			continue
		}
		ran++
		text, err := verdict(row)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name(row), err))
			text = "FAILS: " + err.Error()
		} else {
			good++
		}
		fmt.Printf("  %s: %s\n", name(row), text)
	}
	fmt.Printf("check %s: %d of %d rows\n", check, good, ran)
	if ran == 0 {
		failed = append(failed, fmt.Errorf("%s: no such row", check))
	}
	return ran, errors.Join(failed...)
}
