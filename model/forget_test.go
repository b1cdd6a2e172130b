package model

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model/classstats"
)

// A past is the sessions of a model.
type past []Batch

// history is a past of three sessions; bee, dog and elk have images in two.
func history(base int) past {
	return past{noisy(0, base, "ant", "bee", "cat", "dog"), noisy(1, 3, "elk", "bee"), noisy(2, 3, "fox", "elk", "dog")}
}

// where returns the samples that a condition on session, row and class names,
// by session.
func (p past) where(named func(s, i int, class string) bool) past {
	var some past
	for s, b := range p {
		rows := slices.DeleteFunc(dense.Range(0, len(b.Labels)), func(i int) bool { return !named(s, i, b.Labels[i]) })
		if len(rows) > 0 {
			some = append(some, b.only(rows))
		}
	}
	return some
}

// joined returns all samples in one batch.
func (p past) joined() Batch {
	all := Batch{X: dense.New32(0, p[0].X.Cols)}
	for _, b := range p {
		for i := range b.Labels {
			all.X.Data = append(all.X.Data, dense.Row32(b.X, i)...)
		}
		all.X.Rows += b.X.Rows
		all.Labels, all.Content = append(all.Labels, b.Labels...), append(all.Content, b.Content...)
	}
	return all
}

// rows are the embeddings of a past, for Forgetting.
func (p past) rows(_ context.Context, wanted map[Hash]bool) (map[Hash][]float32, error) {
	found := map[Hash][]float32{}
	for _, b := range p {
		for i, h := range b.Content {
			if wanted[h] {
				found[h] = dense.Row32(b.X, i)
			}
		}
	}
	return found, nil
}

// learned is the path of a model that learned the past, saved.
func (p past) learned(t *testing.T, s Settings) string {
	t.Helper()
	m, _ := must.Get2(Train(context.Background(), s, p[0]))(t)
	for _, b := range p[1:] {
		learn(t, m, b)
	}
	return savedAs(t, m)
}

// files returns the content of a model and of its statistics.
func files(t *testing.T, path string) [][]byte {
	t.Helper()
	all := [][]byte{contents(t, path)}
	if side := mustLoad(t, path).StatisticsPath(); side != "" {
		all = append(all, contents(t, side))
	}
	return all
}

// A forgettable is what the tests forget: a class, or the samples where.
type forgettable struct {
	name, class string
	where       func(s, i int, class string) bool
}

func forgettables() []forgettable {
	all := []forgettable{
		{name: "three base images",
			where: func(s, i int, _ string) bool { return s == 0 && (i == 0 || i == 7 || i == 8) }},
		{name: "later images", where: func(s, i int, _ string) bool { return s == 1 && i == 1 || s == 2 && i == 6 }},
		{name: "the base session", where: func(s, _ int, _ string) bool { return s == 0 }},
	}
	for name, class := range map[string]string{"a base class": "cat", "the first class": "ant",
		"a class of two sessions": "bee", "a later class": "elk"} {
		all = append(all, forgettable{name, class, func(_, _ int, c string) bool { return c == class }})
	}
	return all
}

func (f forgettable) rest(p past) past {
	return p.where(func(s, i int, class string) bool { return !f.where(s, i, class) })
}

func (f forgettable) from(t *testing.T, m *Model, p past, how Forgetting) (Forgotten, error) {
	t.Helper()
	if f.class != "" {
		return m.ForgetClass(context.Background(), f.class, how)
	}
	return m.ForgetSamples(context.Background(), p.where(f.where).joined(), how)
}

// checkNeverSeen forgets from the model at a path and compares it, byte for byte,
// with one that never saw what is forgotten.
func checkNeverSeen(t *testing.T, f forgettable, s Settings, p past, path string, how Forgetting) {
	t.Helper()
	m := mustLoad(t, path)
	got, err := f.from(t, m, p, how)
	if err != nil || got.Way != Relearned || got.Samples+got.Learned != len(p.joined().Labels) {
		t.Fatalf("%s: %+v, %v", f.name, got, err)
	}
	never := f.rest(p).learned(t, s)
	if !slices.EqualFunc(files(t, savedAs(t, m)), files(t, never), bytes.Equal) {
		t.Errorf("%s: the model is not the one that never saw it", f.name)
	}
}

// notForRaces leaves a test out of the race run: it trains many models, one after
// another, and the packages of the heads test the goroutines in each.
func notForRaces(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("trains many models, one after another")
	}
}

// Every method forgets exactly: the files are those of a model that never saw
// what is forgotten, and stay so when learning goes on.
func TestForgettingIsNeverHavingSeen(t *testing.T) {
	notForRaces(t)
	for _, method := range method.Methods() {
		t.Run(method.Name, func(t *testing.T) {
			s, p := settings(method.Name), history(6)
			path := p.learned(t, s)
			for _, f := range forgettables() {
				checkNeverSeen(t, f, s, p, path, Forgetting{})
			}
		})
	}
}

// TestForgettingWithAProjection: only the base session trains the projection,
// which is therefore kept when later samples are forgotten.
func TestForgettingWithAProjection(t *testing.T) {
	notForRaces(t)
	for _, handOver := range []bool{false, true} {
		name := map[bool]string{false: "plda", true: "gptree"}[handOver]
		t.Run(name, func(t *testing.T) {
			s, p, cfg := settings(name), history(6), training()
			cfg.HandOver, s.DKL = handOver, &cfg
			path := p.learned(t, s)
			for _, f := range forgettables() {
				trained := false
				how := Forgetting{}
				how.Env.Train = func(ctx context.Context, tr *dkl.Trainer) error {
					trained = true
					for !tr.Done() {
						if _, err := tr.Epoch(ctx); err != nil {
							return err
						}
					}
					return nil
				}
				checkNeverSeen(t, f, s, p, path, how)
				base := len(f.rest(p)[0].Labels) != len(p[0].Labels)
				if trained != (base || handOver) {
					t.Errorf("%s: trained: %v", f.name, trained)
				}
			}
		})
	}
}

// TestForgettingAndLearningGoOn: what was forgotten can be learned again.
func TestForgettingAndLearningGoOn(t *testing.T) {
	s, p := settings("plda"), history(6)
	f := forgettables()[0]
	m := mustLoad(t, p.learned(t, s))
	must.Get(f.from(t, m, p, Forgetting{}))(t)
	again := p.where(f.where).joined()
	learn(t, m, again)
	if !bytes.Equal(contents(t, savedAs(t, m)), contents(t, append(f.rest(p), again).learned(t, s))) {
		t.Error("learning again is not learning later")
	}
}

// TestForgettingRepeatsTheHistory: sessions of statistics, super-classes that were
// rebuilt, and base sessions that are calibrated on a part of their images.
func TestForgettingRepeatsTheHistory(t *testing.T) {
	notForRaces(t)
	pasts := map[string]past{
		"two large classes": {noisy(0, 24, "ant", "cat"), noisy(1, 3, "elk", "bee"), noisy(2, 22, "fox", "elk", "dog")},
		"small":             history(6),
	}
	for _, name := range []string{"plda", "hppca", "ppca"} {
		for what, p := range pasts {
			learned := func(p past) *Model {
				m, _ := must.Get2(Train(context.Background(), settings(name), p[0]))(t)
				for i, b := range p[1:] {
					switch {
					case name == "hppca":
						must.Do(t, m.Refresh(context.Background()))
					case name == "ppca" && i == 0:
						must.Get(m.LearnStats(context.Background(), statisticsOf(t, name, b)))(t)
						continue
					}
					learn(t, m, b)
				}
				return m
			}
			path := savedAs(t, learned(p))
			for _, f := range forgettables() {
				if f.name == "the base session" {
					continue
				}
				m := mustLoad(t, path)
				if _, err := f.from(t, m, p, Forgetting{Rows: p.rows}); err != nil {
					t.Errorf("%s, %s: %s: %v", name, what, f.name, err)
					continue
				}
				if !slices.EqualFunc(files(t, savedAs(t, m)), files(t, savedAs(t, learned(f.rest(p)))), bytes.Equal) {
					t.Errorf("%s, %s: %s: the model is not the one that never saw it", name, what, f.name)
				}
			}
		}
	}
}

// TestForgettingASessionBeforeARefresh: super-classes that were rebuilt with a
// class cannot be subtracted from; the refresh itself stays in the history.
func TestForgettingASessionBeforeARefresh(t *testing.T) {
	p := past{noisy(0, 24, "ant", "bee", "cat", "dog", "eel"), noisy(1, 5, "elk"), noisy(2, 5, "fox")}
	learned := func(p ...Batch) string {
		m, _, err := Train(context.Background(), settings("hppca"), p[0])
		for i, b := range p[1:] {
			if i == len(p)-2 {
				err = errors.Join(err, m.Refresh(context.Background()))
			}
			learn(t, m, b)
		}
		if err != nil {
			t.Fatal(err)
		}
		return savedAs(t, m)
	}
	path := learned(p...)
	m := mustLoad(t, path)
	var missing *MissingRowsError
	if _, err := m.ForgetClass(context.Background(), "elk", Forgetting{}); !errors.As(err, &missing) ||
		!strings.Contains(err.Error(), "super-classes") {
		t.Errorf("without embeddings: %v", err)
	}
	must.Get(m.ForgetClass(context.Background(), "elk", Forgetting{Rows: p.rows}))(t)
	if !slices.EqualFunc(files(t, savedAs(t, m)), files(t, learned(p[0], p[2])), bytes.Equal) {
		t.Error("the model is not the one that never saw the session")
	}
}

// TestForgettingWhatTheCalibrationSaw: later samples cannot be subtracted if the
// model cannot be calibrated again in the same way.
func TestForgettingWhatTheCalibrationSaw(t *testing.T) {
	for _, c := range []struct {
		past past // a third session is learned from statistics
		says string
	}{
		{past{noisy(0, 6, "ant", "bee", "cat"), noisy(1, 3, "elk"), noisy(2, 3, "fox")}, "calibrated with"},
		{past{noisy(0, 24, "ant", "cat"), noisy(1, 22, "elk")}, "a part of each class"},
	} {
		m, _ := must.Get2(Train(context.Background(), settings("plda"), c.past[0]))(t)
		learn(t, m, c.past[1])
		for _, b := range c.past[2:] {
			must.Get(m.LearnStats(context.Background(), statisticsOf(t, "plda", b)))(t)
		}
		var missing *MissingRowsError
		if _, err := m.ForgetSamples(context.Background(), c.past[1].only([]int{0}), Forgetting{}); !errors.As(err,
			&missing) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v does not say %q", err, c.says)
		}
	}
}

// Of a large base session nothing is kept: it takes the embeddings.
func TestForgettingFromALargeBaseSession(t *testing.T) {
	notForRaces(t)
	for _, name := range []string{"plda", "ppca", "gpr", "hppca"} {
		t.Run(name, func(t *testing.T) {
			s := settings(name)
			p := past{noisy(0, 24, "ant", "bee", "cat", "dog", "eel"), noisy(1, 3, "elk", "bee")}
			path := p.learned(t, s)
			before := files(t, path)
			for _, f := range forgettables() {
				if f.name == "the base session" {
					continue // two classes of three images are no base session
				}
				checkNeverSeen(t, f, s, p, path, Forgetting{Rows: p.rows})

				m := mustLoad(t, path)
				_, err := f.from(t, m, p, Forgetting{})
				if later := f.name == "a later class" || f.name == "later images"; later && err != nil {
					t.Errorf("%s by subtraction: %v", f.name, err)
				} else if !later {
					checkRefused(t, f, m, err)
				}
				how := Forgetting{Rows: past{p[1]}.rows, Approximate: true}
				m = mustLoad(t, path)
				got, err := f.from(t, m, p, how)
				if base := f.rest(p)[0].X.Rows != p[0].X.Rows; err != nil || m.Traces != base ||
					(got.Way == Approximated) != base {
					t.Errorf("%s approximately: %+v, traces %v, %v", f.name, got, m.Traces, err)
				}
				if m = mustLoad(t, savedAs(t, m)); m.Traces != (got.Way == Approximated) {
					t.Errorf("%s: the traces are not recorded", f.name)
				}
			}
			if !slices.EqualFunc(before, files(t, path), bytes.Equal) {
				t.Error("the file changed")
			}
		})
	}
}

// checkRefused checks that a refusal says what is missing and changes nothing.
func checkRefused(t *testing.T, f forgettable, m *Model, err error) {
	t.Helper()
	var missing *MissingRowsError
	if !errors.As(err, &missing) || missing.Of < missing.Missing || !strings.Contains(err.Error(), "of session 1") ||
		!strings.Contains(err.Error(), "base session") {
		t.Errorf("%s: %v", f.name, err)
	}
	if m.changed {
		t.Errorf("%s: a refusal changed the model", f.name)
	}
}

// A later class of a large model is subtracted: log-probabilities equal those of
// the model that never saw it. vargp cannot do that, and ppca-online not for single
// images.
func TestSubtractionIsExact(t *testing.T) {
	notForRaces(t)
	for _, method := range method.Methods() {
		name := method.Name
		s := settings(name)
		p := past{noisy(0, 21, "ant", "bee", "cat", "dog"), noisy(1, 4, "elk", "bee"), noisy(2, 3, "fox")}
		path := p.learned(t, s)
		for _, f := range forgettables() {
			if f.name != "a later class" && f.name != "later images" {
				continue
			}
			f.where = also(f.where, func(s int) bool { return s > 0 })
			m := mustLoad(t, path)
			got, err := f.from(t, m, p, Forgetting{})
			if name == "vargp" || name == "ppca-online" && f.class == "" {
				if missing := (*MissingRowsError)(nil); !errors.Is(err, classifier.ErrUnsupported) ||
					!errors.As(err, &missing) {
					t.Errorf("%s: %s: %v", name, f.name, err)
				}
				continue
			}
			if err != nil || got.Way != Subtracted {
				t.Errorf("%s: %s: %+v, %v", name, f.name, got, err)
				continue
			}
			never := mustLoad(t, f.rest(p).learned(t, s))
			if d := apart(t, m, never, p[0]); d > 1e-5 {
				t.Errorf("%s: %s: log-probabilities differ by %.1e", name, f.name, d)
			}
		}
	}
}

func also(where func(s, i int, c string) bool, when func(s int) bool) func(s, i int, c string) bool {
	return func(s, i int, c string) bool { return when(s) && where(s, i, c) }
}

// apart returns the largest relative difference between the log-probabilities of
// two models, of which the second may have another order of classes.
func apart(t *testing.T, a, b *Model, x Batch) float64 {
	t.Helper()
	if !slices.Equal(slices.Sorted(slices.Values(a.Classes())), slices.Sorted(slices.Values(b.Classes()))) {
		t.Fatalf("classes %v and %v", a.Classes(), b.Classes())
	}
	p, q, n := logProb(t, a, x), logProb(t, b, x), len(a.Classes())
	var most float64
	for i := range x.X.Rows {
		for c, name := range a.Classes() {
			u, v := p[i*n+c], q[i*n+slices.Index(b.Classes(), name)]
			most = max(most, math.Abs(u-v)/max(math.Abs(v), 1e-6))
		}
	}
	return most
}

// Models of statistics forget by subtraction from these or, where the head keeps
// none, from the statistics that are given.
func TestForgettingFromStatistics(t *testing.T) {
	notForRaces(t)
	for name, keeps := range map[string]bool{"ncm": false, "lda": false, "plda": false, "ppca": true, "ppca-eb": true,
		"plda+": true} {
		t.Run(name, func(t *testing.T) {
			p := past{noisy(0, 9, "ant", "bee", "cat", "dog"), noisy(1, 5, "elk", "fox")}
			given := []*classstats.Stats{statisticsOf(t, name, p[0]), statisticsOf(t, name, p[1])}
			path := learnedStats(t, name, p)
			for _, f := range forgettables() {
				if f.name == "the base session" || f.name == "later images" {
					continue
				}
				f.where = also(f.where, func(s int) bool { return s < 2 })
				never := mustLoad(t, learnedStats(t, name, f.rest(p)))
				for what, how := range map[string]Forgetting{"own": {}, "given": {Statistics: given},
					"rows": {Rows: p.rows}} {
					m := mustLoad(t, path)
					_, err := f.from(t, m, p, how)
					if what == "own" && !keeps && f.name != "a later class" {
						checkRefused(t, f, m, err)
						continue
					}
					if err != nil {
						t.Errorf("%s, %s: %v", f.name, what, err)
						continue
					}
					if d := apart(t, m, never, p[0]); d > 1e-5 {
						t.Errorf("%s, %s: log-probabilities differ by %.1e", f.name, what, d)
					}
				}
			}
		})
	}
}

// statisticsOf returns the statistics of a batch for a method.
func statisticsOf(t *testing.T, name string, b Batch) *classstats.Stats {
	t.Helper()
	head := must.Get(method.New(name, settings(name).Heads))(t)
	s := classstats.New(b.X.Cols, head.(moments.Learner).TakesUnit())
	for i := range b.Labels {
		must.Get(s.Add(SampleID{Content: b.Content[i], Class: b.Labels[i]}, dense.Row32(b.X, i)))(t)
	}
	return s
}

func learnedStats(t *testing.T, name string, p past) string {
	t.Helper()
	var m *Model
	for i, b := range p {
		var err error
		if i == 0 {
			m, _, err = TrainStats(context.Background(), settings(name), statisticsOf(t, name, b))
		} else {
			_, err = m.LearnStats(context.Background(), statisticsOf(t, name, b))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return savedAs(t, m)
}

// TestForgettingRemovesOldFiles: neither the previous version nor its statistics
// stay.
func TestForgettingRemovesOldFiles(t *testing.T) {
	path := history(6).learned(t, settings("ppca"))
	m := mustLoad(t, path)
	learn(t, m, noisy(4, 3, "gnu"))
	save(t, m, path)
	if n := len(names(t, filepath.Dir(path))); n != 4 { // two versions with their statistics
		t.Fatalf("%d files", n)
	}
	must.Get(m.ForgetClass(context.Background(), "gnu", Forgetting{}))(t)
	m.DropPrevious = true
	save(t, m, path)
	if left := names(t, filepath.Dir(path)); len(left) != 2 || slices.Contains(left, "x.model.prev") {
		t.Errorf("%v are left", left)
	}
}
