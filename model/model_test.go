package model

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

func spec() *preprocess.Spec {
	return &preprocess.Spec{
		Resize: "shorter", Size: 96, Crop: 84, Interpolation: "bicubic",
		Mean: [3]float64{0.5, 0.5, 0.5}, Std: [3]float64{0.5, 0.5, 0.5}, Orientation: true,
	}
}

func trained(t testing.TB) *Model {
	t.Helper()
	m, o := must.Get2(train(context.Background(), newFake, batch(0, 6, 3, "ant", "bee", "cat", "dog")))(t)
	if o.Added != 24 || len(o.NewClasses) != 4 {
		t.Fatalf("outcome %+v", o)
	}
	return m
}

func saved(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.model")
	save(t, trained(t), path)
	return path
}

func save(t testing.TB, m *Model, path string) {
	t.Helper()
	must.Do(t, m.Save(path))
}

func loaded(t testing.TB, path string) *Model {
	t.Helper()
	return must.Get(load(path, fakes()))(t)
}

func learn(t testing.TB, m *Model, b Batch) Outcome {
	t.Helper()
	return must.Get(m.Learn(context.Background(), b))(t)
}

func contents(t testing.TB, path string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(path))(t)
}

func names(t testing.TB, dir string) []string {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestRoundTrip(t *testing.T) {
	want := trained(t)
	path := filepath.Join(t.TempDir(), "m.model")
	save(t, want, path)
	got := loaded(t, path)
	if !reflect.DeepEqual(got.Sessions, want.Sessions) ||
		!reflect.DeepEqual(got.Predictor.Calibration, want.Predictor.Calibration) ||
		!reflect.DeepEqual(got.Provenance, want.Provenance) ||
		got.Method != want.Method || got.Seed != 7 || got.ToolVersion != "test" ||
		got.Provenance.PreprocessFingerprint != "feed" ||
		string(got.HeadConfig) != `{"tau":1}` || !got.KeepStatistics {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if info := got.ClassSizes(); len(info) != 4 || info[1] != (ClassInfo{"bee", 6, 0}) || got.SampleCount() != 24 {
		t.Errorf("class sizes %v", info)
	}
	if info, err := os.Stat(got.StatisticsPath()); err != nil || info.Size() != got.statistics.pointer.Bytes {
		t.Errorf("statistics %s: %v, %d bytes expected", got.StatisticsPath(), err, got.statistics.pointer.Bytes)
	}
	copied := filepath.Join(t.TempDir(), "copy.model")
	save(t, got, copied)
	if !bytes.Equal(contents(t, path), contents(t, copied)) {
		t.Error("load and save changed the bytes")
	}
}

func TestTrainingTwiceGivesTheSameBytes(t *testing.T) {
	if !bytes.Equal(contents(t, saved(t)), contents(t, saved(t))) {
		t.Error("bytes differ")
	}
}

func TestLearningAgainChangesNothing(t *testing.T) {
	path := saved(t)
	b := batch(1, 5, 3, "elk", "bee")
	m := loaded(t, path)
	o := learn(t, m, b)
	if o.Added != 10 || !slices.Equal(o.NewClasses, []string{"elk"}) || !slices.Equal(o.MoreOf, []string{"bee"}) ||
		!o.Changed() {
		t.Fatalf("outcome %+v", o)
	}
	save(t, m, path)
	after, previous := contents(t, path), contents(t, path+previousSuffix)

	again := loaded(t, path)
	if o := learn(t, again, b); o.Changed() || o.AlreadyKnown != 10 || len(again.Sessions) != 2 {
		t.Fatalf("second time: %+v", o)
	}
	save(t, again, path)
	if !bytes.Equal(after, contents(t, path)) || !bytes.Equal(previous, contents(t, path+previousSuffix)) {
		t.Error("learning again changed a file")
	}
}

// Learning a partly known batch gives the same model as learning all at once.
func TestLearningTheRestOfABatch(t *testing.T) {
	whole, half := trained(t), trained(t)
	b := batch(1, 4, 3, "elk", "fox")
	learn(t, whole, b)
	learn(t, half, b.only([]int{0, 1, 5}))
	if o := learn(t, half, b); o.Added != 5 || o.AlreadyKnown != 3 || len(o.NewClasses) != 0 {
		t.Errorf("outcome %+v", o)
	}
	if !reflect.DeepEqual(whole.Predictor.Head.(*fake).mean, half.Predictor.Head.(*fake).mean) {
		t.Error("the heads differ")
	}
}

func TestDuplicatesAndConflicts(t *testing.T) {
	m := trained(t)
	b := batch(1, 3, 3, "elk")
	double := b.only([]int{0, 1, 2, 1, 0})
	double.Paths = []string{"a", "b", "c", "d", "e"}
	if o := learn(t, m, double); o.Added != 3 || o.Duplicates != 2 || len(o.Conflicts) != 0 {
		t.Errorf("duplicates: %+v", o)
	}
	other := b.only([]int{1})
	other.Labels[0] = "moose"
	o := learn(t, m, other)
	if o.Added != 1 || len(o.Conflicts) != 1 || !slices.Equal(o.Conflicts[0].Labels, []string{"elk", "moose"}) {
		t.Errorf("conflict: %+v", o)
	}
	if n := m.ClassSizes()[4]; n != (ClassInfo{"elk", 3, 1}) {
		t.Errorf("elk %+v", n)
	}
}

func TestLearnRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Batch){
		"no label":         func(b *Batch) { b.Labels[1] = "" },
		"not utf-8":        func(b *Batch) { b.Labels[1] = "\xff" },
		"NaN":              func(b *Batch) { b.X.Data[4] = float32(math.NaN()) },
		"Inf":              func(b *Batch) { b.X.Data[4] = float32(math.Inf(-1)) },
		"few labels":       func(b *Batch) { b.Labels = b.Labels[:1] },
		"few hashes":       func(b *Batch) { b.Content = b.Content[:1] },
		"few paths":        func(b *Batch) { b.Paths = b.Paths[:1] },
		"short matrix":     func(b *Batch) { b.X.Data = b.X.Data[:5] },
		"empty":            func(b *Batch) { *b = Batch{} },
		"other dimensions": func(b *Batch) { *b = batch(1, 3, 4, "elk") },
	} {
		m := trained(t)
		before := contents(t, savedAs(t, m))
		b := batch(1, 3, 3, "elk")
		spoil(&b)
		if o, err := m.Learn(context.Background(), b); err == nil || o.Changed() {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
		if !bytes.Equal(before, contents(t, savedAs(t, m))) {
			t.Errorf("%s: the model changed", name)
		}
	}
}

func savedAs(t testing.TB, m *Model) string {
	path := filepath.Join(t.TempDir(), "x.model")
	save(t, m, path)
	return path
}

func TestForgetClassAndLearnAgain(t *testing.T) {
	m := trained(t)
	b := batch(1, 5, 3, "elk")
	learn(t, m, b)
	want := contents(t, savedAs(t, m))
	must.Get(m.ForgetClass(context.Background(), "elk", Forgetting{}))(t)
	if m.SampleCount() != 24 || len(m.Sessions) != 1 || slices.Contains(m.Classes(), "elk") {
		t.Errorf("after forgetting: %+v", m.Sessions)
	}
	if o := learn(t, m, b); o.Added != 5 {
		t.Errorf("learning again: %+v", o)
	}
	if !bytes.Equal(want, contents(t, savedAs(t, m))) {
		t.Error("forgetting and learning again is not the same as never forgetting")
	}
	if _, err := m.ForgetClass(context.Background(), "unicorn", Forgetting{}); !errors.Is(err,
		classifier.ErrUnknownClass) {
		t.Errorf("unknown class: %v", err)
	}
}

func TestForgetSamples(t *testing.T) {
	m := trained(t)
	never := contents(t, savedAs(t, m))
	b := batch(1, 5, 3, "elk", "bee")
	learn(t, m, b)
	unlabelled := b.only([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9})
	for i := range unlabelled.Labels {
		unlabelled.Labels[i] = ""
	}
	must.Get(m.ForgetSamples(context.Background(), unlabelled, Forgetting{}))(t)
	if !bytes.Equal(never, contents(t, savedAs(t, m))) {
		t.Error("forgetting every sample is not the same as never having learned")
	}
}

func TestForgetSamplesRefuses(t *testing.T) {
	m := trained(t)
	b := batch(1, 2, 3, "elk")
	learn(t, m, b)
	before := contents(t, savedAs(t, m))
	mixed := batch(0, 7, 3, "bee") // the seventh was never learned
	var never *NotLearnedError
	if _, err := m.ForgetSamples(context.Background(), mixed, Forgetting{}); !errors.As(err, &never) ||
		!slices.Equal(never.Paths, []string{"bee/0-6.jpg"}) {
		t.Errorf("never learned: %v", err)
	}
	wrong := b.only([]int{0})
	wrong.Labels[0] = "bee"
	if _, err := m.ForgetSamples(context.Background(), wrong, Forgetting{}); !errors.As(err, &never) {
		t.Errorf("another label: %v", err)
	}
	if !bytes.Equal(before, contents(t, savedAs(t, m))) {
		t.Error("a refused request changed the model")
	}
	wrong.Labels[0] = "moose"
	learn(t, m, wrong)
	wrong.Labels[0] = ""
	if _, err := m.ForgetSamples(context.Background(), wrong, Forgetting{}); err == nil ||
		!strings.Contains(err.Error(), "give the label") {
		t.Errorf("two labels: %v", err)
	}
}

func TestHeadsThatCannotForget(t *testing.T) {
	m, _ := must.Get2(train(context.Background(), newPlain, batch(0, 6, 3, "ant", "bee")))(t)
	ctx, how := context.Background(), Forgetting{Approximate: true}
	if _, err := m.ForgetClass(ctx, "ant", how); !errors.Is(err, classifier.ErrUnsupported) ||
		!strings.Contains(err.Error(), "no means of its own") {
		t.Errorf("class: %v", err)
	}
	if _, err := m.ForgetSamples(ctx, batch(0, 1, 3, "ant"), how); !errors.Is(err, classifier.ErrUnsupported) {
		t.Errorf("samples: %v", err)
	}
	path := savedAs(t, m)
	if got := names(t, filepath.Dir(path)); !slices.Equal(got, []string{"x.model"}) {
		t.Errorf("files %v", got)
	}
}

func source(sha256, extractor string, spec *preprocess.Spec, fingerprint string, dim int) embedding.Provenance {
	return embedding.Provenance{
		Backbone: embedding.Backbone{SHA256: sha256}, ExtractorFingerprint: extractor,
		Preprocess: spec, PreprocessFingerprint: fingerprint, Dim: dim,
	}
}

func TestAccepts(t *testing.T) {
	m := trained(t)
	other := *spec()
	other.Size, other.Orientation = 224, false
	for name, c := range map[string]struct {
		p    embedding.Provenance
		want error
		says string
	}{
		"same":      {source("abc", "ef", spec(), "feed", 3), nil, ""},
		"foreign":   {embedding.Provenance{Dim: 3}, nil, ""},
		"dimension": {embedding.Provenance{Dim: 4}, embedding.ErrOtherBackbone, "4 dimensions"},
		"file":      {source("abd", "", nil, "", 3), embedding.ErrOtherBackbone, "abd"},
		"settings":  {source("abc", "other", spec(), "feed", 3), embedding.ErrOtherBackbone, "pooling"},
		"spec": {source("abc", "ef", &other, "beef", 3), embedding.ErrOtherPreprocessing,
			"orientation is false here, true in the model, size is 224 here, 96 in the model"},
		"decoder":     {source("abc", "ef", spec(), "beef", 3), embedding.ErrOtherPreprocessing, "decoders"},
		"fingerprint": {source("", "", nil, "beef", 0), embedding.ErrOtherPreprocessing, "beef"},
	} {
		err := m.Accepts(c.p)
		if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v saying %q", name, err, c.want, c.says)
		}
	}
	m.Provenance = embedding.Provenance{}
	if err := m.Accepts(source("abd", "x", spec(), "beef", 3)); err != nil {
		t.Errorf("a model without backbone: %v", err)
	}
}

func TestHashRow(t *testing.T) {
	// printf '\0\0\x80\x3f\0\0\0\xc0' | sha256sum, that is [1, −2].
	x := batch(0, 2, 2, "ant").X
	copy(x.Data[2:], []float32{1, -2})
	want := "ee4ac73c2bd27756ab82780f27c73a7bc4d3f0bb6acb37e008bc27eccd7e588b"
	if got := embedding.HashRows(x)[1]; hex.EncodeToString(got[:]) != want {
		t.Errorf("hash %x", got)
	}
}

// only returns a batch of the given rows.
func (b Batch) only(rows []int) Batch {
	out := Batch{X: b.rows(rows)}
	for _, i := range rows {
		out.Labels = append(out.Labels, b.Labels[i])
		out.Content = append(out.Content, b.Content[i])
	}
	return out
}
