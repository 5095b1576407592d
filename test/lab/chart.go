package main

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/kubewright/kubewright/test/bench/card"
	"github.com/kubewright/kubewright/test/lab/results"
)

// The dimensions of a soak's chart.
const (
	panelHeight = vg.Length(138)
	panelHead   = vg.Length(42)
)

// panel is a part of the chart: lines over time.
type panel struct {
	caption string
	// lower and upper are drawn in grey and blue. lower is optional.
	lower, upper line
	// bound is drawn as a dashed line, unless it is 0.
	bound float64
	// logarithmic makes the axis logarithmic, starting at least.
	logarithmic bool
	least       float64
}

// line is one value of each sample, drawn over time.
type line struct {
	name string
	of   func(results.Sample) float64
}

// panels returns the panels of a soak's chart.
func panels(s results.Soak) []panel {
	mb := func(bytes uint64) float64 { return float64(bytes) / 1e6 }
	return []panel{
		{
			caption: "Heap, MB",
			lower:   line{"in use", func(x results.Sample) float64 { return mb(x.Heap) }},
			upper:   line{"after a garbage collection", func(x results.Sample) float64 { return mb(x.Live) }},
			bound:   mb(s.HeapBound()),
		},
		{
			caption: "Notifications that wait",
			lower: line{"for the slowest of the handlers that keep up",
				func(x results.Sample) float64 { return float64(x.Others) }},
			upper: line{"for the blocked handler", func(x results.Sample) float64 { return float64(x.Backlog) }},
			bound: float64(s.BacklogBound()),
		},
		{
			caption: "Lag of the handlers that keep up, ms",
			lower: line{"median", func(x results.Sample) float64 {
				return float64(x.Lag50.Microseconds()) / 1000
			}},
			upper: line{"99th percentile", func(x results.Sample) float64 {
				return float64(x.Lag99.Microseconds()) / 1000
			}},
			bound: float64(results.LagBound.Milliseconds()), logarithmic: true, least: 0.1,
		},
		{
			caption: "Goroutines, open files",
			lower:   line{"open files", func(x results.Sample) float64 { return float64(x.Descriptors) }},
			upper:   line{"goroutines", func(x results.Sample) float64 { return float64(x.Goroutines) }},
		},
	}
}

// drawSoak writes the chart of a soak as SVG.
func drawSoak(w io.Writer, s results.Soak) error {
	all := panels(s)
	c := card.New(vg.Length(len(all))*panelHeight + card.Margin)
	top := c.Max.Y
	for _, p := range all {
		place := c.Canvas
		place.Min.Y, place.Max.Y = top-panelHeight, top
		if err := p.draw(place, s.Samples); err != nil {
			return err
		}
		top -= panelHeight
	}
	label := card.Style(9)
	label.XAlign, label.YAlign = draw.XRight, draw.YBottom
	c.FillText(label, vg.Point{X: c.Max.X - card.Margin, Y: 4}, "minutes")
	_, err := c.WriteTo(w)
	return err
}

func (p panel) draw(c draw.Canvas, samples []results.Sample) error {
	legend := []card.Entry{{Color: card.Blue, Text: p.upper.name}, {Color: card.Grey, Text: p.lower.name}}
	chart := plot.New()
	chart.BackgroundColor = nil
	highest := p.bound
	for i, l := range []line{p.lower, p.upper} {
		points := make(plotter.XYs, len(samples))
		for n, s := range samples {
			points[n] = plotter.XY{X: s.At.Minutes(), Y: max(p.least, l.of(s))}
			highest = max(highest, points[n].Y)
		}
		drawn, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		drawn.Width, drawn.Color = vg.Points(1.2), legend[1-i].Color
		chart.Add(drawn)
	}
	end := samples[len(samples)-1].At.Minutes()
	if p.bound > 0 {
		bound, err := plotter.NewLine(plotter.XYs{{X: 0, Y: p.bound}, {X: end, Y: p.bound}})
		if err != nil {
			return err
		}
		bound.Width, bound.Color, bound.Dashes = vg.Points(.8), card.Ink, []vg.Length{4, 3}
		chart.Add(bound)
		legend = append(legend, card.Entry{Color: card.Ink, Text: "bound (dashed)"})
	}
	chart.X.Min, chart.X.Max = 0, end
	chart.Y.Min, chart.Y.Max = p.least, highest*1.08
	if p.logarithmic {
		chart.Y.Scale, chart.Y.Max = plot.LogScale{}, highest*2
		chart.Y.Tick.Marker = powersOfTen{}
	}
	for _, axis := range []*plot.Axis{&chart.X, &chart.Y} {
		axis.Width, axis.Tick.Width, axis.Tick.Length = vg.Points(.5), vg.Points(.5), 4
		axis.Color, axis.Tick.Color = card.Ink, card.Ink
		axis.Tick.Label.Font, axis.Tick.Label.Color = card.Sans(9), card.Ink
		axis.Padding = 0
	}
	card.Head(c, 10, p.caption, legend)
	// All panels begin at the same place, however wide their figures are.
	const figures = vg.Length(44)
	chart.Y.Tick.Label.XAlign = draw.XRight
	width := chart.Y.Tick.Label.Width(widest(chart.Y))
	chart.Draw(draw.Crop(c, card.Margin+figures-width, -card.Margin-10, 4, -panelHead))
	return nil
}

// widest returns the longest label of an axis.
func widest(a plot.Axis) (text string) {
	for _, t := range a.Tick.Marker.Ticks(a.Min, a.Max) {
		if a.Tick.Label.Width(t.Label) > a.Tick.Label.Width(text) {
			text = t.Label
		}
	}
	return text
}

// powersOfTen are the ticks of a logarithmic axis.
type powersOfTen struct{}

func (powersOfTen) Ticks(low, high float64) (ticks []plot.Tick) {
	for n := math.Ceil(math.Log10(low)); n <= math.Log10(high); n++ {
		v := math.Pow(10, n)
		ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%g", v)})
	}
	return ticks
}
