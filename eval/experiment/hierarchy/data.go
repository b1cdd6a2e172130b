package hierarchy

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// data is what both heads learn and are tested on.
type data struct {
	name        string
	train, test Sample
	classes     int
	// fingerprint changes with every embedding and label.
	fingerprint string
}

func (c Config) data(s experiment.Site) (data, error) {
	if c.Synthetic.K != 0 {
		d := data{name: fmt.Sprintf("%d drawn classes", c.Synthetic.K), classes: c.Synthetic.K, fingerprint: fmt.Sprintf("%+v %d", c.Synthetic, c.MaxTest)}
		d.train, d.test = c.Synthetic.Draw(s.Seed)
		d.test = evenly(d.test, c.MaxTest)
		return d, nil
	}
	if s.Features == "" {
		return data{}, &experiment.InputError{Err: errors.New("no embeddings: give a feature folder with --features, or draw classes with experiment.hierarchy.synthetic.k")}
	}
	f, err := featdir.Read(s.Features)
	if err != nil {
		return data{}, err
	}
	return c.split(f)
}

// split takes the classes with enough training examples; the column split says
// which examples those are.
func (c Config) split(f embed.Embeddings) (data, error) {
	count := make(map[string]int)
	for _, s := range f.Samples {
		if s.Split == "train" && s.Label != "" {
			count[s.Label]++
		}
	}
	classes := make(map[string]bool)
	var rows [2][]int
	var labels [2][]string
	for i, s := range f.Samples {
		part := 0
		switch {
		case count[s.Label] < c.MinTrain:
			continue
		case s.Split == "test":
			part = 1
		case s.Split != "train":
			continue
		}
		classes[s.Label] = true
		rows[part], labels[part] = append(rows[part], i), append(labels[part], s.Label)
	}
	if len(rows[0]) == 0 || len(rows[1]) == 0 {
		return data{}, &experiment.InputError{Err: fmt.Errorf("no class has at least %d training and any test examples: the folder's samples.csv needs a column split that says train or test, or set experiment.hierarchy.min_train lower", c.MinTrain)}
	}
	d := data{
		name: fmt.Sprintf("%d classes of features", len(classes)), classes: len(classes),
		train: Sample{dense.Gather32(f.X, rows[0]), labels[0]},
		test:  evenly(Sample{dense.Gather32(f.X, rows[1]), labels[1]}, c.MaxTest),
	}
	d.fingerprint = d.hash()
	return d, nil
}

// evenly keeps at most so many examples, spread over all; 0 means all.
func evenly(s Sample, most int) Sample {
	if most == 0 || s.X.Rows <= most {
		return s
	}
	rows, y := make([]int, most), make([]string, most)
	for i := range rows {
		rows[i] = i * s.X.Rows / most
		y[i] = s.Y[rows[i]]
	}
	return Sample{dense.Gather32(s.X, rows), y}
}

func (d data) hash() string {
	sum := sha256.New()
	for _, s := range []Sample{d.train, d.test} {
		for i, y := range s.Y {
			fmt.Fprintf(sum, "%q", y)
			sum.Write(raw(s.X, i))
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func raw(x blas32.General, i int) []byte {
	out := make([]byte, 0, 4*x.Cols)
	for _, v := range dense.Row32(x, i) {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out
}
