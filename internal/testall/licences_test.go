package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLicenceOf(t *testing.T) {
	for text, want := range map[string]string{
		"                                 Apache License\n   Version 2.0, January 2004\n":  "Apache-2.0",
		"Permission is hereby granted, free of charge, to any\nperson obtaining a copy of": "MIT",
		"Redistribution and use in source and binary\nforms\n" +
			" * Neither the name of Google Inc. nor": "BSD-3-Clause",
		"Redistribution and use in source and binary forms\n" +
			"2. Redistributions in binary form must reproduce": "BSD-2-Clause",
		"Permission to use, copy, modify, and distribute this software for any\n// purpose":                 "",
		"Permission to use, copy, modify, and distribute this software for any purpose with or without fee": "ISC",
		"GNU GENERAL PUBLIC LICENSE\n Version 3; Redistribution and use in source and binary forms":         "",
		"All rights reserved.": "",
		"":                     "",
	} {
		if got := licenceOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestLicenceIn(t *testing.T) {
	const mit = "Permission is hereby granted, free of charge, to any person obtaining a copy"
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"one file":                {map[string]string{"LICENSE": mit}, "MIT"},
		"another name":            {map[string]string{"COPYING.txt": mit}, "MIT"},
		"one of two":              {map[string]string{"LICENSE": "mine", "LICENSE.md": mit}, "MIT"},
		"none allowed":            {map[string]string{"LICENSE": "mine"}, ""},
		"no file":                 {map[string]string{"README.md": mit}, ""},
		"in another file's words": {map[string]string{"doc.go": mit}, ""},
	} {
		dir := t.TempDir()
		for file, text := range c.files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := licenceIn(dir)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
