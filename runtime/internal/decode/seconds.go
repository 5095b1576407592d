package decode

import (
	"encoding/binary"
	"time"
)

// A time as servers write it, "2026-03-04T05:06:07Z", is read as three words. XOR with the word's form leaves
// the values of digits, and 0 for other bytes. The most that each may be, and what is added to it, make 15: a
// larger value sets a bit in the upper half of its byte.
const (
	dateForm, dateAdded     = 0x303030302d30302d, 0x060606060f06060f // "0000-00-"
	minuteForm, minuteAdded = 0x30305430303a3030, 0x06060f06060f0606 // "00T00:00"
	secondForm, secondAdded = 0x3a30305a, 0x0f06060f                 // ":00Z"

	upperHalves = 0xf0f0f0f0f0f0f0f0
)

// parseSeconds parses 20 bytes as a time in seconds since 1970. It returns 0 for other text. [time.Parse]
// takes several times as long.
func parseSeconds(text []byte) int64 {
	date := binary.BigEndian.Uint64(text) ^ dateForm
	minutes := binary.BigEndian.Uint64(text[8:]) ^ minuteForm
	seconds := uint64(binary.BigEndian.Uint32(text[16:])) ^ secondForm
	if (date|(date+dateAdded)|minutes|(minutes+minuteAdded)|seconds|(seconds+secondAdded))&upperHalves != 0 {
		return 0
	}
	year, month, day := 100*two(date, 48)+two(date, 32), two(date, 8), two(minutes, 48)
	hour, minute, second := two(minutes, 24), two(minutes, 0), two(seconds, 8)
	if month == 0 || month > 12 || day == 0 || day > 31 || hour > 23 || minute > 59 || second > 59 {
		return 0
	}
	// Years that begin with March have the leap day at their end.
	if month -= 3; month < 0 {
		year, month = year-1, month+12
	}
	const before1970 = 719468 // days since the first of March of the year 0
	days := 365*year + year/4 - year/100 + year/400 + (153*month+2)/5 + day - 1 - before1970
	seconds1970 := ((days*24+hour)*60+minute)*60 + second
	if year < 0 || day > 28 && time.Unix(seconds1970, 0).UTC().Day() != int(day) {
		return 0 // The month lacks that day.
	}
	return seconds1970
}

// two returns the number of two digits, whose values are in the two bytes of a word behind that many bits.
func two(word uint64, bits int) int64 { return int64(word>>(bits+8)&0xff)*10 + int64(word>>bits&0xff) }
