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
	"github.com/seed-90d10d51/pipeline/internal/mutation"
	"github.com/seed-90d10d51/pipeline/internal/safetensors"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model/internal/container"
)

// A sealedFile is the content of a saved model.
type sealedFile struct {
	name string
	raw  []byte
	container.File
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
		raw := contents(t, savedAs(t, m))
		f := sealedFile{name: name, raw: raw}
		repack(t, raw, func(c *container.File) { f.File = *c })
		all = append(all, f)
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

// sealed returns the file with a correct checksum, nil if it cannot be written.
func (f sealedFile) sealed() []byte {
	var b bytes.Buffer
	if _, err := safetensors.Write(&b, f.Tensors, f.Metadata); err != nil {
		return nil
	}
	return b.Bytes()
}

// with returns a copy of the file with another tensor under a name.
func (f sealedFile) with(name string, v safetensors.Tensor) sealedFile {
	f.Tensors = maps.Clone(f.Tensors)
	f.Tensors[name] = v
	return f
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
			for forgery, v := range forgeries(f.Tensors[name]) {
				tried++
				raw := f.with(name, v).sealed()
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
		if err := d.Decode(&document); err != nil {
			t.Fatal(err)
		}
		forgedValues("", document, func(where string, forged any) {
			text, err := json.Marshal(forged)
			if err != nil {
				t.Fatal(err)
			}
			g := f
			g.Metadata = maps.Clone(f.Metadata)
			g.Metadata[container.DocumentKey] = string(text)
			no, err := refused(g.sealed())
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

// forgeries returns the ways in which a tensor is forged.
func forgeries(v safetensors.Tensor) map[string]safetensors.Tensor {
	all := map[string]safetensors.Tensor{}
	n := len(v.F32) + len(v.F64) + len(v.I64) + len(v.U8)
	if n == 0 {
		return all
	}
	for name, value := range map[string]float64{
		"NaN": math.NaN(), "Inf": math.Inf(1), "-Inf": math.Inf(-1),
		"-1": -1, "0": 0, "huge": math.MaxFloat32, "-huge": -math.MaxFloat32, "tiny": 1e-300,
		"largest": math.MaxFloat64,
	} {
		w, ok := filled(v, value, n-1, n)
		if ok {
			all[name] = w
		}
		if w, ok = filled(v, value, 0, n); ok && !math.IsNaN(value) && !math.IsInf(value, 0) {
			all["all "+name] = w
		}
	}
	if len(v.Shape) == 0 {
		return all
	}
	if rows := v.Shape[0]; rows > 0 {
		w := v
		w.Shape = slices.Clone(v.Shape)
		w.Shape[0]--
		keep := n / rows * (rows - 1)
		w.F32, w.F64, w.I64, w.U8 = cutTo(v.F32, keep), cutTo(v.F64, keep), cutTo(v.I64, keep), cutTo(v.U8, keep)
		all["one row less"] = w
	}
	flat := v
	flat.Shape = append(slices.Clone(v.Shape), 1)
	all["flat"] = flat
	all["another type"] = safetensors.Tensor{Shape: v.Shape, U8: make([]byte, n)}
	if v.U8 != nil {
		all["another type"] = safetensors.Tensor{Shape: v.Shape, F64: make([]float64, n)}
	}
	return all
}

// filled returns the tensor with a value in the places from … to−1, false if its
// type cannot hold the value or nothing changes.
func filled(v safetensors.Tensor, value float64, from, to int) (safetensors.Tensor, bool) {
	whole := !math.IsNaN(value) && math.Abs(value) < 1<<63 && value == math.Trunc(value)
	changed := false
	v.F32, v.F64, v.I64 = slices.Clone(v.F32), slices.Clone(v.F64), slices.Clone(v.I64)
	for i := from; i < to; i++ {
		switch {
		case v.F32 != nil && (math.IsInf(value, 0) || !math.IsInf(float64(float32(value)), 0)):
			changed = changed || v.F32[i] != float32(value)
			v.F32[i] = float32(value)
		case v.F64 != nil:
			changed = changed || v.F64[i] != value
			v.F64[i] = value
		case v.I64 != nil && whole:
			changed = changed || v.I64[i] != int64(value)
			v.I64[i] = int64(value)
		case v.I64 != nil && value == math.MaxFloat64:
			changed, v.I64[i] = true, math.MaxInt64
		}
	}
	return v, changed
}

// TestMutatedModels damages models, half of them behind the checksum: the file is
// refused, or the model scores numbers.
func TestMutatedModels(t *testing.T) {
	all := oneOfEach(t)
	var raws, documents [][]byte
	for _, f := range all {
		raws, documents = append(raws, f.raw), append(documents, []byte(f.Metadata[container.DocumentKey]))
	}
	var loaded atomic.Int64
	mutation.Each(t, 1500, func(i int, rng *rand.Rand) error {
		which := rng.IntN(len(all))
		raw := raws[which]
		if i%2 == 0 {
			raw = mutation.Bytes(rng, raw, raws)
		} else if raw = forged(rng, all[which], documents); raw == nil {
			return nil
		}
		no, err := refused(raw)
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

// forged damages one to three tensors, the document, or both, and seals the file.
func forged(rng *rand.Rand, f sealedFile, documents [][]byte) []byte {
	names := slices.Sorted(maps.Keys(f.Tensors))
	if kind := rng.IntN(4); kind > 0 {
		for range 1 + rng.IntN(3) {
			name := names[rng.IntN(len(names))]
			f = f.with(name, forgedTensor(rng, f.Tensors[name]))
		}
	} else {
		text := []byte(f.Metadata[container.DocumentKey])
		if rng.IntN(2) == 0 {
			text = mutation.Bytes(rng, text, documents)
		} else {
			text = forgedNumber(rng, text)
		}
		f.Metadata = maps.Clone(f.Metadata)
		f.Metadata[container.DocumentKey] = strings.ToValidUTF8(string(text), "?")
	}
	return f.sealed()
}

func forgedTensor(rng *rand.Rand, v safetensors.Tensor) safetensors.Tensor {
	if all := forgeries(v); rng.IntN(2) == 0 && len(all) > 0 {
		return all[slices.Sorted(maps.Keys(all))[rng.IntN(len(all))]]
	}
	v.F32, v.F64, v.I64 = slices.Clone(v.F32), slices.Clone(v.F64), slices.Clone(v.I64)
	for range 1 + rng.IntN(4) {
		bits := rng.Uint64()
		switch {
		case len(v.F32) > 0:
			v.F32[rng.IntN(len(v.F32))] = math.Float32frombits(uint32(bits))
		case len(v.F64) > 0:
			v.F64[rng.IntN(len(v.F64))] = math.Float64frombits(bits)
		case len(v.I64) > 0:
			v.I64[rng.IntN(len(v.I64))] += int64(bits%9) - 4
		}
	}
	return v
}

// forgedNumber replaces a number of a JSON document.
func forgedNumber(rng *rand.Rand, text []byte) []byte {
	isDigit := func(b byte) bool { return b >= '0' && b <= '9' || b == '.' }
	var starts []int
	for i := 1; i < len(text); i++ {
		if isDigit(text[i]) && strings.IndexByte(":[,-", text[i-1]) >= 0 {
			starts = append(starts, i)
		}
	}
	if len(starts) == 0 {
		return text
	}
	from := starts[rng.IntN(len(starts))]
	to := from
	for to < len(text) && isDigit(text[to]) {
		to++
	}
	values := []string{"0", "-1", "1", "2", "3", "1e-300", "1e300", "-1e300", "0.5", "4294967296",
		"9223372036854775807"}
	return slices.Concat(text[:from], []byte(values[rng.IntN(len(values))]), text[to:])
}
