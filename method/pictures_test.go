package method

import (
	"context"
	"flag"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

var pictures = flag.String("pictures", "",
	"draw what every method makes of points in the plane into this folder (docs/images)")

// A plane is a toy problem: points (u, v) in the square from −1 to 1, passed to a
// method as embeddings (u, v, 1), of which most methods take the direction only.
type plane struct {
	points [][2]float64
	class  []int
}

const (
	side   = 240 // pixels
	shades = 8   // of a colour, by the probability
)

// TestPictures draws the pictures of docs/methods-one-by-one.md: three classes of 20
// examples, one of them long and one curved, and then a fourth, learned from three. The colour is
// that of the most probable class, and stronger the more probable it is.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("draws pictures for the documentation: go test ./method -run TestPictures -pictures $PWD/docs/images")
	}
	base, later := toy()
	for _, m := range Methods() {
		t.Run(m.Name, func(t *testing.T) {
			head := must.Get(New(m.Name, DefaultConfig()))(t)
			for _, session := range []plane{base, later} {
				names := make([]string, len(session.class))
				for i, c := range session.class {
					names[i] = string(rune('a' + c))
				}
				must.Do(t, head.Learn(context.Background(), embedded(session.points), names))
			}
			var grid [][2]float64
			for y := range side {
				for x := range side {
					grid = append(grid, [2]float64{2*(float64(x)+0.5)/side - 1, 1 - 2*(float64(y)+0.5)/side})
				}
			}
			classes := len(head.Classes())
			logProb := blas64.General{Rows: len(grid), Cols: classes, Stride: classes,
				Data: make([]float64, len(grid)*classes)}
			must.Do(t, head.Score(logProb, make([]float64, len(grid)), embedded(grid)))
			img := shaded(logProb)
			mark(img, base, 2)
			mark(img, later, 4)
			f := must.Get(os.Create(filepath.Join(*pictures, "method-"+m.Name+".png")))(t)
			defer f.Close()
			must.Do(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, img))
		})
	}
}

// toy returns the examples of two sessions.
func toy() (base, later plane) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		along, angle := rng.NormFloat64()*0.3, rng.Float64()*2.4+0.4
		base.points = append(base.points,
			[2]float64{-0.45 + along + 0.05*rng.NormFloat64(), 0.45 + along*0.9 + 0.05*rng.NormFloat64()},
			[2]float64{0.45 + 0.12*rng.NormFloat64(), 0.55 + 0.12*rng.NormFloat64()},
			[2]float64{-0.15 + 0.55*math.Cos(angle) + 0.05*rng.NormFloat64(), -0.85 + 0.5*math.Sin(angle) +
				0.05*rng.NormFloat64()})
		base.class = append(base.class, 0, 1, 2)
	}
	return base, plane{[][2]float64{{0.62, -0.2}, {0.78, -0.35}, {0.66, -0.42}}, []int{3, 3, 3}}
}

func embedded(points [][2]float64) blas32.General {
	x := blas32.General{Rows: len(points), Cols: 3, Stride: 3}
	for _, p := range points {
		x.Data = append(x.Data, float32(p[0]), float32(p[1]), 1)
	}
	return x
}

// shaded colours every pixel by its most probable class.
func shaded(logProb blas64.General) *image.Paletted {
	palette := color.Palette{color.Black, color.White}
	// told apart by colour-blind people too
	for _, c := range [][3]float64{{0, 114, 178}, {230, 159, 0}, {0, 158, 115}, {204, 121, 167}} {
		for s := range shades {
			part := float64(s+1) / shades
			mix := func(v float64) uint8 { return uint8(255 + (v-255)*part) }
			palette = append(palette, color.RGBA{mix(c[0]), mix(c[1]), mix(c[2]), 255})
		}
	}
	img := image.NewPaletted(image.Rect(0, 0, side, side), palette)
	for i := range img.Pix {
		row := logProb.Data[i*logProb.Stride : i*logProb.Stride+logProb.Cols]
		best := 0
		for c := range row {
			if row[c] > row[best] {
				best = c
			}
		}
		sure := (math.Exp(row[best])*float64(len(row)) - 1) / float64(len(row)-1) // 0 for equal probabilities
		img.Pix[i] = uint8(2 + best*shades + min(int(sure*shades), shades-1))
	}
	return img
}

// mark draws the examples as white squares with a black edge.
func mark(img *image.Paletted, p plane, radius int) {
	for _, point := range p.points {
		x0, y0 := int((point[0]+1)/2*side), int((1-point[1])/2*side)
		for dy := -radius; dy <= radius; dy++ {
			for dx := -radius; dx <= radius; dx++ {
				if at := (image.Point{X: x0 + dx, Y: y0 + dy}); at.In(img.Rect) {
					edge := max(dx, -dx, dy, -dy) == radius
					img.SetColorIndex(at.X, at.Y, map[bool]uint8{true: 0, false: 1}[edge])
				}
			}
		}
	}
}
