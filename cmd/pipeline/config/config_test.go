package config

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/seed-90d10d51/pipeline/classifier/plda"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
)

const configs = "../../../configs"

func TestReferenceDocumentsEveryKeyWithItsDefault(t *testing.T) {
	text := must.Get(os.ReadFile(filepath.Join(configs, "reference.yaml")))(t)
	var tree map[string]any
	must.Do(t, yaml.Unmarshal(text, &tree))
	_, known := must.Get2(withDefaults())(t)
	documented := leaves("", tree)
	for _, key := range known {
		if !slices.Contains(documented, key) {
			t.Errorf("%s is a setting that configs/reference.yaml lacks", key)
		}
	}
	for _, key := range documented {
		if !slices.Contains(known, key) {
			t.Errorf("configs/reference.yaml has %s, which is no setting", key)
		}
	}
	c := must.Get(Load(Sources{File: filepath.Join(configs, "reference.yaml")}))(t)
	c.Preprocess.Mean, c.Preprocess.Std = nil, nil // [] and nothing mean the same
	want := Default()
	c.Classifier.Sections = nil // what Methods was read from
	if !reflect.DeepEqual(c, want) {
		t.Errorf("reference.yaml gives\n%+v\nthe defaults are\n%+v", c, want)
	}
}

func TestEveryConfigLoads(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(configs, "*.yaml"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		if _, err := Load(Sources{File: f}); err != nil {
			t.Error(err)
		}
	}
}

func TestLaterSourcesWin(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	write(t, file, "label: {top_k: 2}\nclassifier: {name: ncm}\nthreads: 1\nseed: 1\n")
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.Int("threads", 0, "")
	flags.Uint64("seed", 0, "")
	Bind(flags, "threads", "threads")
	Bind(flags, "seed", "seed")
	must.Do(t, flags.Parse([]string{"--threads", "3", "--seed", "3"}))
	c := must.Get(Load(Sources{
		File: file, Flags: flags,
		Environ: []string{"PIPELINE_THREADS=2", "PIPELINE_CLASSIFIER_NAME=ppca", "PIPELINE_SHARED=x",
			"PIPELINE_PYTHON=x", "OTHER=1"},
		Set: []string{"seed=4"},
	}))(t)
	if c.Label.TopK != 2 || c.Classifier.Name != "ppca" || c.Threads != 3 || c.Seed != 4 {
		t.Errorf("top_k %d (want 2: file), name %s (want ppca: environment), threads %d (want 3: flag), seed %d (want "+
			"4: --set)",
			c.Label.TopK, c.Classifier.Name, c.Threads, c.Seed)
	}
}

func TestSetReadsWhatTheKeyWants(t *testing.T) {
	c := must.Get(Load(Sources{Set: []string{
		"preprocess.mean=0.1,0.2,0.3", "label.format=[csv, jsonl]", "images=a: b, c", "classifier.ppca.logdet=false",
		"Classifier.PLDA.Epsilon=0.1", "preprocess.orientation=false", "cache=123",
	}}))(t)
	if !reflect.DeepEqual(c.Preprocess.Mean, []float64{0.1, 0.2, 0.3}) ||
		!reflect.DeepEqual(c.Label.Format, []string{"csv", "jsonl"}) {
		t.Errorf("lists %v %v", c.Preprocess.Mean, c.Label.Format)
	}
	if c.Images != "a: b, c" || c.Cache != "123" {
		t.Errorf("texts %q %q", c.Images, c.Cache)
	}
	logDet, epsilon := method.Get[ppca.Config](c.Classifier.Methods, "ppca").LogDet,
		method.Get[plda.Config](c.Classifier.Methods, "plda").Epsilon
	if logDet == nil || *logDet || c.Preprocess.Orientation || epsilon != 0.1 {
		t.Errorf("switches %v %v %v", logDet, c.Preprocess.Orientation, epsilon)
	}
}

// TestZeroLeavesTheChoiceToTheHead: 0 is a distinct value, not the default.
func TestZeroLeavesTheChoiceToTheHead(t *testing.T) {
	c := must.Get(Load(Sources{Set: []string{"classifier.plda.epsilon=0", "classifier.ppca.lambda=0"}}))(t)
	h := c.Classifier.Heads(7)
	epsilon, lambda := method.Get[plda.Config](h, "plda").Epsilon, method.Get[ppca.Config](h, "ppca").Lambda
	if epsilon != plda.Auto || lambda != ppca.Auto {
		t.Errorf("epsilon %g, lambda %g", epsilon, lambda)
	}
	for _, m := range method.Methods() {
		if text, err := json.Marshal(h.Settings(m)); err != nil || strings.Contains(string(text), `"seed"`) &&
			!strings.Contains(string(text), `"seed":7`) {
			t.Errorf("%s: the seed of the run does not reach %s, %v", m.Name, text, err)
		}
	}
}

func TestMistakesAreExplained(t *testing.T) {
	cases := []struct {
		name, file string
		environ    []string
		set        []string
		want       string
	}{
		{name: "unknown key in the file", file: "clasifier: {name: ncm}",
			want: `"clasifier.name"; did you mean "classifier.name"`},
		{name: "unknown key in --set", set: []string{"label.topk=3"}, want: `did you mean "label.top_k"`},
		{name: "unknown variable", environ: []string{"PIPELINE_THREAD=2"}, want: "did you mean \"PIPELINE_THREADS\""},
		{name: "no value", set: []string{"seed"}, want: "want key=value"},
		{name: "not a number", set: []string{"seed=many"}, want: "seed"},
		{name: "broken YAML", file: "a: [", want: "c.yaml"},
		{name: "a section that is a value", file: "label: 3", want: `"label"`},
		{name: "out of range", set: []string{"label.reject=2"}, want: "label.reject: 2"},
		{name: "unknown method", set: []string{"classifier.name=ppcaa"}, want: `did you mean "ppca"`},
		{name: "method's setting", set: []string{"classifier.ppca.q=-1"}, want: "classifier.ppca.q: -1"},
		{name: "almost chosen by the head", set: []string{"classifier.plda.epsilon=-0.1"},
			want: "0 means choose it on the base session"},
		{name: "unknown preset", set: []string{"preprocess.preset=resnet"}, want: "preprocess."},
		{name: "two means", set: []string{"preprocess.mean=1,2"}, want: "preprocess.mean"},
		{name: "second document", file: "seed: 1\n---\nseed: 2\n", want: "c.yaml: it has a second document"},
		{name: "negative seed", set: []string{"seed=-1"}, want: "seed: -1 is not a whole number"},
		{name: "negative seed in the file", file: "seed: -1", want: "seed: -1 is not a whole number"},
		{name: "negative seed in a variable", environ: []string{"PIPELINE_SEED=-1"},
			want: "seed: -1 is not a whole number"},
		{name: "seed too large", set: []string{"seed=18446744073709551616"},
			want: "seed: 1.8446744073709552e+19 is not a whole number"},
		{name: "half a thread", file: "threads: 1.5", want: "threads: 1.5 is not a whole number"},
		{name: "too many threads", set: []string{"threads=1000000000"}, want: "threads: 1000000000 is not in 0…1024"},
		{name: "half an option of a method", set: []string{"classifier.ppca.q=2.5"},
			want: "classifier.ppca.q: 2.5 is not a whole number"},
		{name: "unknown provider", set: []string{"extractor.provider=gpu"}, want: "extractor.provider"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := Sources{Environ: c.environ, Set: c.set}
			if c.file != "" {
				s.File = filepath.Join(t.TempDir(), "c.yaml")
				write(t, s.File, c.file)
			}
			_, err := Load(s)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestMissingFile(t *testing.T) {
	_, err := Load(Sources{File: filepath.Join(t.TempDir(), "none.yaml")})
	if err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("error %v", err)
	}
}

func TestWholeNumbers(t *testing.T) {
	c, err := Load(Sources{Set: []string{"seed=18446744073709551615", "extractor.batch=1e1", "threads=1024"}})
	if err != nil || c.Seed != math.MaxUint64 || c.Extractor.Batch != 10 || c.Threads != 1024 {
		t.Errorf("%v: seed %d, batch %d, threads %d", err, c.Seed, c.Extractor.Batch, c.Threads)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("label: {top_k: 2}", "seed=1", "PIPELINE_LOG=json")
	f.Add("a: &x [*x]", "preprocess.mean=[1,2", "PIPELINE_")
	f.Add("? [1]: 2", "label.format={a: b}", "PIPELINE_SEED=-1")
	f.Fuzz(func(t *testing.T, file, set, environ string) {
		path := filepath.Join(t.TempDir(), "c.yaml")
		write(t, path, file)
		c, err := Load(Sources{File: path, Set: []string{set}, Environ: []string{environ}})
		if err == nil && c.Validate() != nil {
			t.Errorf("loaded settings are invalid: %v", c.Validate())
		}
	})
}

func write(t *testing.T, file, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(file, []byte(text), 0o644))
}
