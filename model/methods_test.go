package model

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/gpsoftmax"
	"github.com/seed-90d10d51/pipeline/classifier/vargp"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/safetensors"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model/internal/container"
)

// noisy returns a batch with some spread, so that every method has a
// covariance.
func noisy(session, n int, classes ...string) Batch {
	const dim = 6
	b := batch(session, n, dim, classes...)
	rng := rand.New(rand.NewPCG(uint64(session), 5))
	for i := range b.X.Rows {
		for j := range dim {
			b.X.Data[i*dim+j] = float32(rng.NormFloat64())
		}
		b.X.Data[i*dim+int(b.Labels[i][0])%dim] += 6
		b.X.Data[i*dim+int(b.Labels[i][1])%dim] -= 3
	}
	return b
}

func defaultSettings(name string) Settings {
	c := method.DefaultConfig()
	// old classes take and lose examples
	c = method.Change(c, "gptree", func(g *gptree.Config) { g.Base = gptree.BaseGibbs })
	return Settings{Method: name, Heads: c, Provenance: embedding.Provenance{Preprocess: spec(),
		PreprocessFingerprint: spec().Fingerprint()}, Seed: 3, ToolVersion: "test"}
}

// settings are the default ones, except that methods that draw samples draw few,
// and vargp trains for a moment.
func settings(name string) Settings {
	s := defaultSettings(name)
	s.Heads = method.Change(s.Heads, "gptree", fewDraws)
	s.Heads = method.Change(s.Heads, "vargp", func(v *vargp.Config) {
		v.Epochs, v.Inducing, v.PredictHypers, v.PredictFunctions = 2, 4, 2, 2
	})
	for _, sampled := range []string{"lsm", "ove"} {
		s.Heads = method.Change(s.Heads, sampled, func(g *gpsoftmax.Config) { g.Chains, g.Steps, g.Draws = 2, 2, 2 })
	}
	return s
}

// fewDraws shortens the nodes of a tree, of both kinds.
func fewDraws(g *gptree.Config) { g.Chains, g.Steps, g.Iterations = 2, 4, 10 }

func logProb(t *testing.T, m *Model, b Batch) []float64 {
	t.Helper()
	c := len(m.Classes())
	p := blas64.General{Rows: b.X.Rows, Cols: c, Stride: c, Data: make([]float64, b.X.Rows*c)}
	must.Do(t, m.Predictor.Score(p, nil, b.X))
	return p.Data
}

// Every method: train, save, load, learn new and old classes, forget. The
// loaded model predicts the same bits, and repeating a session changes no byte.
func TestEveryMethod(t *testing.T) {
	notForRaces(t)
	for _, method := range method.Methods() {
		t.Run(method.Name, func(t *testing.T) {
			m, o, err := Train(context.Background(), settings(method.Name), noisy(0, 12, "ant", "bee", "cat"))
			if err != nil || o.Added != 36 {
				t.Fatalf("%+v, %v", o, err)
			}
			if m.Predictor.Calibration.Samples != 36 {
				t.Errorf("calibration: %+v", m.Predictor.Calibration.Reason)
			}
			if m.Provenance.PreprocessFingerprint != spec().Fingerprint() || len(m.HeadConfig) == 0 {
				t.Errorf("fingerprint %q, configuration %s", m.Provenance.PreprocessFingerprint, m.HeadConfig)
			}
			path := filepath.Join(t.TempDir(), "m.model")
			save(t, m, path)
			checkEveryMethod(t, m, path)
		})
	}
}

func checkEveryMethod(t *testing.T, m *Model, path string) {
	t.Helper()
	more := noisy(1, 5, "bee", "dog")
	back := mustLoad(t, path)
	if !reflect.DeepEqual(logProb(t, back, more), logProb(t, m, more)) {
		t.Error("the loaded model predicts differently")
	}
	if o := learn(t, m, more); o.Added != 10 {
		t.Errorf("outcome %+v", o)
	}
	learn(t, back, more)
	if !reflect.DeepEqual(logProb(t, back, more), logProb(t, m, more)) {
		t.Error("learning after loading is not learning")
	}
	save(t, back, path)
	after := contents(t, path)
	again := mustLoad(t, path)
	if o := learn(t, again, more); o.Changed() {
		t.Errorf("the same session again: %+v", o)
	}
	save(t, again, path)
	if !bytes.Equal(after, contents(t, path)) {
		t.Error("the same session again changed the bytes")
	}
	if _, err := again.ForgetSamples(context.Background(), more.only([]int{0, 1, 5}), Forgetting{}); err != nil {
		t.Errorf("forget samples: %v", err)
	}
	if _, err := again.ForgetClass(context.Background(), "dog", Forgetting{}); err != nil {
		t.Errorf("forget class: %v", err)
	}
	save(t, again, path)
	if got := mustLoad(t, path); !slices.Equal(got.Classes(), []string{"ant", "bee", "cat"}) ||
		got.SampleCount() != 39 {
		t.Errorf("%v, %d samples", got.Classes(), got.SampleCount())
	}
}

func mustLoad(t *testing.T, path string) *Model {
	t.Helper()
	return must.Get(Load(path))(t)
}

func TestTrainRefusesUnknownMethod(t *testing.T) {
	if _, _, err := Train(context.Background(), settings("nearest"), noisy(0, 3, "ant", "bee")); err == nil {
		t.Error("accepted")
	}
}

func TestPPCAWithoutItsStatistics(t *testing.T) {
	s := settings("ppca")
	s.WithoutStatistics, s.WithoutCalibration = true, true
	m, _ := must.Get2(Train(context.Background(), s, noisy(0, 12, "ant", "bee")))(t)
	m = mustLoad(t, savedAs(t, m))
	if _, err := m.Learn(context.Background(), noisy(1, 3, "bee")); !errors.Is(err, classifier.ErrNoStatistics) {
		t.Errorf("an old class: %v", err)
	}
	learn(t, m, noisy(1, 3, "cat"))
}

// FuzzLoadHeads gives the real heads' loaders settings and tensors that no Save
// wrote, with a correct checksum.
func FuzzLoadHeads(f *testing.F) {
	files := map[string]*safetensors.File{}
	for _, method := range method.Methods() {
		m, _ := must.Get2(Train(context.Background(), settings(method.Name), noisy(0, 4, "ant", "bee")))(f)
		raw := contents(f, savedAs(f, m))
		file := must.Get(safetensors.Open(bytes.NewReader(raw), int64(len(raw))))(f)
		files[method.Name] = file
		f.Add(method.Name, file.Metadata()[container.DocumentKey], uint16(0), uint8(0), 1.5)
	}
	f.Fuzz(func(t *testing.T, name, document string, at uint16, dim uint8, value float64) {
		file := files[name]
		if file == nil {
			return
		}
		raw := mutated(t, file, document, int(at), int(dim), value)
		m, _, err := decode(bytes.NewReader(raw), int64(len(raw)), heads{method.Load, method.FromJSON})
		if err != nil || m.Dim() != 6 || len(m.Classes()) == 0 {
			return
		}
		b := noisy(1, 1, "ant")
		_ = logProb(t, m, b)
		_ = m.Predictor.Score(dense.New(1, len(m.Classes())), make([]float64, 1), b.X)
		if _, err := m.encode(nil); err != nil {
			t.Fatalf("a loaded model cannot be encoded: %v", err)
		}
	})
}

// mutated changes one number of one tensor, or the first dimension of its shape
// when dim is not 0 (then the tensor is cut to fit).
func mutated(t *testing.T, file *safetensors.File, document string, at, dim int, value float64) []byte {
	t.Helper()
	c := container.New(modelFormat, document)
	infos := file.Tensors()
	chosen := infos[at%len(infos)].Name
	for _, info := range infos {
		if info.Name == safetensors.DigestName {
			continue
		}
		tensor := must.Get(file.Read(info.Name))(t)
		if info.Name == chosen {
			tensor = mutateTensor(tensor, at/len(infos), dim, value)
		}
		c.Tensors[info.Name] = tensor
	}
	var out bytes.Buffer
	if _, err := safetensors.Write(&out, c.Tensors, c.Metadata); err != nil {
		return nil
	}
	return out.Bytes()
}

func mutateTensor(x safetensors.Tensor, at, dim int, value float64) safetensors.Tensor {
	switch {
	case len(x.F64) > 0:
		x.F64[at%len(x.F64)] = value
	case len(x.F32) > 0:
		x.F32[at%len(x.F32)] = float32(value)
	case len(x.I64) > 0:
		x.I64[at%len(x.I64)] = int64(value)
	}
	if dim == 0 || len(x.Shape) == 0 || x.Shape[0] < 2 {
		return x
	}
	rows := 1 + dim%(x.Shape[0]-1)
	width := (len(x.F32) + len(x.F64) + len(x.I64) + len(x.U8)) / x.Shape[0]
	x.Shape[0] = rows
	x.F32, x.F64, x.I64, x.U8 = cutTo(x.F32, rows*width), cutTo(x.F64, rows*width), cutTo(x.I64, rows*width),
		cutTo(x.U8, rows*width)
	return x
}

func cutTo[T any](s []T, n int) []T { return s[:min(n, len(s))] }
