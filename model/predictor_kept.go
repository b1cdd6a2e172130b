package model

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// keptValues bounds the embeddings that a model keeps: 32 MiB.
const keptValues = 8 << 20

// keptExamples holds embeddings of what a Predictor has learned, session by session in
// input order, for calibration. It is never changed, only replaced. A nil keptExamples
// stays nil: the base session is too large, or it was learned from statistics.
type keptExamples struct {
	sessions []episodes.Episode
	// all reports that nothing was left out: learning the sessions again gives
	// the same Predictor.
	all bool
}

// newKeptExamples returns the examples to keep of a base session.
func newKeptExamples(s episodes.Episode) *keptExamples {
	return (&keptExamples{all: true}).with(s)
}

// with returns the examples to keep after another session: at most
// calibration.MaxPerClass of each class, or fewer if there are many classes,
// those whose values come first in the order of exemplars.Compare.
func (k *keptExamples) with(s episodes.Episode) *keptExamples {
	if k == nil {
		return nil
	}
	own := s.Pick(dense.Range(0, len(s.Y)))
	next := &keptExamples{sessions: append(slices.Clone(k.sessions), own), all: k.all}
	byClass := next.byClass()
	most := mostKept(len(byClass), s.X.Cols)
	if most < 2 {
		return nil
	}
	drop := map[position]bool{}
	for _, at := range byClass {
		if len(at) <= most {
			continue
		}
		slices.SortStableFunc(at, func(a, b position) int { return exemplars.Compare(next.row(a), next.row(b)) })
		for _, p := range at[most:] {
			drop[p] = true
		}
	}
	if len(drop) == 0 {
		return next
	}
	next = next.without(drop)
	next.all = false
	return next
}

// mostKept returns how many embeddings of d values are kept of each class; below
// 2 none are.
func mostKept(classes, d int) int {
	return min(calibration.MaxPerClass, keptValues/max(1, classes*d))
}

// complete reports whether everything that was learned is kept.
func (k *keptExamples) complete() bool { return k != nil && k.all }

// position is a row of a session.
type position struct{ session, row int }

func (k *keptExamples) row(at position) []float32 {
	return dense.Row32(k.sessions[at.session].X, at.row)
}

func (k *keptExamples) byClass() map[string][]position {
	out := map[string][]position{}
	for s, session := range k.sessions {
		for i, y := range session.Y {
			out[y] = append(out[y], position{s, i})
		}
	}
	return out
}

// without returns what is left without some rows; sessions that have nothing
// left vanish.
func (k *keptExamples) without(drop map[position]bool) *keptExamples {
	next := &keptExamples{all: k.all}
	for s, session := range k.sessions {
		rows := slices.DeleteFunc(dense.Range(0, len(session.Y)), func(i int) bool { return drop[position{s, i}] })
		if len(rows) > 0 {
			next.sessions = append(next.sessions, session.Pick(rows))
		}
	}
	return next
}

// withoutClass forgets a class.
func (k *keptExamples) withoutClass(name string) *keptExamples {
	if k == nil {
		return nil
	}
	drop := map[position]bool{}
	for _, at := range k.byClass()[name] {
		drop[at] = true
	}
	return k.without(drop)
}

// withoutRows forgets row i of x from class y[i], where it is kept: of equal
// rows of a class the first.
func (k *keptExamples) withoutRows(x blas32.General, y []string) *keptExamples {
	if k == nil {
		return nil
	}
	byClass, drop := k.byClass(), map[position]bool{}
	for i, name := range y {
		for _, at := range byClass[name] {
			if !drop[at] && exemplars.Compare(k.row(at), dense.Row32(x, i)) == 0 {
				drop[at] = true
				break
			}
		}
	}
	return k.without(drop)
}

// A keptRow is the embedding of a sample, and when the photo was taken.
type keptRow struct {
	x     []float32
	taken holdout.Taken
}

// bySample returns the embeddings by what they were learned as, nil unless all of the
// history is kept.
func (k *keptExamples) bySample(h History) map[SampleID]keptRow {
	if !k.complete() {
		return nil
	}
	rows := make(map[SampleID]keptRow, h.count())
	at := 0
	for _, s := range h {
		if s.Count() == 0 {
			continue
		}
		if at == len(k.sessions) || !slices.Equal(k.sessions[at].Y, sessionRows{Session: s}.labels()) {
			return nil // equal embeddings of two sessions were forgotten approximately
		}
		for i, id := range s.Samples {
			rows[id] = keptRow{k.row(position{at, i}), k.sessions[at].TakenAt(i)}
		}
		at++
	}
	return rows
}

// size returns the number of embeddings and their size in bytes.
func (k *keptExamples) size() (rows, bytes int) {
	if k == nil {
		return 0, 0
	}
	for _, s := range k.sessions {
		rows, bytes = rows+len(s.Y), bytes+4*len(s.X.Data)
	}
	return rows, bytes
}

// Names of the tensors of kept embeddings.
const (
	keptRows     = "kept.rows"     // n×d float32
	keptClasses  = "kept.class"    // n, columns of the head
	keptSessions = "kept.sessions" // number of rows of each session
	keptTaken    = "kept.taken"    // n×2, camera and time; absent if nothing is known
)

// tensors returns what loadKept reads.
func (k *keptExamples) tensors(classes []string) (map[string]classifier.Tensor, error) {
	if k == nil || len(classes) == 0 {
		return nil, nil
	}
	column := make(map[string]int, len(classes))
	for i, name := range classes {
		column[name] = i
	}
	var counts, of []int
	var taken []int64
	var rows []float32
	known := slices.ContainsFunc(k.sessions, func(s episodes.Episode) bool { return s.Taken != nil })
	d := 0
	for _, s := range k.sessions {
		counts, d = append(counts, len(s.Y)), max(d, s.X.Cols)
		rows = append(rows, s.X.Data...)
		if known {
			taken = append(taken, numbersOf(s)...)
		}
		for _, y := range s.Y {
			c, ok := column[y]
			if !ok {
				return nil, fmt.Errorf("an embedding is kept of class %q, which the head does not have", y)
			}
			of = append(of, c)
		}
	}
	out := map[string]classifier.Tensor{
		keptRows:    {Shape: []int{len(of), d}, F32: rows},
		keptClasses: classifier.CountTensor(of), keptSessions: classifier.CountTensor(counts),
	}
	if known {
		out[keptTaken] = classifier.Tensor{Shape: []int{len(of), 2}, I64: taken}
	}
	return out, nil
}

// numbersOf returns camera and time of each photo of a session, 0 where they are not known.
func numbersOf(s episodes.Episode) []int64 {
	out := make([]int64, 0, 2*len(s.Y))
	for i := range s.Y {
		t := s.TakenAt(i)
		out = append(out, t.Camera, t.Unix)
	}
	return out
}

// loadKept returns what tensors described, nil if there is nothing.
func loadKept(s classifier.State, classes []string, d int, all bool) (*keptExamples, error) {
	if _, ok := s.Tensors[keptRows]; !ok {
		return nil, nil
	}
	n, sessions := len(s.Tensors[keptClasses].I64), len(s.Tensors[keptSessions].I64)
	rows, err := s.Float32(keptRows, n, d)
	if err != nil {
		return nil, err
	}
	of, err := s.Counts(keptClasses, n, 0, len(classes)-1)
	if err != nil {
		return nil, err
	}
	counts, err := s.Counts(keptSessions, sessions, 0, n)
	if err != nil {
		return nil, err
	}
	taken, err := takenOf(s, n)
	if err != nil {
		return nil, err
	}
	k := &keptExamples{all: all}
	for _, count := range counts {
		if count > len(of) {
			return nil, fmt.Errorf("tensor %s: more than the %d embeddings", keptSessions, n)
		}
		session := episodes.Episode{X: blas32.General{Rows: count, Cols: d, Stride: d, Data: rows[: count*d : count*d]}}
		for _, c := range of[:count] {
			session.Y = append(session.Y, classes[c])
		}
		if taken != nil {
			session.Taken, taken = taken[:count:count], taken[count:]
		}
		k.sessions, rows, of = append(k.sessions, session), rows[count*d:], of[count:]
	}
	if len(of) > 0 {
		return nil, fmt.Errorf("tensor %s: %d embeddings belong to no session", keptSessions, len(of))
	}
	return k, nil
}

// takenOf returns when and with which camera n photos were taken, nil if nothing is known.
func takenOf(s classifier.State, n int) ([]holdout.Taken, error) {
	t, ok := s.Tensors[keptTaken]
	if !ok {
		return nil, nil
	}
	if len(t.I64) != 2*n {
		return nil, fmt.Errorf("tensor %s: %d values, not two for each of the %d embeddings", keptTaken, len(t.I64), n)
	}
	out := make([]holdout.Taken, n)
	for i := range out {
		out[i] = holdout.Taken{Camera: t.I64[2*i], Unix: t.I64[2*i+1]}
	}
	return out, nil
}
