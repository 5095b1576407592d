package decode

// The costs of an object in bytes of memory, without its strings, which are about as long as its text. The
// numbers are those of Go's maps and of slices that grow, rounded up. They include the memory in which
// elements are collected first.
const (
	containerCost = 64  // a map or a slice without a type
	elementCost   = 48  // a string or an interface in a slice
	entryCost     = 128 // an entry of a map, without its value
)

// spend counts memory that is about to be allocated for the object. It fails if the object takes too much.
func (d *jsonDecoder) spend(n int) bool {
	d.left -= n
	return d.left >= 0 || d.fail(ErrTooLarge)
}

// release ends an attempt. A large object must not hold memory for good.
func (d *jsonDecoder) release() {
	d.data, d.times = nil, nil
	if cap(d.unquoted) > largeWindow {
		d.unquoted = nil
	}
}

// tooDeep reports whether messages are nested deeper than depth. Any value with a length may be a message, so
// each is read as if it were one. That is quick: a byte is read as the tag or length of at most one field,
// and reading text that isn't a message fails soon. Groups have no length; their fields count as those of the
// message.
func tooDeep(text []byte, depth int) bool {
	for len(text) > 0 {
		tag, n := uvarint(text)
		if n <= 0 {
			return false
		}
		text = text[n:]
		switch tag & 7 {
		case wireVarint:
			if _, n = uvarint(text); n <= 0 {
				return false
			}
			text = text[n:]
		case wireBytes:
			value, behind, ok := cutBytes(text)
			if !ok {
				return false
			}
			if depth == 0 || tooDeep(value, depth-1) {
				return true
			}
			text = behind
		case wire64:
			text = text[min(8, len(text)):]
		case wire32:
			text = text[min(4, len(text)):]
		case wireGroup, wireGroupEnd:
		default:
			return false
		}
	}
	return false
}
