package method_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
)

// words holds values, other than the default, of settings that are names.
var words = map[string][]any{
	"gpr.kernel": {"linear"}, "gpr.update": {"direct", "iterative"}, "gpr.over_cap": {"herd", "first"},
	"ncm.metric": {"euclidean"}, "ppca.preset": {"paper"},
	"gptree.tree": {"random-balanced"}, "gptree.kernel": {"linear"}, "gptree.base": {"gibbs"}, "gptree.mean": {"plda+"},
	"gptree.start":      {"prior"},
	"gptree.prediction": {"plug-in"}, "gptree.growth": {"session-tree", "rebuild-tree"},
	"vargp.variant": {"block-diagonal", "global"}, "lsm.kernel": {"linear"}, "ove.kernel": {"linear"},
	"hppca.preset": {"paper"}, "hppca.cluster": {"raw"}, "hppca.seed_distance": {"mean"},
	"ppca_online.policy": {"none", "class"}, "ppca_online.fisher": {"paper"},
	"ppca_online.rstep": {"fisher", "identity"},
}

// quick shortens the methods that iterate.
var quick = map[string][]any{
	"vargp":  {"vargp.steps", 20, "vargp.epochs", 8, "vargp.network", []int{4}},
	"lsm":    {"lsm.chains", 2, "lsm.steps", 2, "lsm.draws", 2},
	"ove":    {"ove.chains", 2, "ove.steps", 2, "ove.draws", 2},
	"gptree": {"gptree.chains", 2, "gptree.mean", "zero"}, // the mean alone may decide
	"hppca":  {"hppca.s", 4, "hppca.t", 1},
}

// needs holds settings that are required for a setting to have an effect.
var needs = map[string][]any{
	"gpr.over_cap":            {"gpr.max_per_class", 5},
	"gptree.root_lengthscale": {"gptree.root_bias", 0.5},
	"hppca.max_iter":          {"hppca.s", 5, "hppca.normalize", false},
	"hppca.seed_distance":     {"hppca.s", 3, "hppca.max_iter", 1},
	"hppca.levels":            {"hppca.s", 4, "hppca.t", 1},
	"plda_plus.q":             {"plda_plus.nu", 3},
	"hppca.gap":               {"hppca.t", 4},
	"plda_plus.splits":        {"plda_plus.nu", 0},
	"ppca_eb.splits":          {"ppca_eb.nu", 0, "ppca_eb.calibrate", true},
	"ppca_eb.calibrate":       {"ppca_eb.nu", 0},
	"ppca_online.fisher":      {"ppca_online.beta", 0.001},
	"vargp.patience": {"vargp.steps", 0, "vargp.epochs", 150, "vargp.rate", 0.2, "vargp.validation", 0.4,
		"vargp.network", []int{}},
	"vargp.validation":   {"vargp.steps", 0, "vargp.epochs", 10},
	"vargp.max_inducing": {"vargp.inducing", 8},
}

// drawing says how many classes are drawn, how much they overlap, and which of
// all examples like that are drawn.
type drawing struct {
	classes int
	noise   float64
	number  uint64
}

// plain is used for most settings; others show only with more classes, or with
// classes that are often confused.
var (
	plain = drawing{8, 0.3, 0}
	// of all settings of a method that takes long with many classes
	few     = map[string]drawing{"ove": {3, 0.3, 0}}
	special = map[string]drawing{
		"hppca.cluster": {8, 2, 0}, "hppca.max_iter": {60, 1, 0}, "hppca.seed_distance": {8, 2, 0},
		"ppca_eb.calibrate": {8, 2, 0}, "plda_plus.calibrate": {30, 1.5, 0}, "vargp.patience": {4, 1, 0},
		"plda.leave_out": {2, 0.3, 0},
	}
)

// alternatives returns other values of a setting.
func alternatives(key string, value any) []any {
	switch v := value.(type) {
	case bool:
		return []any{!v}
	case *bool:
		return []any{true, false}
	case int:
		return []any{v + 1, 1, 2 * v, max(v/2, 1), 2, 3, 60}
	case float64:
		return []any{2*v + 0.01, v / 2, v + 0.5, 1e-3}
	case []int:
		return []any{[]int{3}}
	}
	return words[key]
}

// dim is the length of the embeddings.
const dim = 12

// An outcome is all that can be observed of a head after a base session and a
// later one: its predictions, or why it refused.
type outcome struct {
	logProb, novelty []float64
	refused          string
}

// tried returns what is observed of a head, and the head unless it refused.
func tried(c method.Config, name string, d drawing) (outcome, classifier.Learner) {
	head, err := learned(c, name, d)
	if err != nil {
		return outcome{refused: err.Error()}, nil
	}
	queries := asked(d)
	logProb, novelty := dense.New(queries.Rows, len(head.Classes())), make([]float64, queries.Rows)
	if err := head.Score(logProb, novelty, queries); err != nil {
		return outcome{refused: err.Error()}, nil
	}
	return outcome{logProb: logProb.Data, novelty: novelty}, head
}

// asked returns the rows that are scored.
func asked(d drawing) blas32.General { return drawn(8, 40, 0, d) }

func learned(c method.Config, name string, d drawing) (classifier.Learner, error) {
	head, err := method.New(name, c)
	if err != nil {
		return nil, err
	}
	x, y := grouped(d, 12)
	later := []string{"later", "later", "later"}
	for _, s := range []struct {
		x blas32.General
		y []string
	}{{x, y}, {drawn(7, 3, 90, d), later}, {drawn(9, 3, 91, d), []string{"last", "last", "last"}}} {
		if err := head.Learn(context.Background(), s.x, s.y); err != nil {
			return nil, err
		}
	}
	return head, nil
}

// grouped returns overlapping classes that form groups.
func grouped(d drawing, n int) (blas32.General, []string) {
	x := dense.New32(0, dim)
	var y []string
	for k := range d.classes {
		x.Data = append(x.Data, drawn(uint64(k), n, k/2, d).Data...)
		y = append(y, slices.Repeat([]string{fmt.Sprint("class ", k)}, n)...)
	}
	x.Rows = len(y)
	return x, y
}

// drawn returns n examples around a centre that depends on the group.
func drawn(seed uint64, n, group int, d drawing) blas32.General {
	centre, rng := rand.New(rand.NewPCG(uint64(group), 1)), rand.New(rand.NewPCG(seed, 2+d.number))
	x, mean := dense.New32(n, dim), make([]float64, dim)
	for j := range mean {
		mean[j] = 1 + centre.NormFloat64()
	}
	for i := range x.Data {
		x.Data[i] = float32(mean[i%dim] + d.noise*(1+float64(i%dim)/3)*rng.NormFloat64() + 0.2*float64(seed%3))
	}
	return x
}

// TestEverySettingHasAnEffect changes each setting of each method and checks
// that the predictions change or the setting is refused. What is exported has the same ones.
func TestEverySettingHasAnEffect(t *testing.T) {
	if testing.Short() {
		t.Skip("trains some hundred heads")
	}
	seen, unchanged := map[string]bool{}, map[string]outcome{}
	for _, m := range method.Methods() {
		section := must.Get(classifier.Section(m.Default()))(t)
		for _, name := range slices.Sorted(maps.Keys(section)) {
			key := m.Key + "." + name
			if seen[key] {
				continue
			}
			seen[key] = true
			t.Run(key, func(t *testing.T) { checkEffect(t, m, key, unchanged) })
		}
	}
}

// checkEffect keeps in unchanged what heads do whose settings are not changed, which most settings of a method share.
func checkEffect(t *testing.T, m classifier.Method, key string, unchanged map[string]outcome) {
	c := configured(append(slices.Clone(quick[m.Key]), needs[key]...)...)
	d, ok := special[key]
	if !ok {
		d, ok = few[m.Key]
	}
	if !ok {
		d = plain
	}
	sections := must.Get(c.Sections())(t)
	_, name, _ := strings.Cut(key, ".")
	values := alternatives(key, sections[m.Key].(map[string]any)[name])
	for d.number = range uint64(5) { // a setting that acts on draws, or only if it gains enough, may not show at once
		c = c.Seeded(d.number)
		of := fmt.Sprint(m.Name, needs[key], d)
		before, ok := unchanged[of]
		if !ok {
			before, _ = tried(c, m.Name, d)
			unchanged[of] = before
		}
		for _, v := range values {
			changed := c
			setting(key, v)(&changed)
			after, head := tried(changed, m.Name, d)
			if reflect.DeepEqual(after, before) {
				continue
			}
			if _, ok := head.(classifier.Exporter); ok {
				classifiertest.CheckExport(t, head, asked(d))
			}
			return
		}
	}
	t.Errorf("none of %v changes anything", values)
}

// TestTheSeedReachesEveryMethodThatDraws checks that another seed gives another
// head, for all methods that draw random numbers.
func TestTheSeedReachesEveryMethodThatDraws(t *testing.T) {
	draws := map[string]bool{
		"gptree": true, "gptree-random": true, "sbm": true, "lsm": true, "ove": true, "vargp": true, "hppca": true,
		"ppca-online": true,
		"plda+":       true, "ppca-eb": true,
	}
	for _, m := range method.Methods() {
		checkSeed(t, m, quick[m.Key], draws[m.Name])
	}
	// Settings that decide whether a method draws.
	for name, of := range map[string]struct {
		values []any
		draws  bool
	}{
		"plda": {[]any{"plda.epsilon", 0}, true}, "ppca": {[]any{"ppca.lambda", 0}, true},
		"plda+":   {[]any{"plda_plus.nu", 100, "plda_plus.calibrate", false}, false},
		"ppca-eb": {[]any{"ppca_eb.nu", 100}, false},
	} {
		m := must.Get(method.Find(name))(t)
		checkSeed(t, m, of.values, of.draws)
	}
}

// checkSeed compares heads that differ in their seed alone. Of a method that
// draws pseudo-sessions, not every draw leads to another choice.
func checkSeed(t *testing.T, m classifier.Method, values []any, draws bool) {
	t.Helper()
	c, d := configured(values...), drawing{10, 2, 0}
	if less, ok := few[m.Key]; ok {
		d.classes = less.classes
	}
	one, _ := tried(c.Seeded(1), m.Name, d)
	if again, _ := tried(c.Seeded(1), m.Name, d); !reflect.DeepEqual(one, again) {
		t.Errorf("%s %v: one seed, two heads", m.Name, values)
	}
	changes := false
	for seed := uint64(2); seed < 7 && !changes; seed++ {
		other, _ := tried(c.Seeded(seed), m.Name, d)
		changes = !reflect.DeepEqual(one, other)
	}
	if changes != draws {
		t.Errorf("%s %v: another seed changes something: %v", m.Name, values, changes)
	}
	if random := m.Random(c.Settings(m)); random != draws {
		t.Errorf("%s %v: Random says %v", m.Name, values, random)
	}
}
