package model

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/model/classstats"
	"github.com/seed-90d10d51/pipeline/model/prior"
)

// priorOf returns a prior of a batch.
func priorOf(t *testing.T, b Batch, from embedding.Provenance) *prior.Prior {
	t.Helper()
	s := classstats.New(b.X.Cols, true)
	s.Provenance = from
	for i, class := range b.Labels {
		must.Get(s.Add(SampleID{Content: b.Content[i], Class: class}, b.only([]int{i}).X.Data))(t)
	}
	p := &prior.Prior{}
	must.Do(t, p.Add(t.Context(), linalg.Backend{}, s, nil))
	return p
}

// The model has its prior: it is loaded with it, goes on with it, and forgets as if
// it had never seen what it forgets.
func TestForgettingWithAPrior(t *testing.T) {
	for name, base := range map[string]int{"one image": 1, "few images": 4} {
		t.Run(name, func(t *testing.T) {
			s := settings("plda")
			s.Prior = priorOf(t, noisy(9, 40, "dab", "fig", "zebu"), s.Provenance)
			p := past{noisy(0, base, "ant", "bee", "cat", "dog"), noisy(1, 3, "elk", "bee")}
			path := p.learned(t, s)
			m := mustLoad(t, path)
			head := m.Predictor.Head.(gauss.PriorUser)
			if m.Prior == nil || m.Prior.Samples() != 120 || head.PriorWeight() == 0 {
				t.Fatalf("prior %+v", m.Prior)
			}
			without := s
			without.Prior = nil
			if apart(t, m, mustLoad(t, p.learned(t, without)), p[0]) < 1e-3 {
				t.Error("the prior changes nothing")
			}
			for _, f := range forgettables() {
				if base > 1 || f.class != "" && f.class != "elk" {
					checkNeverSeen(t, f, s, p, path, Forgetting{Rows: p.rows})
				}
			}
			again, _ := must.Get2(m.Retrained(t.Context(), p[0]))(t)
			if again = mustLoad(t, savedAs(t, again)); again.Prior == nil ||
				apart(t, again, mustLoad(t, past{p[0]}.learned(t, s)), p[0]) != 0 {
				t.Error("trained again, it is another model")
			}
		})
	}
}

// No image may be in the prior and in the model.
func TestPriorNeverContainsTheSet(t *testing.T) {
	s := settings("plda")
	base, later := noisy(0, 3, "ant", "bee"), noisy(1, 3, "cat")
	s.Prior = priorOf(t, past{noisy(9, 5, "yak", "zebu"), later}.joined(), s.Provenance)
	m, _ := must.Get2(Train(t.Context(), s, base))(t)
	if _, err := m.Learn(t.Context(), later); !errors.Is(err, prior.ErrLearned) ||
		!strings.Contains(err.Error(), "3 of these 3 images") {
		t.Errorf("learn: %v", err)
	}
	stats := classstats.New(later.X.Cols, true)
	for i, h := range later.Content {
		must.Get(stats.Add(SampleID{Content: h, Class: "cat"}, later.only([]int{i}).X.Data))(t)
	}
	if _, err := m.LearnStats(t.Context(), stats); !errors.Is(err, prior.ErrLearned) {
		t.Errorf("learn statistics: %v", err)
	}
	if _, _, err := Train(t.Context(), s, later); !errors.Is(err, prior.ErrLearned) {
		t.Errorf("train: %v", err)
	}
	if len(m.Classes()) != 2 {
		t.Errorf("classes %v", m.Classes())
	}
}

func TestPriorThatDoesNotFit(t *testing.T) {
	s := settings("plda")
	other := s.Provenance
	other.Backbone.SHA256 = strings.Repeat("a", 64)
	s.Provenance.Backbone.SHA256 = strings.Repeat("b", 64)
	s.Prior = priorOf(t, noisy(9, 5, "yak", "zebu"), other)
	if _, err := New(s); !errors.Is(err, embedding.ErrOtherBackbone) {
		t.Errorf("another backbone: %v", err)
	}
	s.Prior = priorOf(t, noisy(9, 5, "yak", "zebu"), s.Provenance)
	for _, name := range []string{"ncm", "lda", "gptree"} {
		unable := s
		unable.Method = name
		if _, err := New(unable); !errors.Is(err, gauss.ErrPrior) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.DKL = &dkl.Training{}
	if _, err := New(s); !errors.Is(err, gauss.ErrPrior) {
		t.Errorf("with a projection: %v", err)
	}
}

func TestModelsAndPriorsAreToldApart(t *testing.T) {
	s := settings("plda")
	p := past{noisy(0, 3, "ant", "bee")}
	path := p.learned(t, s)
	if _, err := prior.Load(path); !errors.Is(err, prior.ErrNotPrior) ||
		!strings.Contains(err.Error(), "it is a model") {
		t.Errorf("a model as a prior: %v", err)
	}
	file := filepath.Join(t.TempDir(), "p.prior")
	must.Do(t, priorOf(t, p[0], s.Provenance).Save(file))
	if _, err := Load(file); !errors.Is(err, ErrNotModel) || !strings.Contains(err.Error(), "it is a prior") {
		t.Errorf("a prior as a model: %v", err)
	}
}
