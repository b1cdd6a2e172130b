package dkl

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
)

// Examples holds the training data of a projection: row i of X (n×d) belongs to
// class Y[i], and Views holds augmented versions of the same rows.
type Examples struct {
	X     blas32.General
	Y     []string
	Views []blas32.General
}

// data holds examples prepared for training. The order of the examples does not
// matter: those of a class are sorted.
type data struct {
	frame    classifier.Frame
	examples Examples // in the frame
	classes  []string
	// class is the class of every row.
	class []int
	// train and held are rows, by class.
	train, held []int
}

func newData(e Examples, t Training) (*data, error) {
	if err := classifier.CheckExamples(e.X, e.Y, 0); err != nil {
		return nil, err
	}
	if len(e.Views) != t.Views {
		return nil, fmt.Errorf("views: %d views of the examples, want %d", len(e.Views), t.Views)
	}
	for k, v := range e.Views {
		if v.Rows != e.X.Rows {
			return nil, fmt.Errorf("view %d: %d rows for %d examples", k+1, v.Rows, e.X.Rows)
		}
		if err := classifier.CheckRows(v, e.X.Cols); err != nil {
			return nil, fmt.Errorf("view %d: %w", k+1, err)
		}
	}
	d := &data{frame: classifier.FrameOf(e.X, e.Y, 0), examples: e, class: make([]int, e.X.Rows)}
	d.examples.X, d.examples.Views = d.frame.Of(e.X), slices.Clone(e.Views)
	for k, v := range e.Views {
		d.examples.Views[k] = d.frame.Of(v)
	}
	for c, g := range classifier.GroupByClass(e.Y) {
		d.classes = append(d.classes, g.Class)
		for _, r := range g.Rows {
			d.class[r] = c
		}
		d.share(g.Rows, c, t)
	}
	return d, nil
}

// leastHeld is the number of examples from which some of a class are held out for
// validation.
const leastHeld = 5

// share divides the rows of a class, ordered by their values, between train and
// held.
func (d *data) share(rows []int, class int, t Training) {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b int) int {
		return slices.Compare(dense.Row32(d.examples.X, a), dense.Row32(d.examples.X, b))
	})
	held := 0
	if t.Validation > 0 && len(rows) >= leastHeld {
		held = max(1, int(math.Round(t.Validation*float64(len(rows)))))
	}
	rng := random.StreamOf(t.Seed, "dkl/held", d.classes[class:class+1])
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	d.held = append(d.held, rows[:held]...)
	d.train = append(d.train, rows[held:]...)
}

// sizes counts the training examples of every class.
func (d *data) sizes() []int {
	n := make([]int, len(d.classes))
	for _, r := range d.train {
		n[d.class[r]]++
	}
	return n
}

// A pick is a row of a batch: an example and one of its views, 0 for the example
// itself.
type pick struct{ row, view int }

// shuffled returns all training examples in random order.
func (d *data) shuffled(rng *rand.Rand) []pick {
	order := make([]pick, len(d.train))
	for i, p := range rng.Perm(len(d.train)) {
		order[i] = pick{row: d.train[p], view: rng.IntN(1 + len(d.examples.Views))}
	}
	return order
}

// view returns augmented view k ≥ 1 of the examples, or the examples for 0.
func (d *data) view(k int) blas32.General {
	if k == 0 {
		return d.examples.X
	}
	return d.examples.Views[k-1]
}

// gather returns the embeddings of a batch, scaled for the head.
func (d *data) gather(batch []pick) blas64.General {
	out := dense.New(len(batch), d.examples.X.Cols)
	for i, p := range batch {
		rescale(dense.Row(out, i), dense.Row32(d.view(p.view), p.row))
	}
	return out
}

// rescale writes x scaled to length √d into dst, so that a head and its learning
// rate do not depend on the scale of a backbone.
func rescale(dst []float64, x []float32) {
	classifier.Unit(dst, x)
	blas64.Scal(math.Sqrt(float64(len(x))), dense.Vector(dst))
}

// plain returns picks of the examples themselves.
func plain(rows []int) []pick {
	out := make([]pick, len(rows))
	for i, r := range rows {
		out[i].row = r
	}
	return out
}

// fingerprint returns the SHA-256 of the classes and all values, in training
// order.
func (d *data) fingerprint() string {
	sum := sha256.New()
	var raw bytes.Buffer
	for _, set := range [][]int{d.train, d.held} {
		for _, r := range set {
			raw.Reset()
			raw.WriteString(d.classes[d.class[r]])
			for k := range 1 + len(d.examples.Views) {
				_ = binary.Write(&raw, binary.LittleEndian, dense.Row32(d.view(k), r)) // cannot fail on a Buffer
			}
			sum.Write(raw.Bytes())
		}
		sum.Write([]byte{0xff})
	}
	return hex.EncodeToString(sum.Sum(nil))
}
