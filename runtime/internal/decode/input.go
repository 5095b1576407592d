package decode

import (
	"bytes"
	"io"
)

// The window on a stream starts small, because a program may have hundreds of watches on
// which little happens, and grows with what arrives. A large window saves reads of the
// connection, each of which is a system call or a switch to the goroutine that reads
// frames of HTTP/2.
const (
	smallWindow = 1<<10 - padding
	largeWindow = 64 << 10
	// hugeWindow is the size above which windows grow faster.
	hugeWindow = 1 << 20
	// padding is the number of zero bytes behind the data that the scanner may read. No
	// token contains a zero byte, so each loop ends there: the scanner needn't check for
	// the end of the data before each byte. Eight bytes are read at once.
	padding = 16
)

// input is a window on a stream: data[pos:end] is read and not yet consumed.
//
//	the stream:  ....consumed....|consumed|not yet|room|padding
//	data:                        |0    pos|    end|    |
//	before:      |<------------->|
//
// Reading may overwrite consumed bytes: nothing may refer to them then.
type input struct {
	from io.Reader
	// data has padding behind end.
	data     []byte
	pos, end int
	// before is the number of bytes of the stream before data.
	before int64
	// err is the error that ended reading, io.EOF at the end of the stream.
	err error
	// lastRead is the number of bytes of the last read.
	lastRead int
	// limit is the largest size of a value.
	limit int
	// turns counts the reads before which bytes were consumed. most is the largest number
	// of bytes that the window held during these.
	turns, most int
}

// roomyTurns is the number of turns after which a window that was never more than an
// eighth full shrinks. One large value must not leave megabytes with a quiet watch.
const roomyTurns = 16

func newInput(from io.Reader, limit int) *input {
	return &input{from: from, data: make([]byte, smallWindow+padding), limit: limit}
}

// fits reports whether a value of n bytes may be read.
func (in *input) fits(n int) bool { return n < in.limit-padding }

// shrink frees a large window. A watch that waits for changes, with little data, needs none.
func (in *input) shrink() {
	if in.end-in.pos <= smallWindow && len(in.data) > smallWindow+padding {
		in.move(make([]byte, smallWindow+padding))
	}
	in.turns, in.most, in.lastRead = 0, in.end, 0
}

// offset is the position in the stream.
func (in *input) offset() int64 { return in.before + int64(in.pos) }

// fill reads once and appends to the window. It may move bytes that aren't consumed. It
// returns false at the end of the stream; in.err is the cause.
func (in *input) fill() bool {
	if in.err != nil {
		return false
	}
	live := in.end - in.pos
	if !in.fits(live) {
		in.err = ErrTooLarge
		return false
	}
	room := len(in.data) - padding
	// Shrink a window that a large value has left behind.
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
		// The window is full, or it is large and little arrives at a time.
		size := smallWindow
		if live > 0 || in.lastRead >= smallWindow/2 {
			size = in.larger()
		}
		in.move(make([]byte, size+padding))
	case in.lastRead >= room/2 && 2*room <= largeWindow:
		// Much arrives at a time: fewer reads will do. A window that wouldn't even double
		// isn't worth its memory.
		in.move(make([]byte, min(4*room, largeWindow)+padding))
	case in.pos > 0:
		// Overwriting the consumed bytes makes room.
		in.move(in.data)
	}
	n, err := 0, error(nil)
	// A reader may return no bytes and no error. Like bufio and encoding/json, give up
	// after a hundred times in a row.
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

// larger returns the size of the window that follows a full one.
func (in *input) larger() int {
	size := 2 * len(in.data)
	if size > hugeWindow {
		// Memory that isn't written to costs nothing, but old windows stay until the next garbage collection.
		size *= 2
	}
	if size > in.limit/2 {
		size = max(in.limit, len(in.data)+padding) // The largest window.
	}
	return size - padding
}

// move makes to the window. It copies the bytes that aren't consumed to the start of it.
func (in *input) move(to []byte) {
	n := copy(to, in.data[in.pos:in.end])
	in.before += int64(in.pos)
	in.data, in.pos, in.end = to, 0, n
}

// peek skips white space, reading as much as that takes, and returns the next byte. It
// returns false at the end of the stream.
func (in *input) peek() (byte, bool) {
	for {
		for ; in.pos < in.end; in.pos++ {
			if c := in.data[in.pos]; !isSpace(c) {
				return c, true
			}
		}
		if !in.fill() {
			return 0, false
		}
	}
}

// frame reads until the JSON value at pos has arrived completely. It looks at each byte
// once. It returns false at the end of the stream. It doesn't check the syntax: a value that
// isn't well-formed may end anywhere.
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

// framer finds the end of a JSON value that arrives in pieces.
type framer struct {
	depth                    int
	inString, escape, scalar bool
}

// scan looks at the next piece of the value and reports whether the value ends there. A
// number ends where something else begins.
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
			f.inString = true
		case '{', '[':
			f.depth++
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
