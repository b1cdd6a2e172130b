package model

import (
	"bytes"
	"context"
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

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/safetensors"
)

const statsDim = 6

// crowd is n samples of each class; values are drawn.
func crowd(seed uint64, n int, classes ...string) Batch {
	rng := rand.New(rand.NewPCG(seed, 77))
	var b Batch
	b.X = blas32.General{Cols: statsDim, Stride: statsDim}
	for i, class := range classes {
		for range n {
			row := make([]float32, statsDim)
			for j := range row {
				row[j] = float32(rng.NormFloat64()) / 4
			}
			row[i%statsDim]++
			b.X.Data, b.X.Rows = append(b.X.Data, row...), b.X.Rows+1
			b.Labels, b.Content = append(b.Labels, class), append(b.Content, embed.HashRow(row))
		}
	}
	return b
}

// collected counts some rows of a batch.
func collected(t testing.TB, b Batch, rows []int) *Stats {
	t.Helper()
	s := NewStats(statsDim, true)
	for _, i := range rows {
		if _, err := s.Add(SampleID{b.Content[i], b.Labels[i]}, dense.Row32(b.X, i)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func merged(t *testing.T, a, b *Stats) int {
	t.Helper()
	n, err := a.Merge(b)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// sameStats compares samples exactly, and mean and covariance to 1e-8.
func sameStats(t *testing.T, what string, got, want *Stats) {
	t.Helper()
	if err := errors.Join(got.settle(), want.settle()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Samples(), want.Samples()) {
		t.Fatalf("%s: %d samples, want %d, or others", what, got.SampleCount(), want.SampleCount())
	}
	for name, c := range want.classes {
		g := got.classes[name].stats
		near(t, what+" mean of "+name, g.Mean(), c.stats.Mean())
		a, err := g.Covariance()
		if err != nil {
			t.Fatal(err)
		}
		b, err := c.stats.Covariance()
		if err != nil {
			t.Fatal(err)
		}
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

// Machines that share no image, in any order and grouping, and files in between,
// give what one machine would have collected.
func TestMachinesAgreeWithOne(t *testing.T) {
	b := crowd(1, 40, "ant", "bee", "cat")
	few := crowd(2, 3, "dog", "ant")
	b.X.Data, b.X.Rows = append(b.X.Data, few.X.Data...), b.X.Rows+few.X.Rows
	b.Labels, b.Content = append(b.Labels, few.Labels...), append(b.Content, few.Content...)
	one := collected(t, b, seq(b.X.Rows))
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 3))
		order := rng.Perm(b.X.Rows)
		var machines []*Stats
		for len(order) > 0 {
			n := min(len(order), 1+rng.IntN(50))
			machines = append(machines, reloadedStats(t, collected(t, b, order[:n])))
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

func reloadedStats(t *testing.T, s *Stats) *Stats {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.stats")
	if err := s.Save(path); err != nil {
		t.Fatal(err)
	}
	back, err := LoadStats(path)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// A sample that both have counted counts once while one of them has examples,
// and is refused otherwise.
func TestSharedSamplesCountOnce(t *testing.T) {
	b := crowd(1, 40, "ant") // the full form begins with 7 samples
	for name, c := range map[string]struct {
		a, b []int
		ok   bool
	}{
		"thin and thin":            {[]int{0, 1, 2, 3}, []int{3, 4, 1}, true},
		"the same":                 {[]int{0, 1, 2}, []int{2, 1, 0}, true},
		"thin, full in the result": {[]int{0, 1, 2, 3, 4}, []int{4, 5, 6, 7}, true},
		"thin into full":           {seq(30), []int{29, 30, 31}, true},
		"full into thin":           {[]int{29, 30, 31}, seq(30), true},
		"all of it":                {seq(30), []int{3, 4}, true},
		"full and full":            {seq(30), seq(40)[20:], false},
		"full and full, disjoint":  {seq(20), seq(40)[20:], true},
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
			if !errors.Is(err, ErrCountedTwice) || !strings.Contains(err.Error(), `class "ant"`) || !strings.Contains(err.Error(), "10 of them") {
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
	s := NewStats(statsDim, false)
	v := []float32{1, 2, 3, 4, 5, 6}
	for _, class := range []string{"a", "b", "a"} {
		if _, err := s.Add(SampleID{embed.HashRow(v), class}, v); err != nil {
			t.Fatal(err)
		}
	}
	if s.SampleCount() != 2 || !s.Has(SampleID{embed.HashRow(v), "a"}) || s.Has(SampleID{embed.HashRow(v), "c"}) {
		t.Errorf("%v", s.Samples())
	}
}

// What a file holds does not depend on the order in which images came.
func TestStatsFileDoesNotShowTheOrder(t *testing.T) {
	b := crowd(1, 5, "ant", "bee")
	dir := t.TempDir()
	var files [][]byte
	for i, order := range [][]int{seq(10), {9, 3, 7, 1, 5, 0, 2, 8, 6, 4}} {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := collected(t, b, order).Save(path); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, raw)
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the bytes differ")
	}
}

func TestAddRefuses(t *testing.T) {
	s := NewStats(2, true)
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
		s := collected(t, crowd(1, 3, "ant"), seq(3))
		p := *spec()
		s.Provenance = embed.Provenance{
			Backbone: embed.Backbone{Name: "vit", SHA256: strings.Repeat("a", 64)}, Extractor: json.RawMessage(`{"pool":"mean","provider":"cpu","batch":1}`),
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
		"pooling": {func(s *Stats) { s.Provenance.Extractor = json.RawMessage(`{"pool":"max","provider":"cpu"}`) }, "other extractor settings"},
		"preprocessing": {func(s *Stats) {
			s.Provenance.Preprocess.Crop--
			s.Provenance.PreprocessFingerprint = s.Provenance.Preprocess.Fingerprint()
		}, "crop is"},
		"decoder":       {func(s *Stats) { s.Provenance.PreprocessFingerprint = "0123456789abcdef" }, "another preprocessing: fingerprints"},
		"normalisation": {func(s *Stats) { s.Unit = false }, "--raw"},
		"dimension":     {func(s *Stats) { *s = *NewStats(statsDim+1, true) }, "6 dimensions and of 7"},
		"hardware": {func(s *Stats) {
			s.Provenance.Extractor = json.RawMessage(`{"pool":"mean","provider":"cuda","batch":8}`)
		}, ""},
		"nothing known":  {func(s *Stats) { s.Provenance = embed.Provenance{} }, ""},
		"the same again": {func(*Stats) {}, ""},
	} {
		a := make(func(*Stats) {})
		_, err := a.Merge(make(c.change))
		if c.says == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		unknown := make(c.change)
		if c.says == "" && name == "nothing known" {
			if merged(t, unknown, a); unknown.Provenance.Backbone.SHA256 == "" || unknown.Provenance.PreprocessFingerprint == "" {
				t.Error("what is known of the one is not taken over")
			}
		}
	}
}

// Trained on statistics and on examples: the same model but for what needs
// examples.
func TestTrainStatsIsTrain(t *testing.T) {
	b := crowd(1, 20, "ant", "bee", "cat", "dog")
	for _, method := range []string{"ncm", "plda", "ppca"} {
		set := settings(method)
		set.Temperature.Temperature, set.Heads.NCM.Temperature = 1, 0.05
		want, _, err := Train(context.Background(), set, b)
		if err != nil {
			t.Fatal(err)
		}
		got, o, err := TrainStats(context.Background(), set, collected(t, b, seq(b.X.Rows)))
		if err != nil || o.Added != 80 || len(o.NewClasses) != 4 {
			t.Fatalf("%s: %+v, %v", method, o, err)
		}
		p, q := logProb(t, got, b), logProb(t, want, b)
		for i := range q { // statistics are of unit vectors rounded to float32
			if math.Abs(p[i]-q[i]) > 1e-4*max(1, math.Abs(q[i])) {
				t.Fatalf("%s: log-probability %v, want %v", method, p[i], q[i])
			}
		}
		if _, err := got.Threshold(0.05); err == nil || !strings.Contains(err.Error(), "statistics") {
			t.Errorf("%s: %v", method, err)
		}
		back := mustLoad(t, savedAs(t, got))
		if o := learn(t, back, b); o.Changed() {
			t.Errorf("%s: the images behind the statistics are learned again: %+v", method, o)
		}
		if o := learn(t, back, crowd(9, 3, "bee", "eel")); o.Added != 6 {
			t.Errorf("%s: %+v", method, o)
		}
	}
}

func TestTrainStatsRefuses(t *testing.T) {
	ctx, b := context.Background(), crowd(1, 5, "ant", "bee")
	if _, _, err := TrainStats(ctx, settings("plda"), NewStats(statsDim, true)); err == nil {
		t.Error("of nothing")
	}
	raw := collected(t, b, seq(10))
	raw.Unit = false
	if _, _, err := TrainStats(ctx, settings("plda"), raw); err == nil || !strings.Contains(err.Error(), "without --raw") {
		t.Errorf("raw: %v", err)
	}
	euclid := settings("ncm")
	euclid.Heads.NCM.Metric = "euclidean"
	if _, _, err := TrainStats(ctx, euclid, collected(t, b, seq(10))); err == nil || !strings.Contains(err.Error(), "with --raw") {
		t.Errorf("unit: %v", err)
	}
	head, err := newPlain()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.teach(ctx, "plain", head); !errors.Is(err, classifier.ErrUnsupported) || !strings.Contains(err.Error(), "--features") {
		t.Errorf("a head that needs examples: %v", err)
	}
}

func TestLoadStatsSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.stats")
	if err := collected(t, crowd(1, 5, "ant", "bee"), seq(10)).Save(path); err != nil {
		t.Fatal(err)
	}
	raw := contents(t, path)
	flipped := bytes.Clone(raw)
	flipped[len(flipped)-100] ^= 1
	m, _, err := Train(context.Background(), settings("ncm"), crowd(1, 5, "ant", "bee"))
	if err != nil {
		t.Fatal(err)
	}
	modelPath := savedAs(t, m)
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"truncated": {raw[:len(raw)-1], ErrTooShort},
		"altered":   {flipped, ErrAltered},
		"a model":   {contents(t, modelPath), ErrNotStats},
		"a text":    {[]byte("this is a text and no file of statistics"), ErrNotStats},
	} {
		if err := os.WriteFile(path, c.raw, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadStats(path); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := NewStats(3, true).Save(modelPath); !errors.Is(err, ErrNotStats) {
		t.Errorf("a model was replaced: %v", err)
	}
	stats := filepath.Join(dir, "t.stats")
	if err := os.WriteFile(stats, raw, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(stats); !errors.Is(err, ErrNotModel) || !strings.Contains(err.Error(), "--stats") {
		t.Errorf("statistics as a model: %v", err)
	}
}

// FuzzLoadStats: whatever the bytes, LoadStats gives statistics that can be
// merged, saved and learned from, or an error.
func FuzzLoadStats(f *testing.F) {
	b := crowd(1, 9, "ant", "bee")
	c, err := collected(f, b, seq(12)).container() // 9 and 3 samples: full and thin
	if err != nil {
		f.Fatal(err)
	}
	var raw bytes.Buffer
	if _, err := safetensors.Write(&raw, c.tensors, c.metadata); err != nil {
		f.Fatal(err)
	}
	f.Add(raw.Bytes(), c.metadata[documentKey], 0, 0.0)
	f.Add(raw.Bytes()[:50], `{"dim":6,"unit":true,"classes":[{"name":"a","n":1}]}`, 3, math.NaN())
	f.Add([]byte{}, strings.Replace(c.metadata[documentKey], `"dim":6`, `"dim":2147483647`, 1), 1, -1.0)
	f.Fuzz(func(t *testing.T, raw []byte, document string, at int, value float64) {
		tryStats(raw)
		// The same file with another description, or another value.
		d := container{tensors: c.tensors, metadata: map[string]string{formatKey: statsFormat, versionKey: "1", documentKey: document}}
		d.tensors = map[string]safetensors.Tensor{}
		for name, x := range c.tensors {
			x.F64 = slices.Clone(x.F64)
			if len(x.F64) > 0 && at >= 0 {
				x.F64[at%len(x.F64)] = value
			}
			d.tensors[name] = x
		}
		var out bytes.Buffer
		if _, err := safetensors.Write(&out, d.tensors, d.metadata); err == nil {
			tryStats(out.Bytes())
		}
	})
}

func tryStats(raw []byte) {
	s, err := decodeStats(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return
	}
	if _, err := s.container(); err != nil {
		panic(err)
	}
	_, _, _ = TrainStats(context.Background(), Settings{Method: "plda", Heads: settings("plda").Heads}, s)
	_, _ = s.Merge(s)
}
