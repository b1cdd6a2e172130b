// Package charttest checks that the texts of figures can be read.
package charttest

import (
	"math"
	"testing"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"github.com/seed-90d10d51/pipeline/internal/chart"
)

// A Text is a line of text as it is drawn, with the box around it in points.
type Text struct {
	String string
	vg.Rectangle
}

// Legible draws the figure, reports texts that overlap or leave the figure, and returns all.
func Legible(t *testing.T, name string, f chart.Figure) []Text {
	t.Helper()
	if f.Err != nil {
		t.Errorf("%s: %v", name, f.Err)
		return nil
	}
	c := new(recorder.Canvas)
	f.Draw(draw.NewCanvas(c, f.Width, f.Height))
	texts := drawn(c.Actions)
	for i, a := range texts {
		if a.Min.X < 0 || a.Min.Y < 0 || a.Max.X > f.Width || a.Max.Y > f.Height {
			t.Errorf("%s: %q at %v leaves the figure, %g by %g", name, a.String, a.Rectangle, f.Width, f.Height)
		}
		for _, b := range texts[:i] {
			if a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y {
				t.Errorf("%s: %q at %v overlaps %q at %v", name, a.String, a.Rectangle, b.String, b.Rectangle)
			}
		}
	}
	return texts
}

// How far letters without accents reach from their line, as shares of the size of their font,
// whose own extents have room for accents.
const ascender, descender = 0.74, 0.21

// A place maps the coordinates of a drawing action to the canvas.
type place struct{ xx, xy, yx, yy, x, y vg.Length }

func (p place) at(v vg.Point) vg.Point {
	return vg.Point{X: p.xx*v.X + p.xy*v.Y + p.x, Y: p.yx*v.X + p.yy*v.Y + p.y}
}

// drawn returns the texts that the actions draw.
func drawn(actions []recorder.Action) (texts []Text) {
	now := place{xx: 1, yy: 1}
	var kept []place
	for _, a := range actions {
		switch a := a.(type) {
		case *recorder.Push:
			kept = append(kept, now)
		case *recorder.Pop:
			now, kept = kept[len(kept)-1], kept[:len(kept)-1]
		case *recorder.Translate:
			o := now.at(a.Point)
			now.x, now.y = o.X, o.Y
		case *recorder.Rotate:
			sin64, cos64 := math.Sincos(a.Angle)
			sin, cos := vg.Length(sin64), vg.Length(cos64)
			now.xx, now.xy, now.yx, now.yy = now.xx*cos+now.xy*sin, now.xy*cos-now.xx*sin, now.yx*cos+now.yy*sin,
				now.yy*cos-now.yx*sin
		case *recorder.FillString:
			face := font.DefaultCache.Lookup(a.Font, a.Size)
			p := now.at(vg.Point{X: a.Point.X, Y: a.Point.Y - descender*a.Size})
			q := now.at(vg.Point{X: a.Point.X + face.Width(a.String), Y: a.Point.Y + ascender*a.Size})
			texts = append(texts, Text{a.String, vg.Rectangle{
				Min: vg.Point{X: min(p.X, q.X), Y: min(p.Y, q.Y)},
				Max: vg.Point{X: max(p.X, q.X), Y: max(p.Y, q.Y)},
			}})
		}
	}
	return texts
}
