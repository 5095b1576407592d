package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// number matches a word with a digit in it.
var number = regexp.MustCompile(`[\w.,/-]*\d[\w.,/-]*`)

func numbers(text string) (found []string) {
	for _, n := range number.FindAllString(text, -1) {
		found = append(found, strings.Trim(n, ".,"))
	}
	return found
}

// strangers returns the numbers in README's section that the page doesn't have.
func strangers(t *testing.T, readme, page string) []string {
	t.Helper()
	_, section, _, err := cutSection(readme)
	if err != nil {
		t.Fatal(err)
	}
	known := numbers(page)
	return slices.DeleteFunc(numbers(section), func(n string) bool { return slices.Contains(known, n) })
}

// TestReadme: every number in README's section is in docs/benchmarks.md, and the files that the section links
// exist. Section and page exist both or neither.
func TestReadme(t *testing.T) {
	readme := read(t, filepath.Join(root, "README.md"))
	_, section, _, err := cutSection(readme)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "benchmarks.md"))
	if errors.Is(err, os.ErrNotExist) && section == "" {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(numbers(section)) < 30 {
		t.Errorf("README's section has only %d numbers", len(numbers(section)))
	}
	if missing := strangers(t, readme, string(page)); len(missing) > 0 {
		t.Errorf("README's numbers that docs/benchmarks.md doesn't have: %q", missing)
	}
	for text, dir := range map[string]string{section: root, string(page): filepath.Join(root, "docs")} {
		for _, link := range regexp.MustCompile(`\]\(([^)]*)\)`).FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(dir, link[1])); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestStrangers(t *testing.T) {
	readme := sectionBegin + "| 20,000 objects | 4.50 s | 1.25 |, 7.\n" + sectionEnd + "99"
	if got := strangers(t, readme, "| 4.50 s, of 20,000; 71.25 | 7"); !slices.Equal(got, []string{"1.25"}) {
		t.Errorf("%q", got)
	}
}

func TestSection(t *testing.T) {
	for _, readme := range []string{
		"", sectionBegin, sectionEnd + sectionBegin, sectionBegin + sectionEnd + sectionBegin,
	} {
		if _, err := withSection(readme, "new\n"); err == nil {
			t.Errorf("%q has a section", readme)
		}
	}
	got, err := withSection("a\n"+sectionBegin+"old\n"+sectionEnd+"b\n", "new\n")
	if want := "a\n" + sectionBegin + "new\n" + sectionEnd + "b\n"; got != want || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
