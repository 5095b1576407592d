package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// allowedLicences are the licences that a module may have, by phrases that their texts contain. The first row
// all of whose phrases are in a text is its licence. A licence without a name isn't allowed.
var allowedLicences = []struct {
	name    string
	phrases []string
}{
	{"FTL", []string{"your choice of exactly one of the following two licenses", "The FreeType License"}},
	{"", []string{"GNU General Public License"}},
	{"", []string{"GNU Affero"}},
	{"CC-BY-4.0", []string{"Creative Commons Attribution 4.0"}}, // drawings of charts, in test/bench only
	{"Apache-2.0", []string{"Apache License", "Version 2.0, January 2004"}},
	{"MPL-2.0", []string{"Mozilla Public License", "Version 2.0"}},
	{"BSD-3-Clause", []string{"Redistribution and use in source and binary forms", "Neither the name"}},
	{"BSD-3-Clause", []string{
		"Redistribution and use in source and binary forms", "endorse or promote products",
	}},
	{"BSD-2-Clause", []string{
		"Redistribution and use in source and binary forms", "in binary form must reproduce",
	}},
	{"MIT", []string{"Permission is hereby granted, free of charge, to any person obtaining a copy"}},
	{"ISC", []string{
		"Permission to use, copy, modify, and/or distribute this software for any purpose with or without",
	}},
	{"ISC", []string{
		"Permission to use, copy, modify, and distribute this software for any purpose with or without",
	}},
}

// licenceOf returns the name of the allowed licence of a text, "" if it has none.
func licenceOf(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, l := range allowedLicences {
		if !slices.ContainsFunc(l.phrases, func(phrase string) bool {
			return !strings.Contains(text, strings.ToLower(phrase))
		}) {
			return l.name
		}
	}
	return ""
}

// licences checks that every module with a package that the modules of this repository link, also for their
// tests and tools, has an allowed licence. The texts are in the module cache.
func licences(modules []string) func(io.Writer) (counts, error) {
	return func(w io.Writer) (counts, error) {
		folders := map[string]string{} // by module and version
		for _, dir := range modules {
			if err := dependencies(dir, folders, "-test", "./..."); err != nil {
				return counts{}, err
			}
		}
		if err := dependencies(".", folders, "-modfile=go.tool.mod", "tool"); err != nil {
			return counts{}, err
		}
		found := map[string]int{}
		var failures []error
		for _, module := range slices.Sorted(maps.Keys(folders)) {
			licence, err := licenceIn(folders[module])
			if err != nil {
				failures = append(failures, fmt.Errorf("%s: %w", module, err))
			}
			found[licence]++
		}
		delete(found, "")
		fmt.Fprintf(w, "%d modules: %v\n", len(folders), found)
		if len(folders) == 0 {
			failures = append(failures, errors.New("no modules were found"))
		}
		return counts{}, errors.Join(failures...)
	}
}

// dependencies adds the folders of the modules of the packages that args name, and of all packages that those
// import.
func dependencies(dir string, folders map[string]string, args ...string) error {
	const format = "{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}\t{{.Dir}}{{end}}{{end}}"
	cmd := exec.Command("go", append([]string{"list", "-deps", "-f", format}, args...)...)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list in %s: %w", dir, err)
	}
	for line := range strings.Lines(string(out)) {
		module, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if module != "" && !strings.HasPrefix(module, "github.com/kubewright/kubewright") {
			folders[module] = folder
		}
	}
	return nil
}

// licenceIn returns the licence of the module in a folder. If there are several files, one must be an allowed
// licence: the others are for code that the module contains.
func licenceIn(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var names []string
	for _, entry := range entries {
		name := strings.ToLower(entry.Name())
		if entry.IsDir() || !strings.HasPrefix(name, "licen") && !strings.HasPrefix(name, "copying") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return "", err
		}
		if licence := licenceOf(string(text)); licence != "" {
			return licence, nil
		}
		names = append(names, entry.Name())
	}
	if len(names) > 0 {
		return "", fmt.Errorf("no allowed licence in %s; see allowedLicences in internal/testall",
			strings.Join(names, ", "))
	}
	return "", errors.New("there is no file with a licence")
}
