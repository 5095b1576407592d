package layout

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// link matches a link of Markdown to a file of the repository, or to a heading.
	link = regexp.MustCompile(`\]\(([\w./#-]+)\)`)
	// pageName matches a page that a comment in Go names.
	pageName = regexp.MustCompile(`\bdocs/[\w-]+\.md\b`)
	// target matches a target of make in a line of code.
	target = regexp.MustCompile(`^make ([\w-]+)`)
	// folder matches the folder that a line of code changes to.
	folder = regexp.MustCompile(`^cd (\S+)`)
)

// TestLinks checks that the files and headings that pages link to exist, as well as the targets of Makefile
// and the folders of the repository that they name.
func TestLinks(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	headings, links := map[string]map[string]bool{}, 0
	all := tracked(t)
	for _, p := range all {
		headings[p.Name] = anchors(p.Text)
	}
	for _, p := range all {
		for _, m := range link.FindAllStringSubmatch(p.Text, -1) {
			links++
			name, heading, _ := strings.Cut(m[1], "#")
			to := path.Join(path.Dir(p.Name), name)
			if name == "" {
				to = p.Name
			}
			if _, err := os.Stat(filepath.Join("../..", to)); err != nil {
				t.Errorf("%s links to %s, which doesn't exist", p.Name, m[1])
			} else if heading != "" && !headings[to][heading] {
				t.Errorf("%s links to %s, but there is no such heading", p.Name, m[1])
			}
		}
		for line, code := range p.Code() {
			for _, c := range code {
				if m := target.FindStringSubmatch(c); m != nil && !strings.Contains(string(makefile), "\n"+m[1]+":") {
					t.Errorf("%s:%d: Makefile has no target %s", p.Name, line, m[1])
				}
				if m := folder.FindStringSubmatch(c); m != nil {
					if _, err := os.Stat(filepath.Join("../..", m[1])); err != nil {
						t.Errorf("%s:%d: there is no folder %s", p.Name, line, m[1])
					}
				}
			}
		}
	}
	if links < 100 {
		t.Errorf("only %d links were found", links)
	}
}

// anchors returns the anchors that GitHub gives to a page's headings.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		name := strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#")))
		names[strings.ReplaceAll(regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(name, ""), " ", "-")] = true
	}
	return names
}

// explained are the packages whose documentation refers to docs/concepts.md, which describes their
// guarantees.
var explained = []string{"informer", "factory", "lister", "queue", "cache", "workqueue"}

// TestPagesInComments checks that the pages that Go files name exist, and that the packages above refer to
// docs/concepts.md.
func TestPagesInComments(t *testing.T) {
	refer := map[string]bool{}
	for name, text := range trackedGo(t) {
		for _, page := range pageName.FindAllString(text, -1) {
			if _, err := os.Stat(filepath.Join("../..", page)); err != nil {
				t.Errorf("%s names %s, which doesn't exist", name, page)
			}
		}
		comment, _, _ := strings.Cut(text, "\npackage ")
		if strings.Contains(comment, "docs/concepts.md") {
			refer[path.Dir(name)] = true
		}
	}
	for _, name := range explained {
		if !refer["runtime/"+name] {
			t.Errorf("the documentation of runtime/%s doesn't refer to docs/concepts.md", name)
		}
	}
}
