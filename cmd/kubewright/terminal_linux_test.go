package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// onTerminal runs kubewright with a pseudo-terminal as its output, and returns what a person
// would see, escape sequences included, and the exit status.
func onTerminal(t *testing.T, args ...string) (string, int) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	defer master.Close()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ,
		&unix.Winsize{Row: 24, Col: 90}); err != nil {
		t.Fatal(err)
	}
	seen := make(chan string)
	go func() {
		text, _ := io.ReadAll(master) // ends with an error when the terminal is closed
		seen <- strings.ReplaceAll(string(text), "\r\n", "\n")
	}()
	status := execute(t.Context(), args, terminal, terminal)
	if err := terminal.Close(); err != nil {
		t.Error(err)
	}
	return <-seen, status
}

var colourOrClear = regexp.MustCompile("\x1b\\[[0-9;]*[mK]")

// TestTerminal checks the output that only a terminal gets: progress, which is cleared in the
// end, colours of the diff, and the numbers of files.
func TestTerminal(t *testing.T) {
	r := newRepository(t, ".")
	t.Chdir(r.dir)
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("NO_COLOR", "")
	expect := func(args string, status int, patterns ...string) (all string) {
		t.Helper()
		all, got := onTerminal(t, append(strings.Fields(args), "./apis/...")...)
		if got != status {
			t.Errorf("%s: exit status %d", args, got)
		}
		for _, pattern := range patterns {
			if !regexp.MustCompile(pattern).MatchString(all) {
				t.Errorf("%s: no %q in %q", args, pattern, all)
			}
		}
		return all
	}
	const progress = "load \\.\\.\\."
	expect("generate", 0, "^"+progress,
		"\r\x1b\\[K2. files written, 0 removed, \\d current \\(\\d\\.\\d s\\)\n$")
	expect("check", 0, progress, "\r\x1b\\[K2. files current \\(\\d\\.\\d s\\)\n$")
	check := "check --prefers-protobuf"
	coloured := expect(check, statusNotCurrent,
		"\r\x1b\\[K\x1b\\[1m--- pkg/client/", "\n\x1b\\[31m-.*\x1b\\[m\n",
		"\nkubewright: not current: 1 file to write, 0 stale; run kubewright generate with "+
			"the same arguments\n$")

	for _, env := range []struct{ name, value string }{{"NO_COLOR", "1"}, {"TERM", "dumb"}, {"TERM", ""}} {
		before := os.Getenv(env.name)
		t.Setenv(env.name, env.value)
		plain := expect(check, statusNotCurrent, "\n-\t\tclient\\..*\n\\+\t\tclient\\.")
		t.Setenv(env.name, before)
		if slices.Contains(colourOrClear.FindAllString(plain, -1), "\x1b[m") {
			t.Errorf("%s=%s: colours in %q", env.name, env.value, plain)
		}
		if env.name == "TERM" && strings.Contains(plain, "\x1b") {
			t.Errorf("TERM=%s: escape sequences in %q", env.value, plain)
		}
	}
	if json := expect("check --json", 0, `^\{\n`, `\n\}\n$`); strings.Contains(json, "\x1b") {
		t.Errorf("escape sequences in %q", json)
	}
	// A pipe gets the same text, without the progress before it.
	var pipe strings.Builder
	if status := execute(t.Context(), append(strings.Fields(check), "./apis/..."), &pipe,
		&pipe); status != statusNotCurrent {
		t.Errorf("exit status %d", status)
	}
	shown := coloured[strings.LastIndex(coloured, "\r\x1b[K"):]
	if shown := strings.TrimPrefix(colourOrClear.ReplaceAllString(shown, ""), "\r"); shown != pipe.String() {
		t.Errorf("on a terminal\n%s\nto a pipe\n%s", shown, &pipe)
	}
}

// TestHelpFits checks that help on a terminal is no wider than the terminal.
func TestHelpFits(t *testing.T) {
	for _, args := range [][]string{{}, {"generate", "--help"}, {"check", "--help"}} {
		help, status := onTerminal(t, args...)
		if status != 0 || !strings.Contains(help, "\nFlags:\n") {
			t.Errorf("%v: exit status %d, %s", args, status, help)
		}
		for line := range strings.Lines(help) {
			if len(line) > 90+1 && !strings.HasPrefix(line, "  kubewright ") {
				t.Errorf("%v: %d columns: %s", args, len(line), line)
			}
		}
	}
}
