package vargp_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset/idx"
	gp "github.com/seed-90d10d51/pipeline/gp/vargp"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/experiment/experimenttest"
	"github.com/seed-90d10d51/pipeline/research/experiment/vargp"
	"github.com/seed-90d10d51/pipeline/research/fscil"
)

// small returns settings that run fast.
func small(data string) vargp.Config {
	c := vargp.DefaultConfig()
	c.Data, c.Train, c.Test, c.Seeds, c.Epochs, c.Inducing, c.Grid = data, 20, 10, 2, 10, 6, 8
	c.Rate, c.HyperSamples, c.PredictHypers, c.Variants = 0.1, 1, 2, []gp.Variant{gp.Full}
	return c
}

func env(t *testing.T) experiment.Env { return experimenttest.Env(t, bench(t)) }

// bench returns a session of five classes, with 12 training and 6 test images
// each.
func bench(t *testing.T) *fscil.Bench {
	t.Helper()
	return experimenttest.Bench(t, 5, 6, func(k int) experimenttest.Class {
		return experimenttest.Class{Train: 12, Test: 6,
			Draw: experimenttest.Around(rand.New(rand.NewPCG(1, uint64(k))), 6, 0.3)}
	})
}

// digits writes IDX files of 4×4 images in which class k has a bright row k.
func digits(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for part, n := range map[string]int{idx.Train: 40, idx.Test: 16} {
		images, labels := []byte{0, 0, 8, 3}, []byte{0, 0, 8, 1}
		for _, v := range []int{n, 4, 4} {
			images = binary.BigEndian.AppendUint32(images, uint32(v))
		}
		labels = binary.BigEndian.AppendUint32(labels, uint32(n))
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		for i := range n {
			class := i % 4
			labels = append(labels, byte(class))
			for pixel := range 16 {
				v := rng.IntN(60)
				if pixel/4 == class {
					v += 180
				}
				images = append(images, byte(v))
			}
		}
		for name, b := range map[string][]byte{"-images-idx3-ubyte": images, "-labels-idx1-ubyte": labels} {
			if err := os.WriteFile(filepath.Join(dir, part+name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func run(t *testing.T, c vargp.Config, s experiment.Env) (experiment.Outcome, vargp.Results) {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	o, err := vargp.Run(context.Background(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	return o, o.Results.(vargp.Results)
}

// TestEveryKindOfData: all data run under both protocols and give all tables
// and figures, and the same again from the parts.
func TestEveryKindOfData(t *testing.T) {
	folder := digits(t)
	for data, figures := range map[string]int{vargp.Toy: 4, vargp.Features: 3, vargp.Split: 2, vargp.Permuted: 2} {
		for _, protocol := range []string{vargp.Own, vargp.Paper} {
			c := small(data)
			c.Folder, c.Protocol = folder, protocol
			if data == vargp.Permuted {
				c.Classes = 4
			}
			if data == vargp.Toy {
				c.Train, c.Test = 60, 50 // its clouds touch
			}
			if data == vargp.Features {
				c.Sweep = []int{3, 6}
			}
			s := env(t)
			o, r := run(t, c, s)
			if want := 2 * len(append([]int{1}, c.Sweep[:len(c.Sweep)/2]...)); len(r.Runs) != want ||
				len(o.Figures) != figures {
				t.Errorf("%s, %s: %d runs, want %d, %d figures, want %d", data, protocol, len(r.Runs), want,
					len(o.Figures), figures)
			}
			for _, x := range r.Runs {
				first, last := x.Accuracy[0], x.Accuracy[1]
				if first[0] < 0.7 || last[1] < 0.5 || len(first) != 2 || len(x.Entropy) != 2 {
					t.Errorf("%s, %s, run %d: accuracies %v, entropies %v", data, protocol, x.Run, x.Accuracy,
						x.Entropy)
				}
				if data != vargp.Permuted && protocol == vargp.Own && first[1] != 0 {
					t.Errorf("%s: classes to come are right in %g", data, first[1])
				}
			}
			if err := o.Write(t.TempDir(), nil); err != nil {
				t.Error(err)
			}
			if _, again := run(t, c, s); !reflect.DeepEqual(again, r) {
				t.Errorf("%s, %s: from its parts the results differ", data, protocol)
			}
			for method, want := range published[data] {
				at := slices.IndexFunc(o.Tables[0].Rows, func(row []string) bool { return row[0] == method })
				if at < 0 || o.Tables[0].Rows[at][5] != want {
					t.Errorf("%s: the paper has %s for %s; the table is %q", data, want, method, o.Tables[0].Rows)
				}
			}
			if rows := o.Tables[0].Rows; len(published[data]) == 0 && len(rows) != len(c.Variants) {
				t.Errorf("%s, which the paper does not have: %q", data, rows)
			}
		}
	}
}

// published holds rows of the paper's Table 1: of a variant that small runs, of one that it
// does not, and of other methods.
var published = map[string]map[string]string{
	vargp.Split: {"var-gp": "90.57 ± 1.06", "block-diagonal (paper)": "78.64 ± 1.41", "SI (paper)": "98.9*",
		"VCL [100] + CS(100) (paper)": "81.90 ± 1.64"},
	vargp.Permuted: {"var-gp": "97.20 ± 0.08", "global (paper)": "46.02 ± 1.09", "EWC (paper)": "84.11",
		"VCL [100, 100] + CS(50) (paper)": "95.43 ± 0.39"},
}

// TestAllVariants: all variants run on the toy, and each gives the same result
// whatever others are run.
func TestAllVariants(t *testing.T) {
	c := small(vargp.Toy)
	c.Variants, c.Seeds = gp.Variants(), 1
	o, all := run(t, c, env(t))
	if len(all.Runs) != len(c.Variants) || len(o.Findings) != len(c.Variants) {
		t.Errorf("%d runs, findings %q", len(all.Runs), o.Findings)
	}
	c.Variants = []gp.Variant{gp.Global}
	if _, one := run(t, c, env(t)); !reflect.DeepEqual(one.Runs[0].Accuracy, all.Runs[3].Accuracy) {
		t.Error("alone, a variant finds something else")
	}
}

// TestGoesOn: an interrupted run resumes at its task and epoch.
func TestGoesOn(t *testing.T) {
	c := small(vargp.Toy)
	c.Seeds, c.Epochs, c.Checkpoint, c.Patience = 1, 60, 7, 60
	for stop, files := range map[string][]string{
		"finished": {"var-gp_m6_run1_task1.safetensors"},
		"training": {"var-gp_m6_run1_task1.draft.safetensors"}, // told of epoch 50
	} {
		s := env(t)
		ctx, cancel := context.WithCancel(context.Background())
		s.Note = func(message string, _ ...any) {
			if message == stop {
				cancel()
			}
		}
		if _, err := vargp.Run(ctx, c, s); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		there, err := filepath.Glob(filepath.Join(s.Dir, "parts", "*"))
		if err != nil || len(there) != 1 || filepath.Base(there[0]) != files[0] {
			t.Errorf("stopped at %s there is %q, %v", stop, there, err)
		}
		s.Note = nil
		_, r := run(t, c, s)
		if _, whole := run(t, c, env(t)); !reflect.DeepEqual(r, whole) {
			t.Errorf("stopped at %s, the results differ", stop)
		}
		if drafts, err := filepath.Glob(filepath.Join(s.Dir, "parts", "*.draft.safetensors")); err != nil ||
			len(drafts) > 0 {
			t.Errorf("left %q, %v", drafts, err)
		}
	}
}

// TestSearch: the best of the drawn combinations is used, test images decide nothing,
// and the search resumes.
func TestSearch(t *testing.T) {
	c := small(vargp.Toy)
	c.Seeds, c.Validation, c.Test = 1, 0.5, 10
	c.Search = vargp.Search{Draws: 4, Rate: []float64{0.001, 0.2}, Inducing: []int{2, 8}, Beta: []float64{1, 5}}
	s := env(t)
	o, r := run(t, c, s)
	if len(r.Search) != 4 {
		t.Fatalf("tried %+v", r.Search)
	}
	best, worst := r.Search[0], r.Search[0]
	for _, x := range r.Search {
		if x.Rate < 0.001 || x.Rate > 0.2 || x.Inducing < 2 || x.Inducing > 8 || x.Beta < 1 || x.Beta > 5 {
			t.Errorf("%+v is out of range", x)
		}
		if x.Accuracy > best.Accuracy {
			best = x
		}
		if x.Accuracy < worst.Accuracy {
			worst = x
		}
	}
	if best.Accuracy == worst.Accuracy || r.Runs[0].Inducing != best.Inducing {
		t.Errorf("M = %d after %+v", r.Runs[0].Inducing, r.Search)
	}
	if rows := o.Tables[1].Rows; o.Tables[1].Name != "search" || len(rows) != 4 ||
		rows[0][1] != strconv.Itoa(best.Inducing) {
		t.Errorf("table %+v", o.Tables[1])
	}
	if _, again := run(t, c, s); !reflect.DeepEqual(again, r) {
		t.Error("from its parts the results differ")
	}
	by := c
	by.Search.Draws, by.Rate, by.Inducing, by.Beta = 0, best.Rate, best.Inducing, best.Beta
	if _, alone := run(t, by, env(t)); !reflect.DeepEqual(alone.Runs, r.Runs) {
		t.Error("the runs are not those with the best combination")
	}
	c.Test = 3
	if _, other := run(t, c, env(t)); !reflect.DeepEqual(other.Search, r.Search) {
		t.Errorf("with other test images the search finds %+v, not %+v", other.Search, r.Search)
	}
}

func TestMistakesAreExplained(t *testing.T) {
	for want, change := range map[string]func(*vargp.Config, *experiment.Env){
		"--features":              func(c *vargp.Config, s *experiment.Env) { c.Data, s.Features = vargp.Features, "" },
		"5 classes in the first":  func(c *vargp.Config, _ *experiment.Env) { c.Data, c.Tasks = vargp.Features, 3 },
		"experiment.vargp.folder": func(c *vargp.Config, _ *experiment.Env) { c.Data = vargp.Split },
		"train-images-idx3-ubyte": func(c *vargp.Config, _ *experiment.Env) {
			c.Data, c.Folder = vargp.Split, "nowhere"
		},
		"6 classes are needed": func(c *vargp.Config, _ *experiment.Env) {
			c.Data, c.Folder, c.Tasks = vargp.Split, digits(t), 3
		},
	} {
		c, s := small(vargp.Toy), env(t)
		change(&c, &s)
		var input *experiment.InputError
		if _, err := vargp.Run(context.Background(), c, s); !errors.As(err, &input) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for field, change := range map[string]func(*vargp.Config){
		"data":            func(c *vargp.Config) { c.Data = "mnist" },
		"protocol":        func(c *vargp.Config) { c.Protocol = "" },
		"tasks":           func(c *vargp.Config) { c.Tasks = 0 },
		"classes":         func(c *vargp.Config) { c.Classes = 9 },
		"validation":      func(c *vargp.Config) { c.Validation = 1 },
		"lengthscale":     func(c *vargp.Config) { c.Lengthscale = -1 },
		"variants":        func(c *vargp.Config) { c.Variants = nil },
		"sweep":           func(c *vargp.Config) { c.Sweep = []int{3, 3} },
		"rate":            func(c *vargp.Config) { c.Rate = 0 },
		"search.draws":    func(c *vargp.Config) { c.Search.Draws = -1 },
		"search.rate":     func(c *vargp.Config) { c.Search.Rate = []float64{0.1} },
		"search.inducing": func(c *vargp.Config) { c.Search.Inducing = []int{5, 4} },
		"search.beta":     func(c *vargp.Config) { c.Search.Beta = []float64{0, 1} },
		"search":          func(c *vargp.Config) { c.Search.Draws, c.Validation = 1, 0 },
	} {
		c := vargp.DefaultConfig()
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), field+":") {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, v := range [][]gp.Variant{{"x"}, {gp.Full, gp.Full}} {
		c := vargp.DefaultConfig()
		if c.Variants = v; c.Validate() == nil {
			t.Errorf("variants %v were accepted", v)
		}
	}
}
