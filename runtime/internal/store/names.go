package store

// LabelIndex is the name of the index of objects by the value of a label. Who
// looks for objects by their labels uses it where it exists.
func LabelIndex(label string) string { return "label:" + label }

// FieldIndex is the name of the index of objects by the value of a field.
func FieldIndex(field string) string { return "field:" + field }

// ByLabel is the function of a LabelIndex: objects without the label, or without
// labels at all, aren't in it, one whose label is empty is.
func ByLabel(label string) IndexFunc {
	return func(object any) []string {
		labeled, ok := any(object).(interface{ GetLabels() map[string]string })
		if !ok {
			return nil
		}
		if value, ok := labeled.GetLabels()[label]; ok {
			return []string{value}
		}
		return nil
	}
}
