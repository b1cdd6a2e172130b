package bench_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/extractor"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// A backbone is one of the pretrained models in ../shared.
type backbone struct{ label, file, preset string }

var backbones = []backbone{
	{"vit_tiny", "vit_tiny_patch16_224", "vit-0.5"},
	{"mobilenetv2", "mobilenetv2_features", "imagenet"},
}

func (m backbone) path(tb testing.TB) string { return shared.Path(tb, "models", m.file+".onnx") }

// A rig is what `pipeline embed` sets up for a backbone.
type rig struct {
	pre       *preprocess.Preprocessor
	extractor *extractor.Extractor
}

func newRig(tb testing.TB, m backbone) rig {
	tb.Helper()
	model := must.Get(os.ReadFile(m.path(tb)))(tb)
	e := must.Get(extractor.Open(orttest.Open(tb), model, m.file, extractor.DefaultConfig()))(tb)
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return rig{newPreprocessor(tb, m.preset), e}
}

func newPreprocessor(tb testing.TB, preset string) *preprocess.Preprocessor {
	tb.Helper()
	spec := must.Get(preprocess.Preset(preset))(tb)
	return must.Get(preprocess.New(spec, preprocess.DefaultBudget()))(tb)
}

// portablePreprocessor decodes with Go's packages.
func portablePreprocessor(tb testing.TB, preset string) *preprocess.Preprocessor {
	tb.Helper()
	spec := newPreprocessor(tb, preset).Spec()
	spec.Decoder = ""
	return must.Get(preprocess.New(spec, preprocess.DefaultBudget().Portable()))(tb)
}

// tensorLen is the length of one photo's tensor.
func (r rig) tensorLen() int {
	side := r.pre.Spec().Side()
	return 3 * side * side
}

// embed runs a whole Stream with an empty cache and returns its features.
func (r rig) embed(tb testing.TB, root string, samples []dataset.Sample) embedding.Embeddings {
	tb.Helper()
	memory := must.Get(cache.Open(tb.TempDir(), cache.Namespace{
		Extractor: r.extractor.Fingerprint(), Preprocess: r.pre.Spec().Fingerprint(),
	}, slog.New(slog.NewTextHandler(io.Discard, nil))))(tb)
	d := r.extractor.Dim()
	f := embedding.Embeddings{Samples: samples, X: blas32.General{Cols: d, Stride: d}}
	s := embedding.Stream{
		Preprocessor: r.pre, Open: embedding.Opened(r.extractor), Side: r.pre.Spec().Side(), Cache: memory,
	}
	must.Get(s.Run(context.Background(), root, samples, func(item embedding.Item) error {
		f.X.Rows++
		f.X.Data = append(f.X.Data, item.Vector...)
		return item.Err
	}))(tb)
	must.Do(tb, memory.Close())
	return f
}

// photos returns n of the real photos, spread over all classes.
func photos(tb testing.TB, n int) (root string, samples []dataset.Sample) {
	tb.Helper()
	root = shared.Path(tb, "data", "caltech101_10")
	listing := must.Get(dataset.Scan(context.Background(), root, dataset.ScanOptions{}))(tb)
	all := listing.Samples
	for i := range n {
		samples = append(samples, all[i*len(all)/n])
	}
	return root, samples
}

// paths of samples, for other programs.
func paths(root string, samples []dataset.Sample) []string {
	var all []string
	for _, s := range samples {
		all = append(all, filepath.Join(root, s.Path))
	}
	return all
}

// contents reads files.
func contents(tb testing.TB, paths []string) [][]byte {
	tb.Helper()
	files := make([][]byte, len(paths))
	for i, path := range paths {
		var err error
		if files[i], err = os.ReadFile(path); err != nil {
			tb.Fatal(err)
		}
	}
	return files
}
