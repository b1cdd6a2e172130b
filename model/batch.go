package model

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A Batch is one session's worth of labelled embeddings. Row i of X (n×d) is
// a sample with Labels[i] and Content[i]; Paths is nil or names it in messages.
type Batch struct {
	X       blas32.General
	Labels  []string
	Content []Hash
	Paths   []string
}

func (b Batch) name(i int) string {
	if b.Paths != nil {
		return b.Paths[i]
	}
	return fmt.Sprintf("row %d", i)
}

// validate checks shapes and values; dim 0 accepts any dimension.
func (b Batch) validate(dim int) error {
	n := len(b.Labels)
	if b.X.Rows != n || len(b.Content) != n || b.Paths != nil && len(b.Paths) != n {
		return fmt.Errorf("%d rows, %d labels, %d content hashes and %d paths do not belong together",
			b.X.Rows, n, len(b.Content), len(b.Paths))
	}
	if n == 0 {
		return fmt.Errorf("there are no samples")
	}
	if b.X.Cols < 1 || b.X.Stride < b.X.Cols || len(b.X.Data) < (n-1)*b.X.Stride+b.X.Cols {
		return fmt.Errorf("the embedding matrix %d×%d (stride %d) does not fit its %d values", n, b.X.Cols, b.X.Stride, len(b.X.Data))
	}
	if dim != 0 && b.X.Cols != dim {
		return fmt.Errorf("the embeddings have %d dimensions, the model has %d: use the backbone that the model was trained with", b.X.Cols, dim)
	}
	for i := range n {
		for j, v := range dense.Row32(b.X, i) {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return fmt.Errorf("%s: dimension %d is %v", b.name(i), j, v)
			}
		}
	}
	return nil
}

func (b Batch) validateLabels() error {
	for i, label := range b.Labels {
		if label == "" {
			return fmt.Errorf("%s has no label", b.name(i))
		}
		if !utf8.ValidString(label) {
			return fmt.Errorf("%s: the label %q is not UTF-8", b.name(i), label)
		}
	}
	return nil
}

// rows copies some rows out, or returns X itself where they are all: heads keep
// no reference to what they learn.
func (b Batch) rows(which []int) blas32.General {
	if b.isAll(which) {
		return b.X
	}
	x := blas32.General{Rows: len(which), Cols: b.X.Cols, Stride: b.X.Cols, Data: make([]float32, 0, len(which)*b.X.Cols)}
	for _, i := range which {
		x.Data = append(x.Data, dense.Row32(b.X, i)...)
	}
	return x
}

func (b Batch) isAll(which []int) bool {
	if len(which) != b.X.Rows {
		return false
	}
	for i, row := range which {
		if i != row {
			return false
		}
	}
	return true
}

// An index answers which classes a content was learned as.
type index struct {
	first map[Hash]string
	// more holds the further classes of the few contents that have several.
	more map[Hash][]string
}

func (m *Model) index() index {
	ix := index{make(map[Hash]string, m.SampleCount()), map[Hash][]string{}}
	for _, s := range m.Sessions {
		for _, id := range s.Samples {
			ix.add(id)
		}
	}
	return ix
}

func (ix index) add(id SampleID) {
	if _, ok := ix.first[id.Content]; ok {
		ix.more[id.Content] = append(ix.more[id.Content], id.Class)
		return
	}
	ix.first[id.Content] = id.Class
}

func (ix index) has(id SampleID) bool {
	c, ok := ix.first[id.Content]
	return ok && (c == id.Class || slices.Contains(ix.more[id.Content], id.Class))
}

func (ix index) classes(content Hash) []string {
	c, ok := ix.first[content]
	if !ok {
		return nil
	}
	return append([]string{c}, ix.more[content]...)
}

// listed joins up to ten names and counts the rest.
func listed(names []string) string {
	const most = 10
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
