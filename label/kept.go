package label

import (
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/rowfile"
)

// Kept are rows with what a head says and people decided about them, to be read as often as needed. So
// all photos can be seen before the first is labelled, and yet each is embedded once and the head asked
// once: a [Pass], or a [Job], of kept rows takes their scores, and asks its head only for the classes.
//
// Memory: some 250 bytes per row. A temporary file has 8C bytes per row more for C classes, and 4d for
// embeddings of d values if these are kept.
type Kept struct {
	rows    []keptRow
	logProb *rowfile.Matrix[float64]
	x       *rowfile.Matrix[float32] // nil without embeddings
	from    embedding.Rows
	dir     string
	began   time.Time
	outcome embedding.Outcome
}

type keptRow struct {
	sample  dataset.Sample
	content [sha256.Size]byte
	decided *Decision // nil for nothing
	novelty float64
	doubt   float64
	at      int // its row in the files
}

// Keep asks the head of a scorer about rows, and keeps the answers, and if asked the embeddings, in
// temporary files of a folder until it is closed.
func Keep(ctx context.Context, by Scorer, rows embedding.Rows, dir string, embeddings bool) (k *Kept, err error) {
	k = &Kept{from: rows, dir: dir, began: time.Now()}
	defer func() {
		if err != nil {
			k.Close()
			k = nil
		}
	}()
	if embeddings {
		if k.x, err = rowfile.New[float32](dir, "label", "embeddings", by.Head.Dim()); err != nil {
			return k, err
		}
	}
	k.logProb, err = k.ask(by.Head, func(add func(embedding.Item) error) (err error) {
		k.outcome, err = rows.Each(ctx, add)
		return err
	}, func(item embedding.Item, novelty float64) error {
		at := len(k.rows)
		k.rows = append(k.rows, keptRow{
			sample: item.Sample, content: item.Hash, decided: by.Decided.find(item), novelty: novelty, at: at,
		})
		if k.x == nil {
			return nil
		}
		return k.x.Write(at, item.Vector)
	})
	return k, err
}

// ask writes what a head says of the items of rows into a file, and calls also with each.
func (k *Kept) ask(head classifier.Head, each func(func(embedding.Item) error) error,
	also func(item embedding.Item, novelty float64) error) (logProb *rowfile.Matrix[float64], err error) {
	if logProb, err = rowfile.New[float64](k.dir, "label", "scores", len(head.Classes())); err != nil {
		return nil, err
	}
	n := 0
	err = score(head, nil, each, func(item embedding.Item, row []float64, novelty, _ float64) error {
		if err := also(item, novelty); err != nil {
			return err
		}
		n++
		return logProb.Write(k.rows[n-1].at, row)
	})
	if err != nil {
		logProb.Close()
		return nil, err
	}
	return logProb, nil
}

// Close removes what is kept.
func (k *Kept) Close() {
	if k != nil {
		k.logProb.Close()
		k.x.Close()
	}
}

// Provenance implements embedding.Rows.
func (k *Kept) Provenance() embedding.Provenance { return k.from.Provenance() }

// Each implements embedding.Rows. Items have embeddings if these are kept.
func (k *Kept) Each(ctx context.Context, emit func(embedding.Item) error) (embedding.Outcome, error) {
	return k.each(ctx, func(item embedding.Item, _ keptRow, _ []float64) error { return emit(item) })
}

func (k *Kept) each(ctx context.Context, scored func(item embedding.Item, row keptRow, logProb []float64) error,
) (embedding.Outcome, error) {
	outcome := k.outcome
	outcome.Problems = slices.Clone(outcome.Problems)
	var logProb []float64
	for _, row := range k.rows {
		err := ctx.Err()
		if err != nil {
			return outcome, err
		}
		item := embedding.Item{Sample: row.sample, Hash: row.content}
		if k.x != nil {
			if item.Vector, err = k.x.Read(row.at, row.at+1, nil); err != nil {
				return outcome, err
			}
		}
		if logProb, err = k.logProb.Read(row.at, row.at+1, logProb); err != nil {
			return outcome, err
		}
		if err := scored(item, row, logProb); err != nil {
			return outcome, err
		}
	}
	return outcome, nil
}

// Len returns the number of rows.
func (k *Kept) Len() int { return len(k.rows) }

// Content returns that of a row, as Scored has it.
func (k *Kept) Content(i int) [sha256.Size]byte { return k.rows[i].content }

// Path returns the path of the photo that a row is of.
func (k *Kept) Path(i int) string { return k.rows[i].sample.Path }

// Class returns the class that a person gave a row, "" for none.
func (k *Kept) Class(i int) string {
	if d := k.rows[i].decided; d != nil && d.Given() {
		return d.Class
	}
	return ""
}

// Decided reports whether a person decided about a row.
func (k *Kept) Decided(i int) bool { return k.rows[i].decided != nil }

// Doubt sets that of a row, as Scored has it.
func (k *Kept) Doubt(i int, photos float64) { k.rows[i].doubt = photos }

// Embeddings returns those of some rows, which must be kept.
func (k *Kept) Embeddings(rows []int) (blas32.General, error) {
	x := dense.New32(len(rows), k.x.Cols())
	for i, row := range rows {
		at := k.rows[row].at
		if _, err := k.x.Read(at, at+1, dense.Row32(x, i)); err != nil {
			return x, err
		}
	}
	return x, nil
}

// Scores returns the log-probabilities and the novelty of some rows.
func (k *Kept) Scores(rows []int) (logProb blas64.General, novelty []float64, err error) {
	logProb = dense.New(len(rows), k.logProb.Cols())
	for i, row := range rows {
		at := k.rows[row].at
		if _, err := k.logProb.Read(at, at+1, dense.Row(logProb, i)); err != nil {
			return logProb, nil, err
		}
		novelty = append(novelty, k.rows[row].novelty)
	}
	return logProb, novelty, nil
}

// As asks another head of the same classes about the rows, whose embeddings must be kept. It returns
// them with its log-probabilities, without embeddings and with the novelty that they had.
func (k *Kept) As(ctx context.Context, head classifier.Head) (*Kept, error) {
	other := *k
	other.x = nil
	var err error
	other.logProb, err = k.ask(head, func(add func(embedding.Item) error) error {
		_, err := k.Each(ctx, add)
		return err
	}, func(embedding.Item, float64) error { return nil })
	return &other, err
}

// Take takes over the log-probabilities of rows that As returned, which are closed then.
func (k *Kept) Take(other *Kept) {
	k.logProb, other.logProb = other.logProb, k.logProb
	other.Close()
}

// Change lets f change the log-probabilities (1×C) of some rows.
func (k *Kept) Change(ctx context.Context, rows []int, f func(i int, logProb blas64.General)) error {
	row := dense.New(1, k.logProb.Cols())
	for _, i := range rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		r := k.rows[i]
		if _, err := k.logProb.Read(r.at, r.at+1, row.Data); err != nil {
			return err
		}
		f(i, row)
		if err := k.logProb.Write(r.at, row.Data); err != nil {
			return err
		}
	}
	return nil
}

// Drop leaves out rows by what people decided about them, nil for nothing, and returns how many.
func (k *Kept) Drop(out func(*Decision) bool) int {
	before := len(k.rows)
	k.rows = slices.DeleteFunc(k.rows, func(r keptRow) bool { return out(r.decided) })
	return before - len(k.rows)
}
