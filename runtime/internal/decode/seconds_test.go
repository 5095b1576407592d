package decode

import (
	"testing"
	"time"
)

// TestParseSeconds checks the parser of times against that of package time, for days all over eight
// thousand years, and for text that differs from a time in one byte.
func TestParseSeconds(t *testing.T) {
	for seconds := int64(0); seconds < lastSecond; seconds += 2*86400 + 12345 {
		text := time.Unix(seconds, 0).UTC().Format(time.RFC3339)
		if got := parseSeconds([]byte(text)); got != seconds {
			t.Fatalf("%s: %d, want %d", text, got, seconds)
		}
	}
	for i := range 20 {
		for c := range 256 {
			text := []byte("2026-03-14T15:06:27Z")
			text[i] = byte(c)
			want := int64(0)
			if parsed, err := time.Parse(time.RFC3339, string(text)); err == nil {
				want = max(0, parsed.Unix())
			}
			if got := max(0, parseSeconds(text)); got != want {
				t.Errorf("%q: %d, want %d", text, got, want)
			}
		}
	}
}
