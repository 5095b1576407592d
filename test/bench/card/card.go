// Package card draws the charts of the documentation: each is a white card, so that it can also be read on a
// dark page.
package card

import (
	"fmt"
	"html"
	"image/color"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The colours.
var (
	Ink  = color.RGBA{R: 0x1f, G: 0x23, B: 0x28, A: 0xff}
	Blue = color.RGBA{R: 0x09, G: 0x69, B: 0xda, A: 0xff}
	Grey = color.RGBA{R: 0xaf, G: 0xb8, B: 0xc1, A: 0xff}
)

// The dimensions.
const (
	Width  = vg.Length(560)
	Margin = vg.Length(14)
)

// Card is the canvas of a chart.
type Card struct {
	draw.Canvas
	svg *vgsvg.Canvas
}

// New returns an empty card.
func New(height vg.Length) Card {
	svg := vgsvg.New(Width, height)
	c := Card{draw.New(svg), svg}
	c.FillPolygon(color.White, corners(c.Rectangle))
	return c
}

// WriteTo writes the card as SVG.
func (c Card) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	if _, err := c.svg.WriteTo(&b); err != nil {
		return 0, err
	}
	n, err := io.WriteString(w, withLengths(withFamilies(b.String())))
	return int64(n), err
}

// withFamilies names the fonts that stand in for Liberation Sans where it is missing.
func withFamilies(svg string) string {
	const family = "font-family:Liberation Sans"
	return strings.ReplaceAll(svg, family+";", family+",Arial,Helvetica,sans-serif;")
}

var textElement = regexp.MustCompile(`<text (x="[^>]*font-size:([0-9.]+)px[^>]*)>([^<]*)</text>`)

// withLengths gives each text the length that it has in Liberation Sans, which the layout was made for. Other
// fonts are wider, such as DejaVu Sans, and their text would run under its neighbours.
func withLengths(svg string) string {
	return textElement.ReplaceAllStringFunc(svg, func(element string) string {
		parts := textElement.FindStringSubmatch(element)
		size, err := strconv.ParseFloat(parts[2], 64)
		if err != nil {
			return element
		}
		length := Style(vg.Length(size)).Width(html.UnescapeString(parts[3])).Points()
		return fmt.Sprintf(`<text textLength="%.5g" lengthAdjust="spacingAndGlyphs" %s>%s</text>`,
			length, parts[1], parts[3])
	})
}

// Entry explains a colour.
type Entry struct {
	Color color.Color
	Text  string
}

// Head writes a caption, and below it a legend, at the top of a canvas.
func Head(c draw.Canvas, size vg.Length, caption string, legend []Entry) {
	s := Style(size)
	s.YAlign = draw.YTop
	at := vg.Point{X: c.Min.X + Margin, Y: c.Max.Y - Margin + 2}
	c.FillText(s, at, caption)
	at.Y -= 18
	s = Style(9)
	s.YAlign = draw.YTop
	for _, entry := range legend {
		square := vg.Rectangle{Min: vg.Point{X: at.X, Y: at.Y - 10.5}, Max: vg.Point{X: at.X + 9, Y: at.Y - 1.5}}
		c.FillPolygon(entry.Color, corners(square))
		at.X += 13
		c.FillText(s, at, entry.Text)
		at.X += s.Width(entry.Text) + 16
	}
}

func corners(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}

// Style is that of text.
func Style(size vg.Length) text.Style {
	return text.Style{Color: Ink, Font: Sans(size), Handler: plot.DefaultTextHandler}
}

// Sans is the font.
func Sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}
