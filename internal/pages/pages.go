// Package pages reads the Markdown pages of this repository: their blocks of code. It also has a reader who
// follows their instructions.
package pages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Page is a Markdown page. Name is its path in the repository.
type Page struct{ Name, Text string }

// Tracked returns the pages that git tracks in the repository in the folder root.
func Tracked(root string) (all []Page, err error) {
	command := exec.Command("git", "ls-files", "-z", "*.md")
	command.Dir = root
	names, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files in %s: %w", root, err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		all = append(all, Page{name, string(text)})
	}
	return all, nil
}

// Section returns the blocks of a section of a page of the repository in the folder root. It returns an error
// if there are none.
func Section(root, page, section string) (blocks []Block, err error) {
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return nil, err
	}
	for _, b := range (Page{page, string(text)}).Blocks() {
		if b.Section == section {
			blocks = append(blocks, b)
		}
	}
	if len(blocks) == 0 {
		return nil, fmt.Errorf("%s has no blocks in a section %q", page, section)
	}
	return blocks, nil
}

// Block is a block of code.
type Block struct {
	// Section is the last heading above the block, without its marks. Line is that of the fence.
	Section string
	Line    int
	// Language is the word after the fence. It is "" for a block without a fence, which is indented.
	Language, Text string
	// File is the last file named in the text above, in this section.
	File string
}

// fileName finds the files that a line names.
var fileName = regexp.MustCompile("`([\\w/-]+\\.(?:go|sh))`")

const fence = "```"

// Blocks returns the blocks of a page.
func (p Page) Blocks() (all []Block) {
	next := Block{}
	lines := strings.Split(p.Text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch language, fenced := strings.CutPrefix(strings.TrimSpace(line), fence); {
		case fenced:
			b := next
			b.Line, b.Language = i+1, language
			for i++; i < len(lines) && strings.TrimSpace(lines[i]) != fence; i++ {
				b.Text += lines[i] + "\n"
			}
			all = append(all, b)
		case strings.HasPrefix(line, "    ") && (i == 0 || lines[i-1] == ""):
			b := next
			b.Line = i + 1
			for ; i < len(lines) && strings.HasPrefix(lines[i], "    "); i++ {
				b.Text += lines[i] + "\n"
			}
			all = append(all, b)
		case strings.HasPrefix(line, "#"):
			next = Block{Section: strings.TrimLeft(line, "# ")}
		default:
			if names := fileName.FindAllStringSubmatch(line, -1); names != nil {
				next.File = names[len(names)-1][1]
			}
		}
	}
	return all
}

// IsScript reports whether the block is the text of a file that a shell runs, rather than commands to type.
func (b Block) IsScript() bool { return b.Language == "sh" && strings.HasPrefix(b.Text, "#!") }

// Commands returns the commands of a block of shell, without comments. A command that continues in the next
// line counts as one.
func (b Block) Commands() (commands []string) {
	if b.Language != "sh" || b.IsScript() {
		return nil
	}
	for line := range strings.Lines(strings.ReplaceAll(b.Text, "\\\n", " ")) {
		line, _, _ = strings.Cut(line, " #")
		if words := strings.Fields(line); len(words) > 0 {
			commands = append(commands, strings.Join(words, " "))
		}
	}
	return commands
}

// inline finds code in a line of text.
var inline = regexp.MustCompile("`([^`]+)`")

// Code returns the pieces of code in the text of the page, outside of blocks, by line.
func (p Page) Code() map[int][]string {
	code, inside := map[int][]string{}, false
	for i, line := range strings.Split(p.Text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), fence) {
			inside = !inside
		} else if !inside {
			for _, m := range inline.FindAllStringSubmatch(line, -1) {
				code[i+1] = append(code[i+1], m[1])
			}
		}
	}
	return code
}
