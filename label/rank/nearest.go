package rank

import (
	"cmp"
	"container/heap"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/label"
)

// A Nearest finds the rows that are nearest to a query by the cosine. It holds no more than
// it returns.
type Nearest struct {
	query []float64
	most  int
	found matches
}

// A Match is a row and its cosine with the query.
type Match struct {
	Path  string
	Score float64
}

// NewNearest returns a search for the given number of rows. A query without a direction is
// an error.
func NewNearest(query []float32, most int) (*Nearest, error) {
	n := &Nearest{most: most, query: make([]float64, len(query))}
	length := norm(query)
	if !(length > 0) || math.IsInf(length, 0) {
		return nil, errors.New("the query is zero or not finite: it is like nothing")
	}
	for j, v := range query {
		n.query[j] = float64(v) / length
	}
	return n, nil
}

// Dim returns the number of values of the query.
func (n *Nearest) Dim() int { return len(n.query) }

// Add considers a row of Dim values. O(d).
func (n *Nearest) Add(path string, row []float32) {
	length := norm(row)
	if length == 0 {
		return
	}
	var dot float64
	for j, v := range row {
		dot += float64(v) * n.query[j]
	}
	m := Match{path, dot / length}
	switch {
	case len(n.found) < n.most:
		heap.Push(&n.found, m)
	case n.most > 0 && better(m, n.found[0]) < 0:
		n.found[0] = m
		heap.Fix(&n.found, 0)
	}
}

// Matches returns what was found, nearest first; equals in the order of their paths.
func (n *Nearest) Matches() []Match { return slices.SortedFunc(slices.Values(n.found), better) }

// better orders matches, the nearest first.
func better(a, b Match) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Path, b.Path))
}

// matches is a heap with the worst match first.
type matches []Match

func (m matches) Len() int           { return len(m) }
func (m matches) Less(i, j int) bool { return better(m[i], m[j]) > 0 }
func (m matches) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *matches) Push(x any)        { *m = append(*m, x.(Match)) }
func (m *matches) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

func norm(v []float32) float64 {
	var sq float64
	for _, x := range v {
		sq += float64(x) * float64(x)
	}
	return math.Sqrt(sq)
}

// WriteMatches writes a CSV table with the columns path and score.
func WriteMatches(w io.Writer, found []Match) error {
	out := csv.NewWriter(w)
	err := out.Write([]string{"path", "score"})
	for _, m := range found {
		if err != nil {
			return err
		}
		err = out.Write([]string{dataset.SafeCell(dataset.EscapePath(m.Path)), label.Digits(m.Score)})
	}
	out.Flush()
	return errors.Join(err, out.Error())
}
