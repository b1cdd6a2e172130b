package fscil

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/label/metrics"
	"github.com/seed-90d10d51/pipeline/research/grid"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// Info describes what was measured.
type Info struct {
	Dataset  string `json:"dataset"`
	Method   string `json:"method"`
	Backbone string `json:"backbone"`
	// Track is BaseOnly, PretrainedDisjoint or Foundation.
	Track string `json:"track"`
	// MaxPerClass is the most examples per class that the head stores, 0 if it
	// stores none.
	MaxPerClass int `json:"max_per_class,omitempty"`
}

// A Result is the mean over several runs of one head: results.json. All are
// fractions except NLL (nats).
type Result struct {
	Info
	// Chosen are the methods that method.Auto chose, in the order of the runs.
	Chosen            []string        `json:"chosen,omitempty"`
	Runs              int             `json:"runs"`
	Sessions          []SessionResult `json:"sessions"`
	AverageAccuracy   float64         `json:"average_accuracy"`
	FinalAccuracy     float64         `json:"final_accuracy"`
	PerformanceDrop   float64         `json:"performance_drop"`
	AverageForgetting float64         `json:"average_forgetting"`

	// Cells has the values of every run, on the axes method, backbone and source, and
	// session for those after a session.
	Cells grid.Grid `json:"-"`
}

// A SessionResult is the mean over runs of the measurements after a session.
type SessionResult struct {
	Session  int     `json:"session"`
	Classes  int     `json:"classes"`
	Accuracy float64 `json:"accuracy"`
	// AccuracySEM is the standard error of the mean, nil for a single run.
	AccuracySEM *float64 `json:"accuracy_sem"`
	Base        float64  `json:"base_accuracy"`
	// Novel and Harmonic are nil after the base session.
	Novel      *float64 `json:"novel_accuracy"`
	Harmonic   *float64 `json:"harmonic_mean"`
	Forgetting float64  `json:"forgetting"`
	NLLNats    float64  `json:"nll"`
	ECE        float64  `json:"ece"`
}

// Summarise averages runs, which must all have the same number of sessions.
func Summarise(info Info, runs []Run) (Result, error) {
	if len(runs) == 0 || len(runs[0].Sessions) == 0 {
		return Result{}, fmt.Errorf("summarise %s: nothing was run", info.Method)
	}
	r := Result{Info: info, Runs: len(runs)}
	for _, run := range runs {
		if run.Chosen != "" && !slices.Contains(r.Chosen, run.Chosen) {
			r.Chosen = append(r.Chosen, run.Chosen)
		}
	}
	at := r.place()
	for _, run := range runs {
		if len(run.Sessions) != len(runs[0].Sessions) {
			return Result{}, fmt.Errorf("summarise %s: runs of %d and of %d sessions", info.Method,
				len(runs[0].Sessions), len(run.Sessions))
		}
		r.Cells.Join(run.Cells(at))
	}
	for _, m := range runs[0].Sessions {
		r.Sessions = append(r.Sessions, r.session(m.Session, m.Classes))
	}
	mean := func(measure string) float64 { return stat.Mean(r.Cells.Values(at, measure), nil) }
	r.AverageAccuracy, r.FinalAccuracy = mean("average_accuracy"), mean("accuracy")
	r.PerformanceDrop, r.AverageForgetting = mean("performance_drop"), mean("forgetting")
	return r, nil
}

// place returns the place of a result in tables.
func (r Result) place() grid.Place {
	method, source := r.Name(), "this run"
	if r.MaxPerClass > 0 {
		method = fmt.Sprintf("%s (at most %d per class)", r.Method, r.MaxPerClass)
	}
	if r.Runs > 1 {
		source = fmt.Sprintf("these %d runs, ± SEM", r.Runs)
	}
	return grid.At("method", method, "backbone", r.Backbone, "source", source)
}

func (r Result) session(session, classes int) SessionResult {
	at := grid.At("session", session)
	mean := func(measure string) *float64 {
		values := r.Cells.Values(at, measure)
		if values == nil {
			return nil
		}
		mean := stat.Mean(values, nil)
		return &mean
	}
	s := SessionResult{
		Session: session, Classes: classes, Accuracy: *mean("accuracy"), Base: *mean("base_accuracy"),
		Novel: mean("novel_accuracy"), Harmonic: mean("harmonic_mean"), Forgetting: *mean("forgetting"),
		NLLNats: *mean("nll"), ECE: *mean("ece"),
	}
	if _, sem := table.MeanSEM(r.Cells.Values(at, "accuracy")); !math.IsNaN(sem) {
		s.AccuracySEM = &sem
	}
	return s
}

// Name returns the method, and in brackets what it stood for if it was chosen.
func (r Result) Name() string {
	if len(r.Chosen) == 0 {
		return r.Method
	}
	return fmt.Sprintf("%s (%s)", r.Method, strings.Join(r.Chosen, ", "))
}

// Details is the content of details.json: what is too long for results.json.
type Details struct {
	// Duplicates are those of a published protocol; a drawn one has none.
	Duplicates Duplicates `json:"duplicates"`
	// Runs holds every run.
	Runs []RunDetails `json:"runs"`
}

// RunDetails is one run in full.
type RunDetails struct {
	// Chosen is the method that method.Auto chose on the base session, "" if another
	// was given.
	Chosen string `json:"chosen,omitempty"`
	// Classes of every session.
	Classes [][]string `json:"classes"`
	// TaskAccuracy has one row per session: the accuracy on the classes of
	// session 1, 2, … so far.
	TaskAccuracy [][]float64 `json:"task_accuracy"`
	// ClassAccuracy has one row per session: the accuracy of every class so
	// far, in the order of Classes.
	ClassAccuracy [][]float64 `json:"class_accuracy"`
}

// A Run is one head taken through one protocol.
type Run struct {
	// Chosen is as in RunDetails.
	Chosen   string `json:",omitempty"`
	Sessions []Measures
}

// Measures are the measurements after one session. All are fractions except
// NLL.
type Measures struct {
	// Session counts from 1; Classes is the number of classes so far.
	Session, Classes int
	Accuracy         float64
	// Base is the accuracy on the classes of the base session, Novel that on
	// all others, Harmonic their harmonic mean; Novel and Harmonic are nil
	// after the base session.
	Base            float64
	Novel, Harmonic *float64
	Forgetting      float64
	NLLNats, ECE    float64
	// Tasks holds the accuracy on the classes of session 1 … Session.
	Tasks []float64
	// PerClass holds the accuracy of every class so far in protocol order
	// (session by session, sorted by name within each).
	PerClass []float64
}

type hits struct{ right, n int }

func (h hits) share() float64 {
	if h.n == 0 {
		return 0
	}
	return float64(h.right) / float64(h.n)
}

func (h *hits) add(other hits) {
	h.right += other.right
	h.n += other.n
}

// add measures the session that has just ended.
func (r *Run) add(p *Protocol, report *metrics.Report) {
	s := len(r.Sessions)
	m := Measures{
		Session: s + 1, Classes: len(report.Classes), Accuracy: report.Accuracy,
		NLLNats: report.NLLNats, ECE: report.ECE,
	}
	byClass := map[string]hits{}
	for i, c := range report.PerClass {
		byClass[c.Name] = hits{report.Confusion[i][i], c.N}
	}
	var novel hits
	for t := range s + 1 {
		var task hits
		for _, c := range p.classes[t] {
			m.PerClass = append(m.PerClass, byClass[c].share())
			task.add(byClass[c])
		}
		m.Tasks = append(m.Tasks, task.share())
		if t > 0 {
			novel.add(task)
		}
	}
	m.Base = m.Tasks[0]
	if s > 0 {
		n, h := novel.share(), harmonicMean(m.Base, novel.share())
		m.Novel, m.Harmonic = &n, &h
	}
	r.Sessions = append(r.Sessions, m)
	r.Sessions[s].Forgetting = forgetting(r.tasks())
}

// tasks returns the matrix of accuracies: row k is measured after session k+1
// and has one value for each session so far.
func (r Run) tasks() [][]float64 {
	rows := make([][]float64, len(r.Sessions))
	for i, m := range r.Sessions {
		rows[i] = m.Tasks
	}
	return rows
}

// harmonicMean returns the harmonic mean of two fractions, 0 if either is 0.
func harmonicMean(a, b float64) float64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	return 2 * a * b / (a + b)
}

// forgetting returns the average forgetting after the last of k sessions, whose
// accuracies on each task are the rows of tasks (row i has i+1 values): the
// mean over j < k of max_{j ≤ l < k} α_j^l − α_j^k. It is 0 for one session and
// negative where later sessions helped.
func forgetting(tasks [][]float64) float64 {
	k := len(tasks) - 1
	if k < 1 {
		return 0
	}
	var sum float64
	for j := range k {
		best := tasks[j][j]
		for l := j + 1; l < k; l++ {
			best = max(best, tasks[l][j])
		}
		sum += best - tasks[k][j]
	}
	return sum / float64(k)
}

func (m Measures) values() grid.Values {
	v := grid.Values{
		"accuracy": m.Accuracy, "base_accuracy": m.Base, "forgetting": m.Forgetting, "nll": m.NLLNats, "ece": m.ECE,
	}
	if m.Novel != nil {
		v["novel_accuracy"], v["harmonic_mean"] = *m.Novel, *m.Harmonic
	}
	return v
}

// Values returns what a run reached: the measures after the last session, and the accuracy
// after the first, on average over sessions, and how far it dropped.
func (r Run) Values() grid.Values {
	first, last := r.Sessions[0], r.Sessions[len(r.Sessions)-1]
	v := last.values()
	v["first_accuracy"], v["performance_drop"] = first.Accuracy, first.Accuracy-last.Accuracy
	v["average_accuracy"] = stat.Mean(table.Collect(r.Sessions, func(m Measures) float64 { return m.Accuracy }), nil)
	return v
}

// Cells returns the Values at a place, and on its axis session the measures after each.
func (r Run) Cells(at grid.Place) grid.Grid {
	cells := grid.One(at, r.Values())
	for _, m := range r.Sessions {
		cells.Add(at.And("session", m.Session), m.values())
	}
	return cells
}
