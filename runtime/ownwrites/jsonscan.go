package ownwrites

import (
	"bytes"
	"encoding/json"
)

// field is a field of an answer that jsonScan knows.
type field uint8

const (
	other field = iota
	kindField
	metadataField
	detailsField
	nameField
	namespaceField
	uidField
	versionField
	deletionField
	labelsField
	creationField
	graceField
	finalizersField
)

// fieldsByName has the fields of both depths: no name means something at both.
var fieldsByName = map[string]field{
	"kind":                       kindField,
	"metadata":                   metadataField,
	"details":                    detailsField,
	"name":                       nameField,
	"namespace":                  namespaceField,
	"uid":                        uidField,
	"resourceVersion":            versionField,
	"deletionTimestamp":          deletionField,
	"labels":                     labelsField,
	"creationTimestamp":          creationField,
	"deletionGracePeriodSeconds": graceField,
	"finalizers":                 finalizersField,
}

// jsonScan finds an answer's metadata in JSON that arrives in pieces. It keeps only the values that it looks
// for. The answer's kind decides whether that is all: a Status has more behind its metadata.
type jsonScan struct {
	// brief ends the scan once the object is identified, wherever its labels are, unless it is being deleted.
	brief bool
	// stays means that the times of the object were read: those of its creation and deletion stand side by
	// side, both where keys are sorted and in the order of API types.
	stays             bool
	depth             int
	inString, escaped bool
	// isObject says which of the open values at the depths 1 and 2 are objects. expectsKey means that the next
	// string in such an object is a key, isKey that the open string is one.
	isObject          [3]bool
	expectsKey, isKey bool
	// at are the fields at the depths 1 and 2.
	at [3]field
	// text is the key or value that is being kept, without quotes; labels are kept whole.
	keeps, keepsLabels bool
	text               []byte
	// first is the memory that text has at first.
	first [64]byte
}

// write reads on. It returns true once it has read all that matters.
func (s *jsonScan) write(p []byte, a *answer) (over bool) {
	for len(p) > 0 && !over {
		n, keeps := 0, s.keepsLabels
		if s.inString {
			n = s.inside(p, a)
			over = s.brief && s.stays && !a.deleting && !s.inString && a.isIdentified()
		} else {
			n = s.between(p)
			a.graced = a.graced || s.isIn(graceField) && bytes.ContainsAny(p[:n], "123456789")
			if n < len(p) {
				over = s.token(p[n], a)
				n++
			}
		}
		if keeps {
			s.text = append(s.text, p[:n]...)
		}
		if keeps && s.depth < 3 {
			s.endLabels(a)
		}
		p = p[n:]
	}
	return over
}

// between returns the length of the text before the next token that matters.
func (s *jsonScan) between(p []byte) int {
	for i, c := range p {
		switch c {
		case '"', '{', '}', '[', ']':
			return i
		case ',', ':':
			if s.depth <= 2 {
				return i
			}
		}
	}
	return len(p)
}

// inside reads the open string, and returns the length of what it has read.
func (s *jsonScan) inside(p []byte, a *answer) int {
	// Both characters are looked for in short pieces, since a text may have many of one and none of the other.
	const piece = 64
	for i := 0; i < len(p); {
		if s.escaped {
			s.escaped = false
			i++
			continue
		}
		part := p[i:min(i+piece, len(p))]
		end := bytes.IndexByte(part, '"')
		if end >= 0 {
			part = part[:end]
		}
		if at := bytes.IndexByte(part, '\\'); at >= 0 {
			s.escaped = true
			i += at + 1
			continue
		}
		if i += len(part); end < 0 {
			continue
		}
		if s.keeps {
			s.text = append(s.text, p[:i]...)
			s.endText(a)
		}
		s.inString = false
		return i + 1
	}
	if s.keeps {
		s.text = append(s.text, p...)
	}
	return len(p)
}

// token reads a token outside of strings. It returns true after the metadata of an object, and at the end.
func (s *jsonScan) token(c byte, a *answer) (over bool) {
	switch c {
	case '"':
		s.inString = true
		s.isKey = s.depth >= 1 && s.depth <= 2 && s.isObject[s.depth] && s.expectsKey
		s.keeps = s.isKey && (s.depth == 1 || s.inKnown()) || !s.isKey && s.wantsValue()
		a.finalizers = a.finalizers || s.depth == 3 && s.isIn(finalizersField)
		if s.keeps {
			s.begin()
		}
	case '{', '[':
		s.depth++
		if s.depth <= 2 {
			s.isObject[s.depth], s.expectsKey, s.at[s.depth] = c == '{', c == '{', other
		}
		if s.depth == 3 && s.isIn(labelsField) {
			s.begin()
			s.keepsLabels, s.text = true, append(s.text, c)
		}
	case '}', ']':
		s.depth--
		if s.depth == 0 {
			a.whole = true
			return true
		}
		return s.depth == 1 && s.at[1] == metadataField && a.kind != "" && a.kind != "Status"
	case ',':
		s.expectsKey = s.depth >= 1 && s.isObject[s.depth]
	case ':':
		s.expectsKey = false
	}
	return false
}

// begin begins to keep a text.
func (s *jsonScan) begin() {
	if s.text == nil {
		s.text = s.first[:]
	}
	s.text = s.text[:0]
}

// isIn reports whether a field of the metadata is open.
func (s *jsonScan) isIn(f field) bool { return s.at[1] == metadataField && s.at[2] == f }

// inKnown reports whether the keys at depth 2 matter.
func (s *jsonScan) inKnown() bool { return s.at[1] == metadataField || s.at[1] == detailsField }

// wantsValue reports whether the string that begins is a value to keep.
func (s *jsonScan) wantsValue() bool {
	switch s.depth {
	case 1:
		return s.at[1] == kindField
	case 2:
		return s.inKnown() && s.isObject[2] && s.at[2] >= nameField && s.at[2] <= deletionField
	}
	return false
}

// endText ends a key or a value that was kept.
func (s *jsonScan) endText(a *answer) {
	s.keeps = false
	switch {
	case s.isKey:
		last, next := s.at[s.depth], fieldsByName[string(s.text)]
		s.at[s.depth] = next
		s.stays = s.stays || isTime(last) && !isTime(next)
	case s.depth == 1:
		a.kind = unquoted(s.text)
	case s.at[1] == detailsField:
		if s.at[2] == uidField {
			a.detailsUID = unquoted(s.text)
		}
	default:
		a.set(s.at[2], unquoted(s.text))
	}
}

// isTime reports whether a field is one of those that tell of creation and deletion.
func isTime(f field) bool { return f == creationField || f == deletionField || f == graceField }

func (s *jsonScan) endLabels(a *answer) {
	s.keepsLabels = false
	if err := json.Unmarshal(s.text, &a.labels); err != nil {
		a.labels = nil
	}
}

// unquoted returns the text of a string in JSON, given without quotes.
func unquoted(text []byte) string {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text)
	}
	var plain string
	if json.Unmarshal([]byte(`"`+string(text)+`"`), &plain) != nil {
		return string(text)
	}
	return plain
}
