package main

import "testing"

func TestFigure(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 3: "3", 100: "100", 123.6: "124", 1000: "1,000", 1234567.8: "1,234,568",
		99.94: "99.9", 9.876: "9.88", .5: "0.500", .0123456: "0.0123",
		-1234.5: "-1,234", -123: "-123",
	} {
		if got := figure(f); got != want {
			t.Errorf("%v: %q, want %q", f, got, want)
		}
	}
}

func TestInUnit(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  string
		want  string
	}{
		{4.5, "cpu-s", "4.50 s"},
		{512, "peak-MB", "512 MB"},
		{30.25, "KB/informer", "30.2 KB"},
		{62.5, "MB/s", "62.5 MB/s"},
		{999, "ns/op", "999 ns"},
		{1500, "p99.9-ns", "1.50 µs"},
		{2.5e6, "ns/op", "2.50 ms"},
		{3.25e12, "ns/op", "3,250 s"},
		{12, "lines", "12 lines"},
	} {
		if got := inUnit(c.value, c.unit); got != c.want {
			t.Errorf("%v %s: %q, want %q", c.value, c.unit, got, c.want)
		}
	}
}
