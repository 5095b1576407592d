package decode

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strconv"
	"time"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

// mismatched is what becomes of a value of a kind that p's type can't hold. Its
// syntax comes first: what isn't JSON is reported as that.
func (d *decoder) mismatched(p *plan) bool {
	kind := "number"
	switch d.data[d.pos] {
	case '"':
		kind = "string"
	case '{':
		kind = "object"
	case '[':
		kind = "array"
	case 't', 'f':
		kind = "bool"
	case 'n':
		kind = "null"
	}
	return d.skip() && d.mismatch(kind, p.typ)
}

func (d *decoder) string(p *plan, to *string) bool {
	switch d.data[d.pos] {
	case '"':
		text, ok := d.bytes()
		if ok {
			*to = d.text(p, text)
		}
		return ok
	case 'n':
		return d.literal("null")
	}
	return d.mismatched(p)
}

// text makes a string, or finds an equal one.
func (d *decoder) text(p *plan, content []byte) string {
	if p.unique {
		return string(content)
	}
	return d.strings.get(content)
}

func (d *decoder) bool(p *plan, to *bool) bool {
	switch d.data[d.pos] {
	case 't':
		if !d.literal("true") {
			return false
		}
		*to = true
		return true
	case 'f':
		if !d.literal("false") {
			return false
		}
		*to = false
		return true
	case 'n':
		return d.literal("null")
	}
	return d.mismatched(p)
}

// numeral reads the number at pos. It returns nil for null, and not ok after an
// error.
func (d *decoder) numeral(p *plan) (text []byte, ok bool) {
	switch c := d.data[d.pos]; {
	case c == '-' || isDigit(c):
		return d.number()
	case c == 'n':
		return nil, d.literal("null")
	}
	return nil, d.mismatched(p)
}

func (d *decoder) int(p *plan, at unsafe.Pointer) bool {
	text, ok := d.numeral(p)
	if text == nil {
		return ok
	}
	n, err := parseInt(text)
	if err == nil {
		switch p.typ.Size() {
		case 8:
			*(*int64)(at) = n
		case 4:
			*(*int32)(at) = int32(n)
			ok = int64(int32(n)) == n
		case 2:
			*(*int16)(at) = int16(n)
			ok = int64(int16(n)) == n
		case 1:
			*(*int8)(at) = int8(n)
			ok = int64(int8(n)) == n
		}
	}
	if err != nil || !ok {
		return d.mismatch("number "+string(text), p.typ)
	}
	return true
}

// parseInt is strconv.ParseInt for what a JSON number looks like.
func parseInt(text []byte) (int64, error) {
	if len(text) > 18 {
		return strconv.ParseInt(string(text), 10, 64)
	}
	digits, negative := text, text[0] == '-'
	if negative {
		digits = text[1:]
	}
	var n int64
	for _, c := range digits {
		if !isDigit(c) {
			return strconv.ParseInt(string(text), 10, 64)
		}
		n = 10*n + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, nil
}

func (d *decoder) uint(p *plan, at unsafe.Pointer) bool {
	text, ok := d.numeral(p)
	if text == nil {
		return ok
	}
	v := reflect.NewAt(p.typ, at).Elem()
	n, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil || v.OverflowUint(n) {
		return d.mismatch("number "+string(text), p.typ)
	}
	v.SetUint(n)
	return true
}

func (d *decoder) float(p *plan, at unsafe.Pointer) bool {
	text, ok := d.numeral(p)
	if text == nil {
		return ok
	}
	v := reflect.NewAt(p.typ, at).Elem()
	n, err := strconv.ParseFloat(string(text), p.typ.Bits())
	if err != nil || v.OverflowFloat(n) {
		return d.mismatch("number "+string(text), p.typ)
	}
	v.SetFloat(n)
	return true
}

func (d *decoder) pointer(p *plan, at unsafe.Pointer) bool {
	slot := (*unsafe.Pointer)(at)
	if d.data[d.pos] == 'n' {
		if !d.literal("null") {
			return false
		}
		*slot = nil
		return true
	}
	if *slot == nil {
		*slot = reflect.New(p.elem.typ).UnsafePointer()
	}
	return d.value(p.elem, *slot)
}

// byteSlice decodes a []byte, which is a string in base64.
func (d *decoder) byteSlice(p *plan, at unsafe.Pointer) bool {
	to := (*[]byte)(at)
	switch d.data[d.pos] {
	case '"':
		text, ok := d.bytes()
		if !ok {
			return false
		}
		decoded := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
		n, err := base64.StdEncoding.Decode(decoded, text)
		if err != nil {
			return d.fail(err)
		}
		*to = decoded[:n]
		return true
	case 'n':
		if !d.literal("null") {
			return false
		}
		*to = nil
		return true
	}
	return d.foreign(p, at)
}

// time decodes a [metav1.Time]. What servers write, whole seconds in UTC, needs
// no parser; it gives the same value.
func (d *decoder) time(p *plan, at unsafe.Pointer) bool {
	const length = len(`"2006-01-02T15:04:05Z"`)
	if text := d.data[d.pos:]; d.pos+length <= d.end && text[0] == '"' && text[length-2] == 'Z' && text[length-1] == '"' {
		if seconds, ok := unixSeconds(text[1 : length-2]); ok {
			(*metav1.Time)(at).Time = time.Unix(seconds, 0)
			d.pos += length
			return true
		}
	}
	return d.unmarshaler(p, at)
}

// unixSeconds reads 2006-01-02T15:04:05. It leaves days that may not exist to
// others.
func unixSeconds(text []byte) (int64, bool) {
	var n [19]int
	for i, c := range text {
		switch i {
		case 4, 7:
			if c != '-' {
				return 0, false
			}
		case 10:
			if c != 'T' {
				return 0, false
			}
		case 13, 16:
			if c != ':' {
				return 0, false
			}
		default:
			if !isDigit(c) {
				return 0, false
			}
			n[i] = int(c - '0')
		}
	}
	two := func(i int) int { return 10*n[i] + n[i+1] }
	year, month, day := 100*two(0)+two(2), two(5), two(8)
	hour, minute, second := two(11), two(14), two(17)
	if month < 1 || month > 12 || day < 1 || day > 28 && day > daysIn(year, month) || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	// Days since 1970-01-01, with years that begin in March.
	y, m := year, month-3
	if m < 0 {
		y, m = y-1, m+12
	}
	if y < 0 {
		return 0, false
	}
	days := 365*y + y/4 - y/100 + y/400 + (153*m+2)/5 + day - 1 - 719468
	return int64(days)*86400 + int64(hour*3600+minute*60+second), true
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// unmarshaler hands the text to the type's own method.
func (d *decoder) unmarshaler(p *plan, at unsafe.Pointer) bool {
	text, ok := d.raw()
	if !ok {
		return false
	}
	if err := reflect.NewAt(p.typ, at).Interface().(json.Unmarshaler).UnmarshalJSON(text); err != nil {
		return d.fail(err)
	}
	return true
}

// foreign hands the text to Kubernetes' own decoder.
func (d *decoder) foreign(p *plan, at unsafe.Pointer) bool {
	text, ok := d.raw()
	if !ok {
		return false
	}
	if err := kjson.Unmarshal(text, reflect.NewAt(p.typ, at).Interface()); err != nil {
		return d.fail(err)
	}
	return true
}
