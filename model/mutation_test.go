package model

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/mutation"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model/internal/container"
)

// A sealedFile is a saved model.
type sealedFile struct {
	name string
	mutation.Sealed
}

// oneOfEach returns a small model of each method, one with a temperature and one
// with a projection.
func oneOfEach(t *testing.T) []sealedFile {
	t.Helper()
	var all []sealedFile
	add := func(name string, s Settings) {
		m, _, err := Train(context.Background(), s, noisy(0, 12, "ant", "bee", "cat"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f := must.Get(mutation.Unseal(contents(t, savedAs(t, m))))(t)
		all = append(all, sealedFile{name, f})
	}
	for _, m := range method.Methods() {
		add(m.Name, settings(m.Name))
	}
	warm := settings("ncm")
	warm.Temperature.Temperature = 2
	add("temperature", warm)
	projecting := settings("ncm")
	cfg := training()
	projecting.DKL = &cfg
	add("projection", projecting)
	return all
}

// refused reports whether a file is refused, which may be nothing but an error;
// a file that loads must score numbers and must be savable.
func refused(raw []byte) (bool, error) {
	m, _, err := decode(bytes.NewReader(raw), int64(len(raw)), methods())
	if err != nil {
		return true, nil
	}
	_ = m.ClassSizes()
	_, _ = m.Threshold(0.5)
	if _, err := m.encode(nil); err != nil {
		return false, fmt.Errorf("cannot be encoded: %w", err)
	}
	if len(m.Classes()) == 0 || m.Dim() > 100 {
		return false, nil
	}
	x := probes(m.Dim())
	logProb, novelty := dense.New(x.Rows, len(m.Classes())), make([]float64, x.Rows)
	if err := m.Predictor.Score(logProb, novelty, x); err != nil {
		return false, nil // an error, not a wrong answer
	}
	for i := range x.Rows {
		row := dense.Row(logProb, i)
		var sum float64
		for _, v := range row {
			sum += math.Exp(v)
		}
		if !(math.Abs(sum-1) < 1e-6) || math.IsNaN(novelty[i]) {
			return false, fmt.Errorf("log-probabilities %v, novelty %g", row, novelty[i])
		}
	}
	return false, nil
}

// TestForgedModels changes each tensor of a model of each method in turn and seals
// the file again: it is refused, or scores numbers.
func TestForgedModels(t *testing.T) {
	if testing.Short() {
		t.Skip("loads some hundred models, one after another")
	}
	tried, loaded := 0, map[string][]string{}
	for _, f := range oneOfEach(t) {
		for name := range f.Tensors {
			for forgery, v := range mutation.Forgeries(f.Tensors[name]) {
				tried++
				raw := f.With(name, v).Seal()
				no, err := refused(raw)
				if err != nil {
					t.Errorf("%s: %s of %s: %v", f.name, forgery, name, err)
				}
				if !no {
					loaded[forgery] = append(loaded[forgery], f.name+" "+name)
				}
			}
		}
	}
	for _, forgery := range []string{"NaN", "Inf", "-Inf", "one row less", "another type", "flat"} {
		for _, where := range loaded[forgery] {
			t.Errorf("%s of %s was loaded", forgery, where)
		}
	}
	t.Logf("%d forgeries", tried)
}

// TestForgedDocuments changes each value of the document of a model of each method
// in turn and seals the file again: it is refused, or scores numbers.
func TestForgedDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("loads some thousand models")
	}
	tried, loaded := 0, 0
	for _, f := range oneOfEach(t) {
		d := json.NewDecoder(strings.NewReader(f.Metadata[container.DocumentKey]))
		d.UseNumber()
		var document any
		must.Do(t, d.Decode(&document))
		forgedValues("", document, func(where string, forged any) {
			text := must.Get(json.Marshal(forged))(t)
			g := f
			g.Metadata = maps.Clone(f.Metadata)
			g.Metadata[container.DocumentKey] = string(text)
			no, err := refused(g.Seal())
			if err != nil {
				t.Errorf("%s: %s: %v", f.name, where, err)
			}
			if tried++; !no {
				loaded++
			}
		})
	}
	t.Logf("%d forgeries, %d were loaded", tried, loaded)
}

// forgedValues calls use with copies of v in each of which one value is forged.
func forgedValues(where string, v any, use func(where string, forged any)) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			forgedValues(where+"."+key, value, func(where string, forged any) {
				c := maps.Clone(v)
				c[key] = forged
				use(where, c)
			})
			c := maps.Clone(v)
			delete(c, key)
			use(where+"."+key+" missing", c)
		}
	case []any:
		for i, value := range v {
			forgedValues(fmt.Sprint(where, "[", i, "]"), value, func(where string, forged any) {
				c := slices.Clone(v)
				c[i] = forged
				use(where, c)
			})
		}
		if len(v) > 0 {
			use(where+" one less", v[1:])
			use(where+" twice", append(slices.Clone(v), v[0]))
		}
	case string:
		use(where+" empty", "")
		use(where+" other", "x")
	case bool:
		use(where+" not", !v)
	case json.Number:
		for _, n := range []json.Number{"-1", "0", "0.5", "2", "1e300", "1048576", "9223372036854775807"} {
			use(where+" "+n.String(), n)
		}
	}
}

// TestMutatedModels damages models, half of them behind the checksum: the file is
// refused, or the model scores numbers.
func TestMutatedModels(t *testing.T) {
	all := oneOfEach(t)
	var raws, documents [][]byte
	for _, f := range all {
		raws, documents = append(raws, f.Raw), append(documents, []byte(f.Metadata[container.DocumentKey]))
	}
	var loaded atomic.Int64
	mutation.Each(t, 1500, func(i int, rng *rand.Rand) error {
		which := rng.IntN(len(all))
		no, err := refused(all[which].Mutated(i, rng, container.DocumentKey, raws, documents))
		if err != nil {
			return fmt.Errorf("%s: %w", all[which].name, err)
		}
		if !no {
			loaded.Add(1)
		}
		return nil
	})
	t.Logf("%d were loaded", loaded.Load())
}
