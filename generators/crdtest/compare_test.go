package crds

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/kubewright/kubewright/generators/internal/crd"
)

// strict returns an object without the values that types may drop or add: explicit nulls of fields, and empty
// optional lists, maps and byte strings.
func strict(s *crd.Schema, v any) any {
	switch v := v.(type) {
	case map[string]any:
		if s == nil || s.Embedded || s.PreserveUnknown {
			return numbers(v)
		}
		out := map[string]any{}
		for key, item := range v {
			inner := s.Values
			for _, p := range s.Properties {
				if p.Name == key {
					inner = p.Schema
				}
			}
			droppable := inner != nil && s.Values == nil && !required(s, key)
			if item == nil && s.Values == nil || droppable && isEmptyList(inner, item) {
				continue
			}
			out[key] = strict(inner, item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			if s != nil {
				out[i] = strict(s.Items, item)
			} else {
				out[i] = numbers(item)
			}
		}
		return out
	}
	return numbers(v)
}

func isEmptyList(s *crd.Schema, v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0 && s.Type == "array"
	case map[string]any:
		return len(v) == 0 && (s.Values != nil || s.AnyValues)
	case string:
		return v == "" && s.Format == "byte"
	}
	return false
}

// nonZero returns an object without its zero values, at any depth. Kubernetes' own types leave most of them
// out, and write some that were never set.
func nonZero(v any) any {
	switch v := numbers(v).(type) {
	case map[string]any:
		out := map[string]any{}
		for key, item := range v {
			if left := nonZero(item); left != nil {
				out[key] = left
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = nonZero(item)
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case string:
		if v == "" {
			return nil
		}
		return v
	case float64:
		if v == 0 {
			return nil
		}
		return v
	case bool:
		if !v {
			return nil
		}
		return v
	default:
		return v
	}
}

// withoutGains returns an object without what the types of Kubernetes have added to it, beside values that
// nonZero drops. docs/import.md lists both.
func withoutGains(got, had any) any {
	switch got := got.(type) {
	case map[string]any:
		had, _ := had.(map[string]any)
		out := map[string]any{}
		for key, item := range got {
			if key != "divisor" || item != "0" || had[key] != nil {
				out[key] = withoutGains(item, had[key])
			}
		}
		return out
	case []any:
		had, _ := had.([]any)
		out := make([]any, len(got))
		for i, item := range got {
			if i < len(had) {
				out[i] = withoutGains(item, had[i])
			} else {
				out[i] = item
			}
		}
		return out
	}
	return got
}

// numbers returns the value with all numbers in the same form.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, item := range v {
			out[key] = numbers(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = numbers(item)
		}
		return out
	case json.Number:
		n, err := strconv.ParseFloat(v.String(), 64)
		if math.Abs(n) < 1<<53 && err == nil {
			return n
		}
		return v.String()
	}
	return v
}
