package crd

import "strings"

// rule reads a validation rule.
func (v value) rule() Rule {
	var rule Rule
	fields := v.object()
	v.known(fields, ruleKeys, nil)
	v.need(fields, "rule")
	for _, key := range ruleKeys {
		if field, ok := fields[key]; ok && !field.isNull() {
			if key == "optionalOldSelf" {
				field.flag()
			} else {
				field.text()
			}
			rule = append(rule, Limit{key, field.jsonText()})
		}
	}
	return rule
}

// checkRule checks a validation rule of a schema, except for its CEL expressions.
func (v value) checkRule(s *Schema) {
	fields := v.object()
	texts := map[string]string{}
	for _, key := range ruleKeys {
		field, ok := fields[key]
		if !ok || key == "optionalOldSelf" {
			continue
		}
		text := field.text()
		texts[key] = strings.TrimSpace(text)
		if texts[key] == "" && (key == "rule" || text != "") {
			field.errorf("is empty")
		}
	}
	const breaks = "\r\n"
	switch {
	case strings.ContainsAny(texts["message"], breaks):
		fields["message"].errorf("has a line break")
	case strings.ContainsAny(texts["rule"], breaks) && texts["message"] == "":
		v.errorf("a rule with a line break needs a message")
	}
	if reason, ok := fields["reason"]; ok && !reason.isNull() {
		reason.oneOf("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
	}
	if path := texts["fieldPath"]; path != "" && s.at(fields["fieldPath"].text(), true) == nil {
		fields["fieldPath"].errorf("%q is no path to a field, such as .spec.kind", path)
	}
}

// at returns the schema at a path such as .spec.kind, or .metadata.labels['a.b'] with brackets; nil if there
// is none.
func (s *Schema) at(path string, brackets bool) *Schema {
	for path != "" && s != nil {
		var name string
		if rest, ok := strings.CutPrefix(path, "["); ok && brackets {
			var quoted bool
			name, path, quoted = strings.Cut(strings.TrimPrefix(rest, "'"), "']")
			if !quoted || !strings.HasPrefix(rest, "'") {
				return nil
			}
			name = strings.NewReplacer(`\'`, `'`, `\\`, `\`).Replace(name)
		} else if rest, ok := strings.CutPrefix(path, "."); ok {
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			name, path = rest[:end], rest[end:]
		} else {
			return nil
		}
		if len(s.Properties) > 0 {
			s = s.property(name)
		} else {
			s = s.Values
		}
	}
	return s
}
