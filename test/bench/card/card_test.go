package card

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// TestLengths checks that every text of a card has the length that it was laid out with.
func TestLengths(t *testing.T) {
	c := New(100)
	texts := []string{"a < b & c", "0.780 s  (3.65×)", "wide WWWW", "thin illi"}
	for i, text := range texts {
		c.FillText(Style(vg.Length(9+i)), vg.Point{X: 10, Y: vg.Length(20 * i)}, text)
	}
	var svg strings.Builder
	if _, err := c.WriteTo(&svg); err != nil {
		t.Fatal(err)
	}
	lengths := regexp.MustCompile(`<text textLength="([0-9.]+)" lengthAdjust="spacingAndGlyphs" x=`).
		FindAllStringSubmatch(svg.String(), -1)
	if len(lengths) != len(texts) || strings.Count(svg.String(), "<text ") != len(texts) {
		t.Fatalf("%d texts have lengths in\n%s", len(lengths), svg.String())
	}
	for i, text := range texts {
		got, err := strconv.ParseFloat(lengths[i][1], 64)
		want := Style(vg.Length(9 + i)).Width(text).Points()
		if err != nil || got < want*.999 || got > want*1.001 {
			t.Errorf("%q has the length %s, want %f", text, lengths[i][1], want)
		}
	}
}
