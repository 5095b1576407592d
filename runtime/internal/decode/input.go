package decode

import (
	"bytes"
	"io"
)

// The window on a stream starts small, for the many watches on which little
// happens, and grows with what arrives.
const (
	smallWindow = 4 << 10
	largeWindow = 64 << 10
	// padding are zero bytes behind the data, which may be read: no token
	// contains a zero byte, so whoever reads them stops.
	padding = 16
)

// input is a window on a stream: data[pos:end] is read and not yet consumed.
type input struct {
	from io.Reader
	// data has padding behind end.
	data     []byte
	pos, end int
	// before is the number of bytes that the window has left behind.
	before int64
	// err is what reading ended with, io.EOF for the end of the stream.
	err error
	// lastRead is how much the last read brought.
	lastRead int
	// limit is how much a value may need; zero is any amount.
	limit int
	// turns counts the reads at which something had been consumed since the one
	// before, and most is the most that the window held since it counted from
	// zero.
	turns, most int
}

// roomyTurns is after how many turns a window that was never more than an eighth
// full gets smaller: a large value was large for once.
const roomyTurns = 16

func newInput(from io.Reader) *input {
	return &input{from: from, data: make([]byte, smallWindow+padding)}
}

// inputOf is an input that is all there. It copies data only where it must.
func inputOf(data []byte) *input {
	padded := make([]byte, len(data)+padding)
	copy(padded, data)
	return &input{data: padded, end: len(data), err: io.EOF}
}

// offset is the position in the stream.
func (in *input) offset() int64 { return in.before + int64(in.pos) }

// fill reads once more, behind what is there. What isn't consumed may move. It
// returns false at the end of the stream, whose cause is in.err.
func (in *input) fill() bool {
	if in.err != nil {
		return false
	}
	live := in.end - in.pos
	if in.limit > 0 && live >= in.limit {
		in.err = errTooLarge
		return false
	}
	room := len(in.data) - padding
	if in.pos > 0 {
		in.turns++
	}
	if in.turns == roomyTurns {
		if small := max(4*in.most, smallWindow); 2*small <= room {
			in.move(make([]byte, small+padding))
			room = small
		}
		in.turns, in.most = 0, 0
	}
	switch {
	case live == room, live == 0 && room > smallWindow && in.lastRead < smallWindow/2:
		// Full, or a large window on what has become a trickle.
		size := smallWindow
		if live > 0 || in.lastRead >= smallWindow/2 {
			size = max(2*room, smallWindow)
		}
		in.move(make([]byte, size+padding))
	case in.lastRead >= room/2 && room < largeWindow:
		in.move(make([]byte, min(4*room, largeWindow)+padding))
	case in.pos > 0:
		in.move(in.data)
	}
	n, err := 0, error(nil)
	// A reader may return nothing without an error; a hundred times in a row is
	// what bufio and json take for broken.
	for range 100 {
		if n, err = in.from.Read(in.data[in.end : len(in.data)-padding]); n > 0 || err != nil {
			break
		}
	}
	if n == 0 && err == nil {
		err = io.ErrNoProgress
	}
	in.lastRead = n
	in.end += n
	in.most = max(in.most, in.end)
	clear(in.data[in.end : in.end+padding])
	in.err = err
	return n > 0
}

// move copies what isn't consumed to the start of to, which becomes the window.
func (in *input) move(to []byte) {
	n := copy(to, in.data[in.pos:in.end])
	in.before += int64(in.pos)
	in.data, in.pos, in.end = to, 0, n
}

// peek skips white space and returns the first byte behind it, reading as much
// as it takes. It returns false at the end of the stream.
func (in *input) peek() (byte, bool) {
	for {
		for in.pos < in.end {
			switch c := in.data[in.pos]; c {
			case ' ', '\t', '\r', '\n':
				in.pos++
			default:
				return c, true
			}
		}
		if !in.fill() {
			return 0, false
		}
	}
}

// frame makes sure that the JSON value at pos is there completely, whatever its
// size, looking at each byte once. It returns false at the end of the stream.
// It checks no syntax: what isn't well-formed may end anywhere.
func (in *input) frame() bool {
	var f framer
	for at := in.pos; ; {
		if f.scan(in.data[at:in.end]) {
			return true
		}
		scanned := in.end - in.pos
		if !in.fill() {
			return false
		}
		at = in.pos + scanned
	}
}

// framer finds the end of a value.
type framer struct {
	depth            int
	inString, escape bool
	started, scalar  bool
}

// scan looks at more of the value and says whether it ends there. The end of a
// number is only known by what follows.
func (f *framer) scan(data []byte) bool {
	for i := 0; i < len(data); i++ {
		c := data[i]
		if f.escape {
			f.escape = false
			continue
		}
		if f.inString {
			if next := bytes.IndexAny(data[i:], `"\`); next < 0 {
				return false
			} else {
				i += next
			}
			if data[i] == '\\' {
				f.escape = true
				continue
			}
			f.inString = false
			if f.depth == 0 {
				return true
			}
			continue
		}
		switch c {
		case '"':
			f.inString, f.started = true, true
		case '{', '[':
			f.depth++
			f.started = true
		case '}', ']':
			f.depth--
			if f.depth <= 0 {
				return true
			}
		case ' ', '\t', '\r', '\n', ',', ':':
			if f.scalar && f.depth == 0 {
				return true
			}
		default:
			f.scalar = f.depth == 0
		}
	}
	return false
}
