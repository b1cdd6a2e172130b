package fscil

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/eval/table"
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
	Runs              int             `json:"runs"`
	Sessions          []SessionResult `json:"sessions"`
	AverageAccuracy   float64         `json:"average_accuracy"`
	FinalAccuracy     float64         `json:"final_accuracy"`
	PerformanceDrop   float64         `json:"performance_drop"`
	AverageForgetting float64         `json:"average_forgetting"`
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
	for s := range runs[0].Sessions {
		var at []Measures
		for _, run := range runs {
			if len(run.Sessions) != len(runs[0].Sessions) {
				return Result{}, fmt.Errorf("summarise %s: runs of %d and of %d sessions", info.Method, len(runs[0].Sessions), len(run.Sessions))
			}
			at = append(at, run.Sessions[s])
		}
		r.Sessions = append(r.Sessions, summariseSession(at))
		r.AverageAccuracy += r.Sessions[s].Accuracy / float64(len(runs[0].Sessions))
	}
	last := r.Sessions[len(r.Sessions)-1]
	r.FinalAccuracy = last.Accuracy
	r.PerformanceDrop = r.Sessions[0].Accuracy - last.Accuracy
	r.AverageForgetting = last.Forgetting
	return r, nil
}

// summariseSession averages the same session of several runs.
func summariseSession(at []Measures) SessionResult {
	mean := func(value func(Measures) float64) float64 { return stat.Mean(table.Collect(at, value), nil) }
	r := SessionResult{
		Session: at[0].Session, Classes: at[0].Classes,
		Base:       mean(func(m Measures) float64 { return m.Base }),
		Forgetting: mean(func(m Measures) float64 { return m.Forgetting }),
		NLLNats:    mean(func(m Measures) float64 { return m.NLLNats }),
		ECE:        mean(func(m Measures) float64 { return m.ECE }),
	}
	accuracy, sem := table.MeanSEM(table.Collect(at, func(m Measures) float64 { return m.Accuracy }))
	if r.Accuracy = accuracy; !math.IsNaN(sem) {
		r.AccuracySEM = &sem
	}
	if at[0].Novel != nil {
		novel, harmonic := mean(func(m Measures) float64 { return *m.Novel }), mean(func(m Measures) float64 { return *m.Harmonic })
		r.Novel, r.Harmonic = &novel, &harmonic
	}
	return r
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
	// Classes of every session.
	Classes [][]string `json:"classes"`
	// TaskAccuracy has one row per session: the accuracy on the classes of
	// session 1, 2, … so far.
	TaskAccuracy [][]float64 `json:"task_accuracy"`
	// ClassAccuracy has one row per session: the accuracy of every class so
	// far, in the order of Classes.
	ClassAccuracy [][]float64 `json:"class_accuracy"`
}
