package marker

import "strings"

// Suggest returns `; did you mean "x"?` with the known name that is closest to
// name, ignoring case, and "" if none is close: at most two edits away, and fewer
// than half of the name's length. Of equally close names it takes the first.
func Suggest(name string, known []string) string {
	name, best, distance := strings.ToLower(name), "", min(3, (len(name)+1)/2)
	for _, k := range known {
		if longer := len(name) - len(k); max(longer, -longer) >= distance { // as many edits, at least
			continue
		}
		if d := edits(name, strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean \"" + best + "\"?"
}

// edits is the Damerau-Levenshtein distance in bytes (optimal string alignment): a
// swap of neighbours counts as one edit, since it is the most common typo.
func edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(row[j]+1, last[j+1]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
