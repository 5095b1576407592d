package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
)

// TestCheckRows checks that rows that are excluded count neither as passed nor as failed.
func TestCheckRows(t *testing.T) {
	verdicts := map[string]error{
		"a": nil, "b": fmt.Errorf("b: %w", excluded("no module")), "c": errors.New("wrong"),
	}
	for _, c := range []struct {
		rows   []string
		ran    int
		fails  bool
		prints string
	}{
		{[]string{"a", "b"}, 1, false, "  a: good\n  excluded: b: no module\ncheck x: 1 of 1 rows, 1 excluded\n"},
		{[]string{"a", "c"}, 2, true, "  a: good\n  c: FAILS: wrong\ncheck x: 1 of 2 rows\n"},
		{nil, 0, true, "check x: 0 of 0 rows\n"},
	} {
		var ran int
		var err error
		printed := captured(t, func() {
			ran, err = checkRows(&run{}, "x", c.rows, func(row string) string { return row },
				func(row string) (string, error) { return "good", verdicts[row] })
		})
		if ran != c.ran || (err != nil) != c.fails || printed != c.prints {
			t.Errorf("%q: ran %d, %v, printed\n%s", c.rows, ran, err, printed)
		}
	}
}

// captured returns what f prints.
func captured(t *testing.T, f func()) string {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stdout := os.Stdout
	os.Stdout = file
	defer func() { os.Stdout = stdout }()
	f()
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
