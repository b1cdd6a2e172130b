package naming_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
	"github.com/seed-90d10d51/pipeline/model/internal/naming"
)

// texts reads the texts of 60 classes of Caltech-101.
func texts(t *testing.T) map[string][]float32 {
	t.Helper()
	z := must.Get(zip.OpenReader(shared.Path(t, "data", "clip_vitb32_text", "caltech_text.npz")))(t)
	defer z.Close()
	var rows []float32
	var classes []int64
	for _, f := range z.File {
		r := must.Get(f.Open())(t)
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		_, data, _ := bytes.Cut(b, []byte("\n")) // the end of the header of an .npy file
		if f.Name == "T.npy" {
			wide := make([]float64, len(data)/8)
			_, err = binary.Decode(data, binary.LittleEndian, wide)
			rows = dense.Narrowed(wide)
		} else {
			classes = make([]int64, len(data)/8)
			_, err = binary.Decode(data, binary.LittleEndian, classes)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	out, d := map[string][]float32{}, len(rows)/len(classes)
	for i, c := range classes {
		out[fmt.Sprintf("class%03d", c)] = rows[i*d : (i+1)*d]
	}
	return out
}

// photos reads the rows of the classes that have a text.
func photos(t *testing.T, part string, of map[string][]float32) (x blas32.General, y []string) {
	t.Helper()
	e := must.Get(featdir.Read(shared.Path(t, "data", "clip_vitb32", "caltech101", part)))(t)
	var rows []int
	for i, s := range e.Samples {
		if of[s.Label] != nil {
			rows, y = append(rows, i), append(y, s.Label)
		}
	}
	return dense.Gather32(e.X, rows), y
}

// A result is what a head reaches on the test rows: its accuracy in percent, its calibration error, and the
// words that it chose.
type result struct {
	acc, ece float64
	words    *gauss.Words
}

// plain are the results of parts, with the right names and without any, which several tests compare.
var plain = map[string]result{}

// right is the result of a head that has learned a part and the right names.
func right(t *testing.T, part string, names map[string][]float32) result {
	t.Helper()
	return once(part, func() result { return trial(t, part, names, names) })
}

// unnamed is the result of a head that has learned a part alone.
func unnamed(t *testing.T, part string, classes map[string][]float32) result {
	t.Helper()
	return once("unnamed "+part, func() result { return trial(t, part, nil, classes) })
}

func once(key string, try func() result) result {
	if _, ok := plain[key]; !ok {
		plain[key] = try()
	}
	return plain[key]
}

// trial returns the result of a head that has learned names of its classes, and part.
func trial(t *testing.T, part string, names map[string][]float32, classes map[string][]float32) result {
	t.Helper()
	head := must.Get(plda.New(plda.DefaultConfig()))(t)
	temperature := 1.0
	if names != nil {
		words := must.Get(gauss.NewWords(names))(t)
		must.Do(t, head.UseWords(words))
	}
	if part != "" {
		x, y := photos(t, part, classes)
		must.Do(t, head.Learn(t.Context(), x, y))
		if names != nil {
			task := naming.Task{Sessions: []episodes.Episode{{X: x, Y: y}}, Fresh: head.Unfitted}
			chosen, value := must.Get2(naming.Choose(t.Context(), task, head.Words()))(t)
			must.Do(t, head.UseWords(chosen))
			temperature = value.T
		}
	}
	x, y := photos(t, "test", classes)
	acc, ece := judged(t, head, temperature, x, y)
	return result{acc, ece, head.Words()}
}

// judged returns the accuracy in percent, and the calibration error.
func judged(t *testing.T, head classifier.Head, temperature float64, x blas32.General, y []string) (acc, ece float64) {
	t.Helper()
	logProb := dense.New(x.Rows, len(head.Classes()))
	must.Do(t, head.Score(logProb, nil, x))
	var gap [15]float64
	for i := range x.Rows {
		row := dense.Row(logProb, i)
		for c := range row {
			row[c] /= temperature
		}
		classifier.LogSoftmax(row)
		p := classifier.FromLogProb(head.Classes(), row, 1)
		bin := min(14, int(15*p.Probability))
		gap[bin] += p.Probability
		if p.Label == y[i] {
			acc += 100 / float64(x.Rows)
			gap[bin]--
		}
	}
	for _, g := range gap {
		ece += math.Abs(g) / float64(x.Rows)
	}
	return acc, ece
}

// TestNamesAndPhotosOfCaltech: names and photos together beat either, with a weight that
// comes from leaving out, and their probabilities are calibrated (docs/results/words.md).
func TestNamesAndPhotosOfCaltech(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a dozen models on real features")
	}
	names := texts(t)
	for _, c := range []struct {
		part  string
		least float64
	}{{"", 96.4}, {"shots01", 97.4}, {"shots02", 97.8}, {"shots04", 98.3}, {"shots16", 98.0}} {
		r := right(t, c.part, names)
		t.Logf("%s: accuracy %.2f, ECE %.3f, ν %d, ω %.3g", c.part, r.acc, r.ece, r.words.Count, r.words.Weight)
		if r.acc < c.least {
			t.Errorf("%s: accuracy %.2f, want %.1f", c.part, r.acc, c.least)
		}
		if c.part != "" && r.ece > 0.05 {
			t.Errorf("%s: calibration error %.3f", c.part, r.ece)
		}
	}
}

// TestWrongNamesCostLittle: with two photos of each class or more, names that say nothing
// cost half a point at most, and a single wrong name among right ones is set aside.
func TestWrongNamesCostLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a dozen models on real features")
	}
	named := texts(t)
	classes := slices.Sorted(maps.Keys(named))
	shuffled, random, one := map[string][]float32{}, map[string][]float32{}, map[string][]float32{}
	rng := rand.New(rand.NewPCG(1, 2))
	order := rng.Perm(len(classes))
	for i, name := range classes {
		shuffled[name], one[name] = named[classes[order[i]]], named[name]
		random[name] = make([]float32, len(named[name]))
		for j := range random[name] {
			random[name][j] = float32(rng.NormFloat64())
		}
	}
	one[classes[7]] = random[classes[7]]
	for _, part := range []string{"shots02", "shots04"} {
		without, with := unnamed(t, part, named).acc, right(t, part, named).acc
		for what, c := range map[string]struct {
			names map[string][]float32
			least float64
		}{"shuffled": {shuffled, without - 0.5}, "random": {random, without - 0.5}, "one wrong": {one, with - 0.5}} {
			if part == "shots04" && what != "one wrong" {
				continue // two photos show it, and hold less against names
			}
			r := trial(t, part, c.names, named)
			if r.acc < c.least {
				t.Errorf("%s, %s: accuracy %.2f, want %.2f", part, what, r.acc, c.least)
			}
			if what == "one wrong" && !slices.Equal(r.words.Doubted, []string{classes[7]}) {
				t.Errorf("%s: set aside %s, want %s", part, strings.Join(r.words.Doubted, ", "), classes[7])
			}
		}
	}
}

// TestOnlySomeHaveNames: where a quarter of the classes have no name, those of the others help.
func TestOnlySomeHaveNames(t *testing.T) {
	if testing.Short() {
		t.Skip("trains two models on real features")
	}
	named := texts(t)
	some := map[string][]float32{}
	for i, name := range slices.Sorted(maps.Keys(named)) {
		if i%4 > 0 {
			some[name] = named[name]
		}
	}
	without := unnamed(t, "shots02", named).acc
	if acc := trial(t, "shots02", some, named).acc; acc < without+1 {
		t.Errorf("with the names of three classes in four: accuracy %.2f, without names %.2f", acc, without)
	}
}
