// Package experimenttest makes small benches of synthetic classes, and envs
// that open them, for tests of experiments.
package experimenttest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/fscil"
)

// A Class describes one class of a bench.
type Class struct {
	// Session is the class's session, counted from 0.
	Session int
	// Train and Test are the numbers of images to learn and to hold out.
	Train, Test int
	// Draw returns value j of the next image.
	Draw func(j int) float64
}

// Bench returns count classes of d values, named "0", "1" and so on. It draws
// all images of a class, training images first, before it asks for the next
// class.
func Bench(t testing.TB, count, d int, class func(k int) Class) *fscil.Bench {
	t.Helper()
	x := blas32.General{Cols: d, Stride: d}
	var paths []string
	var content [][32]byte
	var sessions []fscil.Session
	for k := range count {
		c := class(k)
		for len(sessions) <= c.Session {
			sessions = append(sessions, fscil.Session{})
		}
		for i := range c.Train + c.Test {
			s := fscil.Sample{Path: fmt.Sprintf("%d/%d", k, i), Class: fmt.Sprint(k)}
			for j := range d {
				x.Data = append(x.Data, float32(c.Draw(j)))
			}
			paths, content = append(paths, s.Path), append(content, [32]byte{byte(k), byte(i)})
			part := &sessions[c.Session].Train
			if i >= c.Train {
				part = &sessions[c.Session].Test
			}
			*part = append(*part, s)
		}
	}
	x.Rows = len(paths)
	e, err := fscil.NewEmbeddings(x, paths, content)
	if err != nil {
		t.Fatal(err)
	}
	p, err := fscil.New(sessions)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Bind(e)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Env returns an env with its own folder, seed 3 and the defaults of all heads,
// whose feature folder is b.
func Env(t testing.TB, b *fscil.Bench) experiment.Env {
	return experiment.Env{
		Dir: t.TempDir(), Heads: method.DefaultConfig(), Features: "somewhere", Seed: 3,
		Open: func(string) (experiment.Material, error) {
			return experiment.Material{Benches: []*fscil.Bench{b}, Fingerprint: "f"}, nil
		},
	}
}

// Around returns a function that draws around a point in d dimensions, which
// rng draws first.
func Around(rng *rand.Rand, d int, deviation float64) func(j int) float64 {
	place := make([]float64, d)
	for j := range place {
		place[j] = rng.NormFloat64()
	}
	return func(j int) float64 { return place[j] + deviation*rng.NormFloat64() }
}
