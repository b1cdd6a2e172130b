package fscil

import (
	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/eval/metrics"
	"github.com/seed-90d10d51/pipeline/eval/table"
)

// A Run is one head taken through one protocol.
type Run struct {
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

// hits counts correct answers among tests.
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
		n, h := novel.share(), HarmonicMean(m.Base, novel.share())
		m.Novel, m.Harmonic = &n, &h
	}
	r.Sessions = append(r.Sessions, m)
	r.Sessions[s].Forgetting = Forgetting(r.Tasks())
}

// Tasks returns the matrix of accuracies: row k is measured after session k+1
// and has one value for each session so far.
func (r Run) Tasks() [][]float64 {
	rows := make([][]float64, len(r.Sessions))
	for i, m := range r.Sessions {
		rows[i] = m.Tasks
	}
	return rows
}

// HarmonicMean returns the harmonic mean of two fractions, 0 if either is 0.
func HarmonicMean(a, b float64) float64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	return 2 * a * b / (a + b)
}

// Forgetting returns the average forgetting after the last of k sessions, whose
// accuracies on each task are the rows of tasks (row i has i+1 values): the
// mean over j < k of max_{j ≤ l < k} α_j^l − α_j^k. It is 0 for one session and
// negative where later sessions helped.
func Forgetting(tasks [][]float64) float64 {
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

// AverageAccuracy returns the mean accuracy over sessions.
func (r Run) AverageAccuracy() float64 {
	return stat.Mean(table.Collect(r.Sessions, func(m Measures) float64 { return m.Accuracy }), nil)
}
