package classstats

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/safetensors"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/model/internal/container"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

const statsDim = 6

// batch holds samples in rows.
type batch struct {
	X       blas32.General
	Labels  []string
	Content []Hash
}

// crowd returns n samples of each class, with random values.
func crowd(seed uint64, n int, classes ...string) batch {
	rng := rand.New(rand.NewPCG(seed, 77))
	var b batch
	b.X = blas32.General{Cols: statsDim, Stride: statsDim}
	for i, class := range classes {
		for range n {
			row := make([]float32, statsDim)
			for j := range row {
				row[j] = float32(rng.NormFloat64()) / 4
			}
			row[i%statsDim]++
			b.X.Data, b.X.Rows = append(b.X.Data, row...), b.X.Rows+1
			b.Labels, b.Content = append(b.Labels, class), append(b.Content, hashRow(row))
		}
	}
	return b
}

func hashRow(row []float32) Hash {
	var raw []byte
	for _, v := range row {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return sha256.Sum256(raw)
}

func spec() *preprocess.Spec {
	return &preprocess.Spec{
		Resize: "shorter", Size: 96, Crop: 84, Interpolation: "bicubic",
		Mean: [3]float64{0.5, 0.5, 0.5}, Std: [3]float64{0.5, 0.5, 0.5}, Orientation: true,
	}
}

func contents(t testing.TB, path string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(path))(t)
}

// collected returns statistics of some rows of a batch.
func collected(t testing.TB, b batch, rows []int) *Stats {
	t.Helper()
	s := New(statsDim, true)
	for _, i := range rows {
		must.Get(s.Add(SampleID{b.Content[i], b.Labels[i]}, dense.Row32(b.X, i)))(t)
	}
	return s
}

func merged(t *testing.T, a, b *Stats) int {
	t.Helper()
	return must.Get(a.Merge(b))(t)
}

// sameStats compares samples exactly, and mean and covariance to 1e-8.
func sameStats(t *testing.T, what string, got, want *Stats) {
	t.Helper()
	must.Do(t, errors.Join(got.settle(), want.settle()))
	if !slices.Equal(got.Samples(), want.Samples()) {
		t.Fatalf("%s: %d samples, want %d, or others", what, got.SampleCount(), want.SampleCount())
	}
	for name, c := range want.classes {
		g := got.classes[name].stats
		near(t, what+" mean of "+name, g.Mean(), c.stats.Mean())
		a := must.Get(g.Covariance())(t)
		b := must.Get(c.stats.Covariance())(t)
		near(t, what+" covariance of "+name, a.Data, b.Data)
	}
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-8 {
			t.Fatalf("%s: value %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// Machines that share no image, merged in any order and grouping and via files,
// give what one machine collects.
func TestMachinesAgreeWithOne(t *testing.T) {
	b := crowd(1, 40, "ant", "bee", "cat")
	few := crowd(2, 3, "dog", "ant")
	b.X.Data, b.X.Rows = append(b.X.Data, few.X.Data...), b.X.Rows+few.X.Rows
	b.Labels, b.Content = append(b.Labels, few.Labels...), append(b.Content, few.Content...)
	one := collected(t, b, dense.Range(0, b.X.Rows))
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 3))
		order := rng.Perm(b.X.Rows)
		var machines []*Stats
		for len(order) > 0 {
			n := min(len(order), 1+rng.IntN(50))
			machines = append(machines, reloaded(t, collected(t, b, order[:n])))
			order = order[n:]
		}
		for len(machines) > 1 { // a random tree
			i := rng.IntN(len(machines) - 1)
			if shared := merged(t, machines[i], machines[i+1]); shared != 0 {
				t.Errorf("%d shared samples", shared)
			}
			machines = slices.Delete(machines, i+1, i+2)
		}
		sameStats(t, fmt.Sprintf("seed %d", seed), machines[0], one)
	}
}

func reloaded(t *testing.T, s *Stats) *Stats {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.stats")
	must.Do(t, s.Save(path))
	return must.Get(Load(path))(t)
}

// A sample that both have counts once while one of them has examples, and is
// refused otherwise.
func TestSharedSamplesCountOnce(t *testing.T) {
	b := crowd(1, 40, "ant") // the full form starts at 7 samples
	for name, c := range map[string]struct {
		a, b []int
		ok   bool
	}{
		"thin and thin":            {[]int{0, 1, 2, 3}, []int{3, 4, 1}, true},
		"the same":                 {[]int{0, 1, 2}, []int{2, 1, 0}, true},
		"thin, full in the result": {[]int{0, 1, 2, 3, 4}, []int{4, 5, 6, 7}, true},
		"thin into full":           {dense.Range(0, 30), []int{29, 30, 31}, true},
		"full into thin":           {[]int{29, 30, 31}, dense.Range(0, 30), true},
		"all of it":                {dense.Range(0, 30), []int{3, 4}, true},
		"full and full":            {dense.Range(0, 30), dense.Range(0, 40)[20:], false},
		"full and full, disjoint":  {dense.Range(0, 20), dense.Range(0, 40)[20:], true},
	} {
		a, o := collected(t, b, c.a), collected(t, b, c.b)
		union := slices.Clone(c.a)
		for _, i := range c.b {
			if !slices.Contains(union, i) {
				union = append(union, i)
			}
		}
		shared, err := a.Merge(o)
		if !c.ok {
			if !errors.Is(err, ErrCountedTwice) || !strings.Contains(err.Error(), `class "ant"`) ||
				!strings.Contains(err.Error(), "10 of them") {
				t.Errorf("%s: %v", name, err)
			}
			sameStats(t, name+": after the refusal", a, collected(t, b, c.a))
			continue
		}
		if err != nil || shared != len(c.a)+len(c.b)-len(union) {
			t.Errorf("%s: %d shared, %v", name, shared, err)
			continue
		}
		sameStats(t, name, a, collected(t, b, union))
	}
}

// One image under two classes is two samples, as in a model.
func TestOneImageOfTwoClasses(t *testing.T) {
	s := New(statsDim, false)
	v := []float32{1, 2, 3, 4, 5, 6}
	for _, class := range []string{"a", "b", "a"} {
		must.Get(s.Add(SampleID{hashRow(v), class}, v))(t)
	}
	if s.SampleCount() != 2 || !s.Has(SampleID{hashRow(v), "a"}) || s.Has(SampleID{hashRow(v), "c"}) {
		t.Errorf("%v", s.Samples())
	}
}

// The content of a file does not depend on the order of the images.
func TestStatsFileDoesNotShowTheOrder(t *testing.T) {
	b := crowd(1, 5, "ant", "bee")
	dir := t.TempDir()
	var files [][]byte
	for i, order := range [][]int{dense.Range(0, 10), {9, 3, 7, 1, 5, 0, 2, 8, 6, 4}} {
		path := filepath.Join(dir, fmt.Sprint(i))
		must.Do(t, collected(t, b, order).Save(path))
		raw := must.Get(os.ReadFile(path))(t)
		files = append(files, raw)
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the bytes differ")
	}
}

func TestAddRefuses(t *testing.T) {
	s := New(2, true)
	for what, err := range map[string]error{
		"no class":        second(s.Add(SampleID{}, []float32{1, 2})),
		"not UTF-8":       second(s.Add(SampleID{Class: "\xff"}, []float32{1, 2})),
		"three values":    second(s.Add(SampleID{Class: "a"}, []float32{1, 2, 3})),
		"not a number":    second(s.Add(SampleID{Class: "a"}, []float32{1, float32(math.NaN())})),
		"no values":       second(s.Add(SampleID{Class: "a"}, nil)),
		"infinite values": second(s.Add(SampleID{Class: "a"}, []float32{1, float32(math.Inf(-1))})),
	} {
		if err == nil {
			t.Errorf("%s: counted", what)
		}
	}
	if s.SampleCount() != 0 {
		t.Errorf("%v", s.Samples())
	}
}

func second[T any](_ T, err error) error { return err }

func TestMergeRefusesWhatDoesNotBelongTogether(t *testing.T) {
	make := func(change func(*Stats)) *Stats {
		s := collected(t, crowd(1, 3, "ant"), dense.Range(0, 3))
		p := *spec()
		s.Provenance = embedding.Provenance{
			Backbone:   embedding.Backbone{Name: "vit", SHA256: strings.Repeat("a", 64)},
			Extractor:  json.RawMessage(`{"pool":"mean","provider":"cpu","batch":1}`),
			Preprocess: &p, PreprocessFingerprint: p.Fingerprint(), Dim: statsDim,
		}
		change(s)
		return s
	}
	for name, c := range map[string]struct {
		change func(*Stats)
		says   string
	}{
		"backbone": {func(s *Stats) {
			s.Provenance.Backbone.SHA256, s.Provenance.Backbone.Name = strings.Repeat("b", 64), "mnet"
		}, "another backbone: vit (SHA-256 aaa"},
		"pooling": {func(s *Stats) { s.Provenance.Extractor = json.RawMessage(`{"pool":"max","provider":"cpu"}`) },
			"other extractor settings"},
		"preprocessing": {func(s *Stats) {
			s.Provenance.Preprocess.Crop--
			s.Provenance.PreprocessFingerprint = s.Provenance.Preprocess.Fingerprint()
		}, "crop is"},
		"decoder": {func(s *Stats) { s.Provenance.PreprocessFingerprint = "0123456789abcdef" },
			"another preprocessing: fingerprints"},
		"normalisation": {func(s *Stats) { s.Unit = false }, "with raw"},
		"dimension":     {func(s *Stats) { *s = *New(statsDim+1, true) }, "6 dimensions and of 7"},
		"hardware": {func(s *Stats) {
			s.Provenance.Extractor = json.RawMessage(`{"pool":"mean","provider":"cuda","batch":8}`)
		}, ""},
		"nothing known":  {func(s *Stats) { s.Provenance = embedding.Provenance{} }, ""},
		"the same again": {func(*Stats) {}, ""},
	} {
		a := make(func(*Stats) {})
		_, err := a.Merge(make(c.change))
		if c.says == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		unknown := make(c.change)
		if c.says == "" && name == "nothing known" {
			if merged(t, unknown, a); unknown.Provenance.Backbone.SHA256 == "" ||
				unknown.Provenance.PreprocessFingerprint == "" {
				t.Error("what is known of the one is not taken over")
			}
		}
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.stats")
	must.Do(t, collected(t, crowd(1, 5, "ant", "bee"), dense.Range(0, 10)).Save(path))
	raw := contents(t, path)
	flipped := bytes.Clone(raw)
	flipped[len(flipped)-100] ^= 1
	modelPath := filepath.Join(dir, "m.model")
	must.Do(t, container.New(container.Format{Name: "pipeline-model", Version: 1}, "{}").Write(modelPath,
		nil))
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"truncated": {raw[:len(raw)-1], safetensors.ErrTooShort},
		"altered":   {flipped, safetensors.ErrDigest},
		"a model":   {contents(t, modelPath), ErrNotStats},
		"a text":    {[]byte("this is a text and no file of statistics"), ErrNotStats},
	} {
		must.Do(t, os.WriteFile(path, c.raw, 0o666))
		if _, err := Load(path); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := New(3, true).Save(modelPath); !errors.Is(err, ErrNotStats) {
		t.Errorf("a model was replaced: %v", err)
	}
}
