package scratch

import "testing"

// FixedForTest is Fixed for a test, which releases the folder when it ends. An error ends the test.
func FixedForTest(t testing.TB) (dir string) {
	t.Helper()
	dir, release, err := Fixed(t.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := release(); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// ForTest is New in a folder of FixedForTest. An error ends the test.
func ForTest(t testing.TB, path, like string) *Module {
	t.Helper()
	m, err := New(FixedForTest(t), path, like)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// MustWrite is Write in a test, which an error ends.
func (m *Module) MustWrite(t testing.TB, name, text string) {
	t.Helper()
	if err := m.Write(name, text); err != nil {
		t.Fatal(err)
	}
}

// MustRun is Run in a test, which an error ends.
func (m *Module) MustRun(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := m.Run(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
