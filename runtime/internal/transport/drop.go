package transport

import (
	"net/http"
	"strings"
)

// dropParameter, after a media type that a client accepts, asks an API server to leave metadata.managedFields
// out of the objects of its response. Servers from v1.38 on do that if their feature gate ManagedFieldsOptOut
// is on. Others ignore it. The response doesn't say which.
const dropParameter = ";drop=metadata.managedFields"

// withDrop returns a copy of a header in which each media type that is accepted has the parameter. It returns
// the header itself and false if there is none to add it to.
func withDrop(header http.Header) (changed http.Header, ok bool) {
	accept := header["Accept"]
	values := make([]string, len(accept))
	for i, value := range accept {
		values[i] = acceptWithDrop(value)
		ok = ok || values[i] != value
	}
	if !ok {
		return header, false
	}
	changed = header.Clone()
	changed["Accept"] = values
	return changed, true
}

// acceptWithDrop adds the parameter to each media type in a value of the header Accept.
func acceptWithDrop(value string) string {
	types, ok := split(value, ',')
	if !ok {
		return value
	}
	for i, one := range types {
		types[i] = typeWithDrop(one)
	}
	return strings.Join(types, ",")
}

const blank = " \t"

// typeWithDrop adds the parameter to a media type: before q, because what follows q isn't the media type's.
// One that has a parameter of that name stays as it is.
func typeWithDrop(mediaType string) string {
	parts, _ := split(mediaType, ';')
	if strings.Trim(parts[0], blank) == "" {
		return mediaType
	}
	at, end := -1, len(parts[0])
	for _, parameter := range parts[1:] {
		name, _, _ := strings.Cut(parameter, "=")
		switch strings.ToLower(strings.Trim(name, blank)) {
		case "drop":
			return mediaType
		case "q":
			if at < 0 {
				at = end
			}
		}
		end += len(";") + len(parameter)
	}
	if at < 0 {
		at = len(strings.TrimRight(mediaType, blank))
	}
	return mediaType[:at] + dropParameter + mediaType[at:]
}

// split splits a text at separators that are outside of quoted strings. ok is false if a string doesn't end.
func split(text string, separator byte) (parts []string, ok bool) {
	begin, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++ // The next character is meant literally.
		case c == '"':
			quoted = !quoted
		case c == separator && !quoted:
			parts = append(parts, text[begin:i])
			begin = i + 1
		}
	}
	return append(parts, text[begin:]), !quoted
}
