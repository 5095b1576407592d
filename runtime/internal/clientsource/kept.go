package clientsource

// kept is the text that head and tail keep. It is a [transport.Kept].
type kept struct{ text []byte }

func (k *kept) Take() []byte {
	text := k.text
	k.text = nil
	return text
}

// head keeps the beginning of a body, as long as that isn't larger than mostRecorded.
type head struct {
	kept
	lost bool
}

func (h *head) Write(text []byte) (int, error) {
	if h.lost = h.lost || len(h.text)+len(text) > mostRecorded; h.lost {
		h.text = nil
		return len(text), nil
	}
	h.text = append(h.text, text...)
	return len(text), nil
}

// stop makes head keep nothing more.
func (h *head) stop() { h.text, h.lost = nil, true }

// tail keeps the end of a body.
type tail struct{ kept }

// mostTail is the length of the end that is kept: most events are shorter.
const mostTail = 16 << 10

func (t *tail) Write(text []byte) (int, error) {
	if t.text = append(t.text, text...); len(t.text) > 2*mostTail {
		t.text = append([]byte(nil), t.text[len(t.text)-mostTail:]...)
	}
	return len(text), nil
}
