package render

import (
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// wish is an imported package and its preferred alias, "" for none.
type wish struct{ path, alias string }

// aliases returns a name for each imported package that is unique in the file and not among
// taken. Packages with a preferred alias choose first, and among them those with the lower
// import path, so that the result depends on the set of wishes only.
func aliases(wishes []wish, taken map[string]bool) map[string]string {
	slices.SortFunc(wishes, func(a, b wish) int {
		if (a.alias == "") != (b.alias == "") {
			if a.alias != "" {
				return -1
			}
			return 1
		}
		return strings.Compare(a.path+"\x00"+a.alias, b.path+"\x00"+b.alias)
	})
	names := make(map[string]string, len(wishes))
	for _, w := range wishes {
		if names[w.path] != "" {
			continue
		}
		for candidate := range candidates(w) {
			if legal(candidate) && !taken[candidate] {
				names[w.path] = candidate
				taken[candidate] = true
				break
			}
		}
	}
	return names
}

// versionElement matches path elements that would make poor names on their own: two API
// packages of a file easily have the same.
var versionElement = regexp.MustCompile(`^(v[0-9]+((alpha|beta)[0-9]+)?|internalversion)$`)

// candidates yields names for a package in order of preference: the preferred alias, the last
// path element (with the one before it if the last is a version), then more and more of the
// path, then all of it with a number.
func candidates(w wish) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if w.alias != "" && !yield(w.alias) {
			return
		}
		elements := strings.Split(w.path, "/")
		first := len(elements) - 1
		if first > 0 && versionElement.MatchString(elements[first]) {
			first--
		}
		name := ""
		for ; first >= 0; first-- {
			name = identifier(strings.Join(elements[first:], ""))
			if !yield(name) {
				return
			}
		}
		if name == "" {
			name = "pkg" // the path has no letter
		}
		for n := 2; yield(name + strconv.Itoa(n)); n++ {
		}
	}
}

// identifier returns s in lower case without the characters that an identifier can't have.
func identifier(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return -1
	}, s)
	return strings.TrimLeft(s, "0123456789")
}

// legal reports whether a package can have the name without shadowing a predeclared
// identifier, which generated code may use.
func legal(name string) bool {
	return token.IsIdentifier(name) && types.Universe.Lookup(name) == nil && name != "init" && name != "main"
}
