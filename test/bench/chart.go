package main

import (
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/kubewright/kubewright/test/bench/card"
)

// The dimensions of a chart.
const (
	barHeight  = vg.Length(13)
	pairHeight = vg.Length(38)
	headHeight = vg.Length(48)
)

// draw writes the chart as SVG: for each row a bar of ours and one of theirs, with the figures beside them,
// in the order of the rows.
func (d drawn) draw(w io.Writer) error {
	n := len(d.bars)
	ours, theirs := newSide(n, card.Blue, barHeight/2), newSide(n, card.Grey, -barHeight/2)
	names := make([]string, n)
	for i, b := range d.bars {
		at := n - 1 - i // the axis goes up
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
	p.Y.Tick.Label.Font, p.Y.Tick.Label.Color = card.Sans(10), card.Ink
	p.Y.Width = vg.Points(.5)

	c := card.New(headHeight + vg.Length(n)*pairHeight + card.Margin)
	card.Head(c.Canvas, 12, d.caption, []card.Entry{
		{Color: card.Blue, Text: "kubewright (how many times better)"}, {Color: card.Grey, Text: d.theirs},
	})
	p.Draw(draw.Crop(c.Canvas, card.Margin, -card.Margin, card.Margin, -headHeight))
	_, err := c.WriteTo(w)
	return err
}

// side is one of the two sides that a chart compares.
type side struct {
	values plotter.Values
	labels []string
	color  color.Color
	// offset is how far the bars are above the middle of their pair.
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
		labels.TextStyle[i] = card.Style(9)
		labels.TextStyle[i].YAlign = draw.YCenter
	}
	p.Add(bars, labels)
	return nil
}
