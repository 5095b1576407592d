package crds

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/crd"
)

// random makes values that a schema allows.
type random struct{ *rand.Rand }

// object returns an object of a version of a definition. The greater depth is, the more optional fields are
// left out.
func (r random) object(d *crd.Definition, v *crd.Version, depth int) map[string]any {
	object := r.properties(v.Schema, depth)
	object["apiVersion"] = d.Group + "/" + v.Name
	object["kind"] = d.Kind
	object["metadata"] = map[string]any{"name": "random", "labels": map[string]any{"a": "b"}}
	return object
}

// properties returns an object with the properties of a schema. Deep inside, it leaves out most optional
// ones.
func (r random) properties(s *crd.Schema, depth int) map[string]any {
	object := map[string]any{}
	for _, p := range s.Properties {
		if required(s, p.Name) || r.Float64() < 0.7-0.07*float64(depth) {
			object[p.Name] = r.value(p.Schema, depth+1)
		}
	}
	return object
}

func required(s *crd.Schema, name string) bool {
	for _, n := range s.Required {
		if n == name {
			return true
		}
	}
	return false
}

// limit returns a limit of a schema, or otherwise if there is none.
func limit(s *crd.Schema, keyword string, otherwise float64) float64 {
	for _, l := range s.Limits {
		if n, err := strconv.ParseFloat(l.Value, 64); l.Keyword == keyword && err == nil {
			return n
		}
	}
	return otherwise
}

func (r random) value(s *crd.Schema, depth int) any {
	if s.Nullable && r.IntN(10) == 0 {
		return nil
	}
	if len(s.Enum) > 0 {
		return s.Enum[r.IntN(len(s.Enum))]
	}
	switch {
	case s.Embedded:
		return map[string]any{"apiVersion": "v1", "kind": "Anything", "metadata": map[string]any{"name": "x"},
			"more": r.any()}
	case s.IntOrString:
		return r.intOrString(s)
	case s.Type == "":
		return r.any()
	}
	switch s.Type {
	case "object":
		return r.map_(s, depth)
	case "array":
		least := limit(s, "minItems", 0)
		n := int(min(least+float64(r.IntN(3)), limit(s, "maxItems", math.Inf(1))))
		list := make([]any, n)
		for i := range list {
			list[i] = r.value(s.Items, depth+1)
		}
		return list
	case "boolean":
		return r.IntN(2) == 0
	case "integer":
		return json.Number(strconv.FormatInt(r.integer(s), 10))
	case "number":
		least := limit(s, "minimum", -1e6)
		return least + (limit(s, "maximum", least+2e6)-least)*r.Float64()
	}
	return r.text(s)
}

func (r random) map_(s *crd.Schema, depth int) any {
	object := r.properties(s, depth)
	if s.PreserveUnknown {
		object["unknownToAll"] = r.any()
	}
	if s.Values != nil || s.AnyValues {
		for i := range int(limit(s, "minProperties", 0)) + r.IntN(3) {
			key := "key" + strconv.Itoa(i)
			if s.AnyValues {
				object[key] = r.any()
			} else {
				object[key] = r.value(s.Values, depth+1)
			}
		}
	}
	return object
}

// any returns some JSON.
func (r random) any() any {
	return []any{"text", json.Number("7"), true, []any{json.Number("1"), "x", nil},
		map[string]any{"a": map[string]any{"b": ""}, "c": nil}}[r.IntN(5)]
}

// intOrString returns a value for either type. Quantities are in canonical form, because programs write them
// in that form.
func (r random) intOrString(s *crd.Schema) any {
	if len(s.Limits) > 0 || s.Type == "string" {
		return []any{"500m", "1Gi", "3", "1500Mi"}[r.IntN(4)]
	}
	if r.IntN(2) == 0 || s.Type == "integer" {
		return json.Number(strconv.Itoa(r.IntN(1000)))
	}
	return "25%"
}

func (r random) integer(s *crd.Schema) int64 {
	least, most := -1e15, 1e15
	if s.Format == "int32" {
		least, most = math.MinInt32, math.MaxInt32
	}
	least = limit(s, "minimum", least)
	most = limit(s, "maximum", math.Max(most, least))
	if least < 0 && most > 0 && r.IntN(4) == 0 {
		return 0
	}
	return int64(least + (most-least)*r.Float64())
}

// samples are strings that patterns often allow.
var samples = []string{"a", "abc", "A", "Abc", "ABC", "a-b", "a.b", "a.b/c", "1", "10", "10s", "1h", "10m",
	"100ms", "1.2.3.4", "1.2.3.0/24", "::1", "http://a.b/c", "https://a.b", "https://a.b/", "/", "/a", "*.a.b",
	"v1", "v1.2.3", "1.2", "a@b.c", "sha256:" + strings.Repeat("ab", 32), "100%", "50", "a:b", "a=b", "HTTP",
	"200", "$(A)", "2020-01-01", "00:00", "* * * * *", "mysql://a"}

// formatted are strings of the formats that API servers check.
var formatted = map[string]string{"ipv4": "10.1.2.3", "ipv6": "::1", "cidr": "10.1.0.0/16",
	"uri": "https://a.b/c", "hostname": "a.b", "duration": "10s",
	"uuid": "8c6f8a5e-3f5e-4c2b-9f0e-2f0d5b1c7a11", "email": "a@b.c",
	"date": "2026-01-15", "mac": "00:00:5e:00:53:01"}

func (r random) text(s *crd.Schema) string {
	if text, ok := formatted[s.Format]; ok {
		return text
	}
	switch s.Format {
	case "date-time":
		return "2026-0" + strconv.Itoa(1+r.IntN(9)) + "-15T10:20:30Z"
	case "byte":
		return base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", r.IntN(5))))
	}
	least, most := limit(s, "minLength", 0), limit(s, "maxLength", math.Inf(1))
	fits := func(text string) bool { return len(text) >= int(least) && float64(len(text)) <= most }
	for _, l := range s.Limits {
		var pattern string
		if l.Keyword != "pattern" || json.Unmarshal([]byte(l.Value), &pattern) != nil {
			continue
		}
		expression, err := regexp.Compile(pattern)
		for _, i := range r.Perm(len(samples)) {
			if err == nil && fits(samples[i]) && expression.MatchString(samples[i]) {
				return samples[i]
			}
		}
	}
	if least == 0 && r.IntN(3) == 0 {
		return ""
	}
	text := []rune("word" + strings.Repeat(" é<&>", 1+int(least)/5))
	return string(text[:int(min(max(least, float64(r.IntN(8))), most))])
}
