package output

import "testing"

// TestManifestsUnreadable checks that an error about a file names it once.
func TestManifestsUnreadable(t *testing.T) {
	const file = "/proc/self/mem" // whose first page nobody can read, not even root
	_, err := Manifests([]string{file}, nil)
	if want := "can't read " + file + ": input/output error"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
