package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/kubewright/kubewright/generators"
)

// ours are the definitions that kubewright makes of a row, by the name of their file, from "---" on.
func (r row) ours(ctx context.Context, dir string) (files map[string]string, problems string, err error) {
	back, err := os.Getwd()
	if err != nil {
		return nil, "", err
	}
	if err := os.Chdir(dir); err != nil {
		return nil, "", err
	}
	defer os.Chdir(back)
	cfg := generators.Config{Definitions: &generators.DefinitionOptions{MaxDescription: -1,
		AllowFloats: r.has("allowDangerousTypes"), EmbeddedMetadata: r.has("generateEmbeddedObjectMeta")}}
	for _, p := range r.packages {
		cfg.Inputs = append(cfg.Inputs, generators.Input{Pattern: p})
	}
	all, found, err := generators.Definitions(ctx, cfg)
	files = map[string]string{}
	for _, d := range all {
		files[d.File] = string(d.Text)
	}
	if err == nil && found.Fatal() {
		err = fmt.Errorf("kubewright refuses the row")
	}
	if len(found) > 0 {
		problems = "  " + strings.ReplaceAll(found.Error(), "\n", "\n  ") + "\n"
	}
	return files, problems, err
}

func (r row) measure(context.Context, string, string, int) (string, error) { return "", nil }
