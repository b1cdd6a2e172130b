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
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/experiment/experimenttest"
	"github.com/seed-90d10d51/pipeline/research/experiment/vargp"
	"github.com/seed-90d10d51/pipeline/research/fscil"
	"github.com/seed-90d10d51/pipeline/research/grid"
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
	for part, n := range map[string]int{idx.Train: 240, idx.Test: 16} {
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
			must.Do(t, os.WriteFile(filepath.Join(dir, part+name), b, 0o644))
		}
	}
	return dir
}

// TestEveryKindOfData: all data run under both protocols and give all tables
// and figures, and the same again from the parts.
func TestEveryKindOfData(t *testing.T) {
	folder := digits(t)
	for data, figures := range map[string]int{vargp.Toy: 4, vargp.Features: 3, vargp.Split: 2, vargp.Permuted: 2} {
		for _, protocol := range []string{vargp.Own, vargp.Paper} {
			c := small(data)
			c.Folder, c.Protocol = folder, protocol
			if protocol == vargp.Paper {
				c.Epochs, c.Train, c.Rate, c.HyperSamples = 100, 60, 0.02, 3 // it starts at 0.5, far from these data
			}
			if data == vargp.Permuted {
				c.Classes = 4
			}
			if data == vargp.Toy {
				c.Train, c.Test = 60, 50 // its clouds touch
			}
			if data == vargp.Features {
				c.Sweep = []int{3, 6}
			}
			o, cells := experimenttest.Run(t, c, env(t))
			if want := len(append([]int{1}, c.Sweep[:len(c.Sweep)/2]...)); len(cells.Axis("M")) != want ||
				len(o.Figures) != figures {
				t.Errorf("%s, %s: M %v, %d figures, want %d", data, protocol, cells.Axis("M"), len(o.Figures), figures)
			}
			for _, m := range cells.Axis("M") {
				accuracy := func(task, tested int) []float64 {
					return cells.Values(grid.At("M", m, "task", task, "tested", tested), "accuracy")
				}
				if first, last := accuracy(1, 1), accuracy(2, 2); slices.Min(first) < 0.7 || slices.Min(last) < 0.5 ||
					len(first) != 2 {
					t.Errorf("%s, %s, M = %s: accuracies %v, then %v", data, protocol, m, first, last)
				}
				if next := accuracy(1, 2); data != vargp.Permuted && protocol == vargp.Own && slices.Max(next) != 0 {
					t.Errorf("%s: classes to come are right in %v", data, next)
				}
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
	o, all := experimenttest.Run(t, c, env(t))
	if len(all.Axis("variant")) != len(c.Variants) || len(o.Tables[0].Rows) != len(c.Variants) {
		t.Errorf("variants %v", all.Axis("variant"))
	}
	c.Variants = []gp.Variant{gp.Global}
	if _, one := experimenttest.Run(t, c, env(t)); !reflect.DeepEqual(one, all.Where(grid.At("variant", gp.Global))) {
		t.Error("alone, a variant finds something else")
	}
}

// TestNetworks: the networks are variants like the others, on all data; those with a
// penalty choose its strength without test images.
func TestNetworks(t *testing.T) {
	rivals := []gp.Variant{"vcl", "vcl-coreset", "ewc", "si"}
	folder := digits(t)
	for _, data := range []string{vargp.Toy, vargp.Features, vargp.Split, vargp.Permuted} {
		c := small(data)
		c.Folder, c.Seeds, c.Train, c.Validation = folder, 1, 40, 0.25
		c.Variants = append([]gp.Variant{gp.Full}, rivals...)
		c.Networks = vargp.Networks{Hidden: []int{20}, Epochs: 60, Batch: 20, Rate: 0.02, Coreset: 8,
			EWC: []float64{1, 100}, SI: []float64{0.1, 10}}
		if data == vargp.Permuted {
			c.Classes = 4
		}
		o, cells := experimenttest.Run(t, c, env(t))
		for _, v := range rivals {
			at := func(task, tested int) float64 {
				return cells.Values(grid.At("variant", v, "task", task, "tested", tested), "accuracy")[0]
			}
			// A posterior over weights does not move for the few examples of the second task of features.
			still := data == vargp.Features && strings.HasPrefix(string(v), "vcl")
			if at(1, 1) < 0.7 || at(2, 2) < 0.7 && !still {
				t.Errorf("%s, %s: %g of the first task, %g of the second", data, v, at(1, 1), at(2, 2))
			}
			if data != vargp.Permuted && at(1, 2) != 0 {
				t.Errorf("%s, %s: classes to come are right in %g", data, v, at(1, 2))
			}
		}
		if want := len(c.Variants); data == vargp.Toy && len(o.Figures) != 2+want+1 { // inducing inputs of one alone
			t.Errorf("%d figures", len(o.Figures))
		}
		c.Variants, c.Test = rivals[2:], 5
		if _, one := experimenttest.Run(t, c, env(t)); data == vargp.Split && len(one.Axis("variant")) != 2 {
			t.Errorf("variants %v", one.Axis("variant"))
		}
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
		if _, err := c.Run(ctx, s); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		there, err := filepath.Glob(filepath.Join(s.Dir, "parts", "*"))
		if err != nil || len(there) != 1 || filepath.Base(there[0]) != files[0] {
			t.Errorf("stopped at %s there is %q, %v", stop, there, err)
		}
		s.Note = nil
		_, r := experimenttest.Run(t, c, s)
		if _, whole := experimenttest.Run(t, c, env(t)); !reflect.DeepEqual(r, whole) {
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
	o, cells := experimenttest.Run(t, c, env(t))
	drawn := search(cells)
	if len(drawn) != 4 {
		t.Fatalf("tried %+v", drawn)
	}
	best, worst := drawn[0], drawn[0]
	for _, x := range drawn {
		if x["rate"] < 0.001 || x["rate"] > 0.2 || x["M"] < 2 || x["M"] > 8 || x["β"] < 1 || x["β"] > 5 {
			t.Errorf("%v is out of range", x)
		}
		if x["held_out_accuracy"] > best["held_out_accuracy"] {
			best = x
		}
		if x["held_out_accuracy"] < worst["held_out_accuracy"] {
			worst = x
		}
	}
	runs := cells[:len(cells)-4]
	if m := int(best["M"]); best["held_out_accuracy"] == worst["held_out_accuracy"] ||
		!slices.Equal(runs.Axis("M"), []string{strconv.Itoa(m)}) {
		t.Errorf("M = %v after %v", runs.Axis("M"), drawn)
	}
	if rows := o.Tables[1].Rows; o.Tables[1].Name != "search" || len(rows) != 4 ||
		rows[0][2] != strconv.Itoa(int(best["M"])) {
		t.Errorf("table %+v", o.Tables[1])
	}
	by := c
	by.Search.Draws, by.Rate, by.Inducing, by.Beta = 0, best["rate"], int(best["M"]), best["β"]
	if _, alone := experimenttest.Run(t, by, env(t)); !reflect.DeepEqual(alone, runs) {
		t.Error("the runs are not those with the best combination")
	}
	c.Test = 3
	if _, other := experimenttest.Run(t, c, env(t)); !reflect.DeepEqual(search(other), drawn) {
		t.Errorf("with other test images the search finds %v, not %v", search(other), drawn)
	}
}

// search returns what a search tried.
func search(cells grid.Grid) []map[string]float64 {
	var all []map[string]float64
	for _, c := range cells {
		if c.At["search"] != "" {
			one := map[string]float64{}
			for name, v := range c.Values {
				one[name] = v[0]
			}
			all = append(all, one)
		}
	}
	return all
}

func TestMistakesAreExplained(t *testing.T) {
	experimenttest.Explains(t, func() vargp.Config { return small(vargp.Toy) }, func() experiment.Env { return env(t) },
		map[string]func(*vargp.Config, *experiment.Env){
			"--features": func(c *vargp.Config, s *experiment.Env) {
				c.Data, s.Features = vargp.Features, ""
			},
			"5 classes in the first":  func(c *vargp.Config, _ *experiment.Env) { c.Data, c.Tasks = vargp.Features, 3 },
			"experiment.vargp.folder": func(c *vargp.Config, _ *experiment.Env) { c.Data = vargp.Split },
			"train-images-idx3-ubyte": func(c *vargp.Config, _ *experiment.Env) {
				c.Data, c.Folder = vargp.Split, "nowhere"
			},
			"6 classes are needed": func(c *vargp.Config, _ *experiment.Env) {
				c.Data, c.Folder, c.Tasks = vargp.Split, digits(t), 3
			},
		})
	experimenttest.Names(t, vargp.DefaultConfig, map[string]func(*vargp.Config){
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
		"networks.hidden": func(c *vargp.Config) { c.Networks.Hidden = []int{0} },
		"networks.epochs": func(c *vargp.Config) { c.Networks.Epochs = 0 },
		"networks.rate":   func(c *vargp.Config) { c.Networks.Rate = 0 },
		"networks.si":     func(c *vargp.Config) { c.Networks.SI = nil },
		"networks.ewc": func(c *vargp.Config) {
			c.Variants, c.Validation = []gp.Variant{"ewc"}, 0
		},
	})
	swept := vargp.DefaultConfig()
	if swept.Variants, swept.Sweep = []gp.Variant{"vcl"}, []int{5}; swept.Validate() == nil {
		t.Error("a network was accepted as the first of a sweep")
	}
	for _, v := range [][]gp.Variant{{"x"}, {gp.Full, gp.Full}} {
		c := vargp.DefaultConfig()
		if c.Variants = v; c.Validate() == nil {
			t.Errorf("variants %v were accepted", v)
		}
	}
}
