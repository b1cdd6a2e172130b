package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A Batch holds the labelled embeddings of one session. Row i of X (n×d) is a
// sample with Labels[i] and Content[i]; Paths, if not nil, names it in
// messages, and Taken, if not nil, says when its photo was taken.
type Batch struct {
	X       blas32.General
	Labels  []string
	Content []Hash
	Paths   []string
	Taken   []holdout.Taken
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
	if b.X.Rows != n || len(b.Content) != n || b.Paths != nil && len(b.Paths) != n ||
		b.Taken != nil && len(b.Taken) != n {
		return fmt.Errorf("%d rows, %d labels, %d content hashes, %d paths and %d times do not match",
			b.X.Rows, n, len(b.Content), len(b.Paths), len(b.Taken))
	}
	if n == 0 {
		return fmt.Errorf("there are no samples")
	}
	if dim != 0 && b.X.Cols != dim {
		return fmt.Errorf("the embeddings have %d dimensions, the model has %d: use the backbone that the model was "+
			"trained with", b.X.Cols, dim)
	}
	err := classifier.CheckRows(b.X, 0)
	var bad *classifier.NotFiniteError
	if errors.As(err, &bad) {
		return fmt.Errorf("%s: %w", b.name(bad.Row), err)
	}
	return err
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

// rows copies the given rows, or returns X itself if they are all of its rows:
// heads retain no reference to what they learn.
func (b Batch) rows(which []int) blas32.General {
	if slices.Equal(which, dense.Range(0, b.X.Rows)) {
		return b.X
	}
	return dense.Gather32(b.X, which)
}

// taken returns when the photos of the given rows were taken, nil if nothing is known.
func (b Batch) taken(which []int) []holdout.Taken {
	if b.Taken == nil {
		return nil
	}
	out := make([]holdout.Taken, len(which))
	for i, r := range which {
		out[i] = b.Taken[r]
	}
	return holdout.Told(out)
}

// listed joins up to ten names and counts the rest.
func listed(names []string) string {
	const most = 10
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
