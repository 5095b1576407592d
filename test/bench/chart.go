package main

import (
	"image/color"
	"io"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The colours of a chart. It is a white card, so that it can be read on a dark page as well.
var (
	ink         = color.RGBA{R: 0x1f, G: 0x23, B: 0x28, A: 0xff}
	oursColor   = color.RGBA{R: 0x09, G: 0x69, B: 0xda, A: 0xff}
	theirsColor = color.RGBA{R: 0xaf, G: 0xb8, B: 0xc1, A: 0xff}
)

// The measures of a chart.
const (
	chartWidth = vg.Length(560)
	barHeight  = vg.Length(13)
	pairHeight = vg.Length(38)
	margin     = vg.Length(14)
	headHeight = vg.Length(48)
)

// draw writes the chart as SVG: for each row a bar of ours and one of theirs, with the figures
// beside them, in the order of the rows.
func (d drawn) draw(w io.Writer) error {
	n := len(d.bars)
	ours, theirs := newSide(n, oursColor, barHeight/2), newSide(n, theirsColor, -barHeight/2)
	names := make([]string, n)
	for i, b := range d.bars {
		at := n - 1 - i // The axis goes up.
		names[at] = b.bar
		ours.values[at], ours.labels[at] = median(b.Ours), b.OursInUnit()+"  ("+b.Ratio()+"×)"
		theirs.values[at], theirs.labels[at] = median(b.Theirs), b.TheirsInUnit()
	}
	p := plot.New()
	p.BackgroundColor = nil
	for _, s := range []side{ours, theirs} {
		if err := s.addTo(p); err != nil {
			return err
		}
	}
	p.HideX()
	p.NominalY(names...)
	p.X.Min, p.X.Padding = 0, 0
	p.Y.Min, p.Y.Max, p.Y.Padding = -.5, float64(n)-.5, 0
	p.Y.Tick.Label.Font, p.Y.Tick.Label.Color = sans(10), ink
	p.Y.Width = vg.Points(.5)

	height := headHeight + vg.Length(n)*pairHeight + margin
	svg := vgsvg.New(chartWidth, height)
	c := draw.New(svg)
	c.FillPolygon(color.White, corners(c.Rectangle))
	d.drawHead(c)
	p.Draw(draw.Crop(c, margin, -margin, margin, -headHeight))
	var b strings.Builder
	if _, err := svg.WriteTo(&b); err != nil {
		return err
	}
	// The fonts that stand in for Liberation Sans have the same widths.
	const family = "font-family:Liberation Sans"
	_, err := strings.NewReplacer(family+";", family+",Arial,Helvetica,sans-serif;").WriteString(w, b.String())
	return err
}

// side is one of the two sides that a chart compares.
type side struct {
	values plotter.Values
	labels []string
	color  color.Color
	// offset is how far above the middle of their pair the bars are.
	offset vg.Length
}

func newSide(bars int, c color.Color, offset vg.Length) side {
	return side{make(plotter.Values, bars), make([]string, bars), c, offset}
}

func (s side) addTo(p *plot.Plot) error {
	bars, err := plotter.NewBarChart(s.values, barHeight)
	if err != nil {
		return err
	}
	bars.Horizontal, bars.LineStyle.Width = true, 0
	bars.Offset, bars.Color = s.offset, s.color
	ends := make(plotter.XYs, len(s.values))
	for i, v := range s.values {
		ends[i] = plotter.XY{X: v, Y: float64(i)}
	}
	labels, err := plotter.NewLabels(plotter.XYLabels{XYs: ends, Labels: s.labels})
	if err != nil {
		return err
	}
	labels.Offset = vg.Point{X: 4, Y: s.offset + 1.5}
	for i := range labels.TextStyle {
		labels.TextStyle[i] = style(9)
		labels.TextStyle[i].YAlign = draw.YCenter
	}
	p.Add(bars, labels)
	return nil
}

// drawHead draws the caption and says which colour is whose.
func (d drawn) drawHead(c draw.Canvas) {
	caption := style(12)
	caption.YAlign = draw.YTop
	at := vg.Point{X: margin, Y: c.Max.Y - margin + 2}
	c.FillText(caption, at, d.caption)
	at.Y -= 18
	legend := style(9)
	legend.YAlign = draw.YTop
	for _, entry := range []struct {
		color color.Color
		text  string
	}{{oursColor, "kubewright (how many times better)"}, {theirsColor, d.theirs}} {
		square := vg.Rectangle{Min: vg.Point{X: at.X, Y: at.Y - 10.5}, Max: vg.Point{X: at.X + 9, Y: at.Y - 1.5}}
		c.FillPolygon(entry.color, corners(square))
		at.X += 13
		c.FillText(legend, at, entry.text)
		at.X += legend.Width(entry.text) + 16
	}
}

func corners(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}

func style(size vg.Length) text.Style {
	return text.Style{Color: ink, Font: sans(size), Handler: plot.DefaultTextHandler}
}

func sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}
