package embedding

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Rows are embeddings of images or of a feature folder, delivered one by one so
// that they need not fit in memory together.
type Rows interface {
	// Provenance describes how they were computed.
	Provenance() Provenance
	// Each calls emit with every row, in order. An image that fails is an Item
	// with Err; an error from emit ends the pass.
	Each(ctx context.Context, emit func(Item) error) (Outcome, error)
}

// An Outcome summarises a pass over Rows.
type Outcome struct {
	Counts
	// Problems are the inputs that failed.
	Problems []dataset.Problem
	// Skipped counts the files that are not images, by kind.
	Skipped map[string]int
}

// Complete returns an error if some inputs failed, for work that needs all of them. It
// names the work and the first of these inputs.
func (o Outcome) Complete(what string) error {
	if len(o.Problems) == 0 {
		return nil
	}
	p := o.Problems[0]
	return fmt.Errorf("%s: %d images cannot be read, so nothing was changed; the first is %s: %w", what,
		len(o.Problems), p.Path, p.Err)
}

// HashRow returns the content hash of an embedding that has no file: the
// SHA-256 of its little-endian float32 bytes.
func HashRow(row []float32) [sha256.Size]byte { return dense.Hash32(row) }

// HashRows returns HashRow of each row of x.
func HashRows(x blas32.General) [][sha256.Size]byte {
	hashes := make([][sha256.Size]byte, x.Rows)
	for i := range hashes {
		hashes[i] = HashRow(dense.Row32(x, i))
	}
	return hashes
}

// Embeddings are Rows in memory, without the failed ones.
type Embeddings struct {
	// X is n×d: row i is the embedding of Samples[i], whose content has the
	// SHA-256 Content[i] (that of the row where there is no file).
	X          blas32.General
	Samples    []dataset.Sample
	Content    [][sha256.Size]byte
	Provenance Provenance
	Outcome    Outcome
}

// Collect reads all rows.
func Collect(ctx context.Context, rows Rows) (Embeddings, error) {
	e := Embeddings{Provenance: rows.Provenance()}
	e.X = blas32.General{Cols: e.Provenance.Dim, Stride: e.Provenance.Dim}
	var err error
	e.Outcome, err = rows.Each(ctx, func(item Item) error {
		if item.Err != nil {
			return nil
		}
		e.X.Rows++
		e.X.Data = append(e.X.Data, item.Vector...)
		e.Samples = append(e.Samples, item.Sample)
		e.Content = append(e.Content, item.Hash)
		return nil
	})
	return e, err
}

// ErrNoLabels means that no sample has a class.
var ErrNoLabels = errors.New("no labelled images: put each class into its own folder, DIR/<class>/<image>, or give " +
	"labels: a column of a list, or of samples.csv of a folder of embeddings")

// Labelled filters rows to those with a class and those that failed. Dropped
// counts the others, and Several those of them that a list says to show several things; if no
// row has a class, Each returns ErrNoLabels.
type Labelled struct {
	Rows
	Dropped, Several int
	// Aside, unless nil, takes the rows that a list says to show several things, or that a
	// person set aside, instead.
	Aside func(Item)
}

// Each is like Rows.Each.
func (l *Labelled) Each(ctx context.Context, emit func(Item) error) (Outcome, error) {
	l.Dropped, l.Several = 0, 0
	labelled, aside := 0, 0
	outcome, err := l.Rows.Each(ctx, func(item Item) error {
		switch {
		case item.Err != nil:
		case l.Aside != nil && (item.Sample.Several != "" || item.Sample.SetAside):
			l.Aside(item)
			aside++
			return nil
		case item.Sample.Label == "":
			l.Dropped++
			if item.Sample.Several != "" {
				l.Several++
			}
			return nil
		default:
			labelled++
		}
		return emit(item)
	})
	if err == nil && labelled+aside == 0 {
		err = ErrNoLabels
	}
	return outcome, err
}
