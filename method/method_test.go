package method_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
)

var (
	examples = blas32.General{Rows: 6, Cols: 3, Stride: 3,
		Data: []float32{1, 0, 0, 1, .1, 0, 0, 1, 0, .1, 1, 0, 0, 0, 1, 0, .1, 1}}
	labels = []string{"x", "x", "y", "y", "z", "z"}
)

func TestEveryMethodGoesRoundTrip(t *testing.T) {
	for _, m := range method.Methods() {
		head := must.Get(method.New(m.Name, method.DefaultConfig()))(t)
		must.Do(t, head.Learn(context.Background(), examples, labels))
		if _, ok := head.(classifier.StatisticsKeeper); ok != m.Statistics {
			t.Errorf("%s: Statistics is %v", m.Name, m.Statistics)
		}
		if _, ok := head.(classifier.Cloner); !ok {
			t.Errorf("%s: its heads cannot be cloned", m.Name)
		}
		s := must.Get(head.(classifier.Saver).Save())(t)
		back, err := method.Load(m.Name, s)
		if err != nil || !slices.Equal(back.Classes(), head.Classes()) {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}

func TestMethodsAreSortedAndDescribed(t *testing.T) {
	methods := method.Methods()
	if !slices.IsSortedFunc(methods, func(a, b classifier.Method) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not sorted")
	}
	page := must.Get(os.ReadFile(filepath.Join("..", "docs", "methods.md")))(t)
	for _, m := range methods {
		if !strings.Contains(string(page), "`"+m.Name+"`") {
			t.Errorf("docs/methods.md does not name %s", m.Name)
		}
		if m.Summary == "" || m.Novelty == "" || m.Extend == "" || m.Forget == "" {
			t.Errorf("%s is not described", m.Name)
		}
	}
}

func TestUnknownMethodNamesTheNearest(t *testing.T) {
	_, err := method.New("pcca", method.DefaultConfig())
	if err == nil || !strings.Contains(err.Error(), `did you mean "ppca"`) ||
		!strings.Contains(err.Error(), "lda, lsm, ncm, ove, plda, plda+, ppca, ppca-eb") {
		t.Error(err)
	}
	if _, err := method.Load("", classifier.State{}); err == nil {
		t.Error("the empty name was accepted")
	}
}

func TestErrorsNameTheKey(t *testing.T) {
	for key, change := range map[string]func(*method.Config){
		"gpr.kernel": setting("gpr.kernel", "cubic"), "gpr.over_cap": setting("gpr.over_cap", "some"),
		"ncm.metric": setting("ncm.metric", "manhattan"), "ncm.temperature": setting("ncm.temperature", -1),
		"ppca.q": setting("ppca.q", -1), "ppca.lambda": setting("ppca.lambda", -1),
		"plda_plus.epsilon": setting("plda_plus.epsilon", 0), "ppca_eb.nu": setting("ppca_eb.nu", -1),
		"plda_plus.splits": setting("plda_plus.splits", 0),
		"ppca.preset":      setting("ppca.preset", "fast"), "plda.epsilon": setting("plda.epsilon", 1.5),
		"ppca_online.q": setting("ppca_online.q", -1), "ppca_online.policy": setting("ppca_online.policy", "x"),
	} {
		c := method.DefaultConfig()
		must.Do(t, c.Validate())
		change(&c)
		section, _, _ := strings.Cut(key, ".")
		methods := method.Methods()
		m := methods[slices.IndexFunc(methods, func(m classifier.Method) bool { return m.Key == section })]
		_, err := method.New(m.Name, c)
		for _, err := range []error{err, c.Validate()} {
			if err == nil || !strings.HasPrefix(err.Error(), key+":") {
				t.Errorf("%s: %v", key, err)
			}
		}
	}
}

// TestConfigGoesThroughMaps: settings come from maps of keys; a switch that is
// not set stays unset.
func TestConfigGoesThroughMaps(t *testing.T) {
	tree := must.Get(method.DefaultConfig().Sections())(t)
	back, err := method.DefaultConfig().Decode(tree)
	if err != nil || !reflect.DeepEqual(back, method.DefaultConfig()) {
		t.Errorf("%+v, %v", back, err)
	}
	change := map[string]any{"ppca": map[string]any{"preset": "paper", "logdet": true}}
	changed := must.Get(back.Decode(change))(t)
	if r := method.Get[ppca.Config](changed, "ppca").Resolve(); !*r.LogDet || *r.Normalize || r.Q != 20 {
		t.Errorf("preset paper with logdet: %+v", r)
	}
	if !reflect.DeepEqual(back, method.DefaultConfig()) {
		t.Error("a change of a copy changed the original")
	}
	for _, mistake := range []map[string]any{{"pcca": map[string]any{}}, {"ppca": 3},
		{"ppca": map[string]any{"metric": "cosine"}}, {"ppca": map[string]any{"q": "many"}}} {
		if _, err := back.Decode(mistake); err == nil {
			t.Errorf("%v was accepted", mistake)
		}
	}
	text, err := json.Marshal(back.Seeded(7))
	var written map[string]map[string]any
	if err == nil {
		err = json.Unmarshal(text, &written)
	}
	if err != nil || written["run"]["seed"] != 7.0 || len(written) != len(tree)+1 || written["ppca"]["q"] != 20.0 {
		t.Errorf("%s, %v", text, err)
	}
}

// A namedHead is a head with the name of its method.
type namedHead struct {
	m string
	classifier.Learner
}

// fuzzed returns learned heads: every method with its defaults, and with its
// settings chosen on the base session.
func fuzzed(f *testing.F) []namedHead {
	f.Helper()
	var all []namedHead
	for _, c := range []method.Config{method.DefaultConfig(), auto()} {
		for _, m := range method.Methods() {
			head := must.Get(method.New(m.Name, c))(f)
			must.Do(f, head.Learn(context.Background(), examples, labels))
			all = append(all, namedHead{m.Name, head})
		}
	}
	return all
}

// FuzzLoad loads arbitrary settings with a few altered array values: nothing
// panics, and whatever loads can score.
func FuzzLoad(f *testing.F) {
	for _, head := range fuzzed(f) {
		s := must.Get(head.Learner.(classifier.Saver).Save())(f)
		if k, ok := head.Learner.(classifier.StatisticsKeeper); ok {
			statistics := must.Get(k.Statistics())(f)
			maps.Copy(s.Tensors, statistics.Tensors)
		}
		tensors := must.Get(json.Marshal(s.Tensors))(f)
		f.Add(head.m, s.Settings, tensors)
	}
	f.Fuzz(func(t *testing.T, name string, settings, tensors []byte) {
		s := classifier.State{Settings: settings}
		if json.Unmarshal(tensors, &s.Tensors) != nil {
			return
		}
		head, err := method.Load(name, s)
		if err != nil || head.Dim() > 100 {
			return
		}
		if k, ok := head.(classifier.StatisticsKeeper); ok {
			_ = k.RestoreStatistics(s)
		}
		x := blas32.General{Rows: 2, Cols: head.Dim(), Stride: max(head.Dim(), 1), Data: make([]float32, 2*head.Dim())}
		_, _ = classifier.Predict(head, x, 3)
	})
}
