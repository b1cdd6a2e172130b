// Package library tests what Go programs call, as one of them would.
package library

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/gpr"
	"github.com/seed-90d10d51/pipeline/classifier/gpsoftmax"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/classifier/hppca"
	"github.com/seed-90d10d51/pipeline/classifier/kit/kmeans"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
	"github.com/seed-90d10d51/pipeline/classifier/pldaplus"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline"
	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/engine"
	"github.com/seed-90d10d51/pipeline/classifier/vargp"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/wording"
	"github.com/seed-90d10d51/pipeline/extractor"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	gaussian "github.com/seed-90d10d51/pipeline/gp/gpr"
	variational "github.com/seed-90d10d51/pipeline/gp/vargp"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/events"
	"github.com/seed-90d10d51/pipeline/label/export"
	"github.com/seed-90d10d51/pipeline/label/rank"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/linalg/native"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/preprocess"
	"github.com/seed-90d10d51/pipeline/serve"
	"github.com/seed-90d10d51/pipeline/teach"
	"github.com/seed-90d10d51/pipeline/words/textencoder"
	"github.com/seed-90d10d51/pipeline/words/textencoder/textencodertest"
	"github.com/seed-90d10d51/pipeline/words/tokenizer"
)

// rows are six examples of two classes.
func rows() (blas32.General, []string) {
	return blas32.General{Rows: 6, Cols: 3, Stride: 3, Data: []float32{
		1, .1, 0, 1, .2, 0, .9, .1, .1, .1, 1, 0, .3, 1, 0, .2, .9, .1,
	}}, []string{"cat", "cat", "cat", "dog", "dog", "dog"}
}

// A use calls what takes a struct of settings, and returns what came of it.
type use func(t *testing.T) (any, error)

// A pair is the use of a zero value and of what it stands for; without the second, the first is to be
// refused.
type pair struct{ zero, standard use }

// head is the pair of a constructor of heads: what the two predict is the same.
func head[C any, H classifier.Learner](standard C, create func(C) (H, error)) pair {
	with := func(c C) use {
		return func(*testing.T) (any, error) {
			h, err := create(c)
			if err != nil {
				return nil, err
			}
			x, y := rows()
			if err := h.Learn(context.Background(), x, y); err != nil {
				return nil, err
			}
			return classifier.Predict(h, x, 2)
		}
	}
	var none C
	return pair{with(none), with(standard)}
}

func named[C, H any](name string, create func(string, C) (H, error)) func(C) (H, error) {
	return func(c C) (H, error) { return create(name, c) }
}

// of is the pair of a function of settings.
func of[C, R any](standard C, call func(C) (R, error)) pair {
	with := func(c C) use { return func(*testing.T) (any, error) { return call(c) } }
	var none C
	return pair{with(none), with(standard)}
}

// refused is the pair of what has nothing to do without settings.
func refused(call func() error) pair {
	return pair{zero: func(*testing.T) (any, error) { return nil, call() }}
}

func train(s model.Settings) (any, error) {
	x, y := rows()
	b := model.Batch{X: x, Labels: y, Content: make([]model.Hash, len(y))}
	for i := range b.Content {
		b.Content[i][0] = byte(i + 1)
	}
	m, _, err := model.Train(context.Background(), s, b)
	if err != nil {
		return nil, err
	}
	return classifier.Predict(m.Predictor, x, 2)
}

// photos are rows of which the second is unlike the classes.
type photos struct{}

func (photos) Each(_ context.Context, emit func(embedding.Item) error) (embedding.Outcome, error) {
	x, y := rows()
	for i := range y {
		item := embedding.Item{Sample: dataset.Sample{Path: fmt.Sprint(i, ".jpg")}, Vector: x.Data[3*i : 3*i+3]}
		item.Vector[0] += float32(100 * (i % 2))
		if err := emit(item); err != nil {
			return embedding.Outcome{}, err
		}
	}
	return embedding.Outcome{Counts: embedding.Counts{Total: len(y)}}, nil
}

func (photos) Provenance() embedding.Provenance { return embedding.Provenance{} }

// labelled is labels.csv of a job.
func labelled(t *testing.T, j label.Job) (any, error) {
	h, err := ncm.New(ncm.Config{})
	if err != nil {
		return nil, err
	}
	x, y := rows()
	if err := h.Learn(context.Background(), x, y); err != nil {
		return nil, err
	}
	j.Head, j.Images, j.Out = h, photos{}, t.TempDir()
	if _, err := j.Run(context.Background()); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(j.Out, "labels.csv"))
}

func job(j label.Job) use { return func(t *testing.T) (any, error) { return labelled(t, j) } }

func opened(o embedding.Options) use {
	return func(t *testing.T) (any, error) {
		orttest.Open(t)
		o.Cache = t.TempDir()
		e, err := embedding.Open(o)
		if err != nil {
			return nil, err
		}
		defer e.Close()
		return e.Provenance().Backbone.SHA256 + e.Provenance().PreprocessFingerprint, nil
	}
}

// uses has a pair for each struct of settings of the public packages.
func uses(t *testing.T) map[string]pair {
	ctx := context.Background()
	x, y := rows()
	grouped := func(o events.Options) (any, error) {
		g, err := events.Group(ctx, t.TempDir(), slices.Values([]events.Photo{{Path: "a.jpg", Rows: 1}}), o)
		return len(g.Events), err
	}
	means := blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: []float64{1, 0, 0, 1}}
	fitted := func(s pipeline.Settings) (any, error) {
		p, err := pipeline.Open(ctx, pipeline.WithSettings(s))
		if err != nil {
			return nil, err
		}
		rows := [][]float32{{1, .1}, {1, .2}, {.1, 1}, {.3, 1}}
		m, err := p.Fit(ctx, rows, []string{"cat", "cat", "dog", "dog"}, func(q *pipeline.TrainRequest) {
			q.Classifier = pipeline.Classifier{}
		})
		if err != nil {
			return nil, err
		}
		return m.Predict(ctx, rows)
	}
	runtime := func() (*ort.Runtime, error) { return orttest.Open(t), nil }
	texts := func(c textencoder.Config) (any, error) {
		words, err := tokenizer.Parse(textencodertest.Vocabulary(t))
		if err != nil {
			return nil, err
		}
		e, err := textencoder.Open(orttest.Open(t), textencodertest.TextSide(t), "small", words, c)
		if err != nil {
			return nil, err
		}
		defer e.Close()
		return e.Embed(ctx, []string{"red", "blue"})
	}
	const clipLength = 77
	return map[string]pair{
		"kmeans.Config": refused(func() error {
			_, err := kmeans.Cluster(ctx, linalg.Backend{}, x, kmeans.Config{}, rand.New(rand.NewPCG(1, 1)))
			return err
		}),
		"native.Config": of(native.DefaultConfig(), func(c native.Config) (string, error) {
			chosen, err := native.Choose(c, runtime)
			return chosen.String(), err
		}),
		"textencoder.Config": of(textencoder.Config{Length: clipLength}, texts),
		"pipeline.Settings":  of(pipeline.DefaultSettings(), fitted),
		"model.Settings":     of(model.Settings{Method: method.Auto, Heads: method.DefaultConfig()}, train),
		"method.Config":      head(method.DefaultConfig(), named("plda", method.New)),
		"label.Config": {job(label.Job{}), job(label.Job{Config: label.DefaultConfig(),
			Threshold: label.Above(math.Inf(1))})},
		"rank.Config":    of(rank.DefaultConfig(), func(c rank.Config) (any, error) { return rank.New(c, y) }),
		"events.Options": of(events.Options{}, grouped),
		"export.Options": refused(func() error {
			_, err := export.Sinks([]string{"coco"}, export.Options{})
			return err
		}),
		"embedding.Options": {opened(embedding.Options{}), opened(embedding.DefaultOptions())},
		"wording.Config": of(wording.DefaultConfig(), func(c wording.Config) (any, error) {
			_, texts, err := c.Templates.Sentences([]dataset.Description{{Class: "cat"}})
			return texts, err
		}),
		"extractor.Config": of(extractor.DefaultConfig(), func(c extractor.Config) (any, error) {
			return c.Resolved(), c.Resolved().Validate()
		}),
		"preprocess.Spec": refused(func() error { _, err := preprocess.New(preprocess.Spec{}, nil); return err }),
		"backbone.PullOptions": refused(func() error {
			_, err := backbone.Pull(ctx, backbone.Entry{}, backbone.PullOptions{})
			return err
		}),
		"teach.Options": refused(func() error { _, err := teach.Open(teach.Options{}); return err }),
		"serve.Options": refused(func() error { return serve.New(serve.Options{}).Serve(ctx, nil) }),
		"serve.Config":  refused(func() error { return serve.Config{}.Validate() }),
		"dataset.ScanOptions": of(dataset.ScanOptions{Symlinks: dataset.FollowLinks, ClassFrom: dataset.ClassFromTop},
			func(o dataset.ScanOptions) (any, error) { return dataset.Scan(ctx, "testdata", o) }),
		"dataset.ListOptions": of(dataset.ListOptions{}, func(o dataset.ListOptions) (any, error) {
			return dataset.ReadListFrom(strings.NewReader("a.jpg\tcat\n"), "list", "testdata", o)
		}),
		"dataset.BoxOptions": of(dataset.BoxOptions{}, func(o dataset.BoxOptions) (any, error) {
			return dataset.ReadBoxes("testdata/boxes.json", "testdata", o)
		}),
		"dkl.Config":    refused(func() error { _, err := dkl.New(3, dkl.Config{}); return err }),
		"dkl.SGDConfig": refused(func() error { _, err := dkl.NewSGD(dkl.SGDConfig{}, 3); return err }),
		"dkl.Settings":  refused(func() error { return dkl.Settings{}.Validate() }),
		"dkl.Training": of(dkl.DefaultTraining(), func(c dkl.Training) (any, error) {
			_, err := dkl.NewTrainer(c, gptree.Config{}, dkl.Examples{X: x, Y: y}, linalg.Backend{})
			return nil, err
		}),
		"gptree.Config": head(gptree.DefaultConfig(), gptree.New),
		"gptree.KMeansConfig": of(gptree.DefaultKMeansConfig(), func(c gptree.KMeansConfig) (any, error) {
			return gptree.KMeans(ctx, means, c)
		}),
		"gp/gpr.Config": of(gaussian.DefaultConfig(), func(c gaussian.Config) (any, error) {
			return gaussian.New(nil, c)
		}),
		"gp/vargp.Config": refused(func() error {
			_, err := variational.New(variational.Config{}, 1, 1, 1)
			return err
		}),
		"classifier.Settings": of(classifier.Settings{Config: plda.DefaultConfig()},
			func(s classifier.Settings) (any, error) {
				m, _ := method.Find("plda")
				return m.Resolve(s, classifier.Run{}), m.Validate(s)
			}),
		"gpsoftmax.Config":  head(gpsoftmax.DefaultOVE(), named(gpsoftmax.OVE, gpsoftmax.New)),
		"hppca.Config":      head(hppca.DefaultConfig(), hppca.New),
		"plda.Config":       head(plda.DefaultConfig(), plda.New),
		"gpr.Config":        head(gpr.DefaultConfig(), gpr.New),
		"vargp.Config":      head(vargp.DefaultConfig(), vargp.New),
		"ppca.Config":       head(ppca.DefaultConfig(), ppca.New),
		"ncm.Config":        head(ncm.DefaultConfig(), ncm.New),
		"ppcaonline.Config": head(ppcaonline.DefaultConfig(), ppcaonline.New),
		"engine.Config": refused(func() error {
			_, err := engine.New(engine.Config{}, engine.Params{})
			return err
		}),
		"pldaplus.Config": head(pldaplus.DefaultPPCAEB(), named(pldaplus.PPCAEB, pldaplus.New)),
		"temperature.Config": of(temperature.Config{Temperature: temperature.Auto},
			func(c temperature.Config) (any, error) { return nil, c.Validate() }),
		"episodes.Config": of(episodes.DefaultConfig(), func(c episodes.Config) (any, error) {
			_, err := episodes.NewPlan(episodes.Episode{X: x, Y: y}, c)
			return fmt.Sprint(err), nil // too little data, of the default's numbers
		}),
	}
}

// TestZeroValues: the zero value of each struct of settings does what the commands do by default, or is
// refused in words; it never panics and never means something else.
func TestZeroValues(t *testing.T) {
	all := uses(t)
	for name, p := range all {
		t.Run(name, func(t *testing.T) {
			got, err := p.zero(t)
			if p.standard == nil {
				if err == nil || err.Error() == "" {
					t.Error("it is taken")
				}
				return
			}
			want, wantErr := p.standard(t)
			if err != nil || wantErr != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%.500v (%v), and by default %.500v (%v)", got, err, want, wantErr)
			}
		})
	}
	for _, name := range settingsOfTheModule(t) {
		if _, ok := all[name]; !ok {
			t.Errorf("what does the zero %s mean? It is not in the table of this test", name)
		}
	}
}

// settingsOfTheModule are the exported structs that look like settings, without those of internal
// packages, commands and experiments, by the shortest path that tells them apart.
func settingsOfTheModule(t *testing.T) (names []string) {
	root := filepath.Join("..", "..", "..", "..")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case e.IsDir() && (strings.HasPrefix(e.Name(), ".") && rel != "." ||
			slices.Contains([]string{"internal", "cmd", "research", "scripts", "testdata"}, e.Name())):
			return fs.SkipDir
		case !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		pkg := file.Name.Name
		if strings.HasPrefix(rel, "gp/") {
			pkg = "gp/" + pkg
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			_, isStruct := spec.Type.(*ast.StructType)
			for _, end := range []string{"Config", "Options", "Settings", "Spec", "Training"} {
				if isStruct && spec.Name.IsExported() && strings.HasSuffix(spec.Name.Name, end) {
					names = append(names, pkg+"."+spec.Name.Name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || len(names) < 30 {
		t.Fatal(names, err)
	}
	return names
}
