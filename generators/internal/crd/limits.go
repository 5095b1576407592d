package crd

import (
	"encoding/json"
	"regexp"
	"strconv"
)

// checkLimit checks the value of a keyword that limits values.
func (v value) checkLimit(keyword string) {
	switch keyword {
	case "pattern":
		if _, err := regexp.Compile(v.text()); err != nil {
			v.errorf("no regular expression of Go: %v", err)
		}
	case "uniqueItems":
		if v.flag() {
			v.errorf("no server accepts this; x-kubernetes-list-type: set says the same")
		}
	case "exclusiveMinimum", "exclusiveMaximum":
		v.flag()
	case "minimum", "maximum", "multipleOf":
		before := v.r.errors()
		if _, ok := v.json().(json.Number); !ok && v.r.errors() == before {
			v.errorf("is %s, not a number", v.kind())
		}
	default:
		v.integer()
	}
}

// integer returns a whole number. Anything else is reported.
func (v value) integer() (n int64, ok bool) {
	before := v.r.errors()
	number, _ := v.json().(json.Number)
	n, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil && v.r.errors() == before {
		v.errorf("is %s, not a whole number", v.kind())
	}
	return n, err == nil
}

// checkText checks the value of a keyword that only documents.
func (v value) checkText(keyword string) {
	if keyword == "title" {
		v.text()
		return
	}
	for _, field := range v.object() {
		field.text()
	}
}
