package pages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Reader follows the instructions of a page: it types commands into a shell and writes files. It must not be
// used concurrently.
type Reader struct {
	// Dir is the working directory of the shell. It changes with the commands.
	Dir string
	// Env is added to the environment of commands.
	Env []string
	// Log, if not nil, gets the commands and their output.
	Log io.Writer
	// Skip, if not nil, returns true for commands that the reader leaves out.
	Skip func(command string) bool
	// Commands counts the commands that were typed. Output is what they printed.
	Commands int
	Output   string
}

// Follow follows the blocks, in order. The commands of a block are typed into one shell.
func (r *Reader) Follow(ctx context.Context, blocks []Block) error {
	for _, b := range blocks {
		var err error
		switch {
		case b.IsScript():
			if err = r.Write(b.File, b.Text); err == nil {
				err = r.Type(ctx, b.File)
			}
		case b.Language == "sh":
			err = r.Type(ctx, b.Commands()...)
		case b.Language == "go":
			err = r.Write(b.File, b.Text)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", b.Line, err)
		}
	}
	return nil
}

// Type types commands. Dir is then the shell's last working directory. The shell stops at the first command
// that fails.
func (r *Reader) Type(ctx context.Context, commands ...string) error {
	var script strings.Builder
	for _, command := range commands {
		if r.Skip == nil || !r.Skip(command) {
			script.WriteString(command + "\n")
			r.Commands += 1 + strings.Count(command, " && ")
		}
	}
	if script.Len() == 0 {
		return nil
	}
	pwd, err := os.CreateTemp("", "pwd")
	if err != nil {
		return err
	}
	defer os.Remove(pwd.Name())
	defer pwd.Close()
	cmd := exec.CommandContext(ctx, "sh", "-e", "-c", script.String()+"pwd > "+pwd.Name())
	cmd.Dir = r.Dir
	cmd.Env = append(append(os.Environ(), "PWD="+r.Dir), r.Env...)
	out, err := cmd.CombinedOutput()
	r.Output += string(out)
	if r.Log != nil {
		fmt.Fprintf(r.Log, "%s%s", script.String(), out)
	}
	if err != nil {
		return fmt.Errorf("%s%w\n%s", script.String(), err, out)
	}
	dir, err := io.ReadAll(pwd)
	r.Dir = strings.TrimSpace(string(dir))
	return err
}

// typeDecl matches a struct with its comment.
var typeDecl = regexp.MustCompile(`(?m)(?:^//.*\n)*^type (\w+) struct ?\{(?:\}|\n(?:.*\n)*?\})\n`)

// Write writes a file; scripts get permission to run. In a file that exists it replaces the structs that the
// text declares. If that changes nothing, the file must already contain the text.
func (r *Reader) Write(name, text string) error {
	if name == "" {
		return errors.New("the text above names no file")
	}
	file := filepath.Join(r.Dir, name)
	old, err := os.ReadFile(file)
	switch {
	case os.IsNotExist(err):
		return errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o755))
	case err != nil:
		return err
	}
	declared := map[string]string{}
	for _, m := range typeDecl.FindAllStringSubmatch(text, -1) {
		declared[m[1]] = m[0]
	}
	changed := typeDecl.ReplaceAllStringFunc(string(old), func(decl string) string {
		if text, ok := declared[typeDecl.FindStringSubmatch(decl)[1]]; ok {
			return text
		}
		return decl
	})
	if changed == string(old) && !strings.Contains(changed, text) {
		return fmt.Errorf("%s exists with another text, and has no struct to replace", name)
	}
	return os.WriteFile(file, []byte(changed), 0o644)
}
