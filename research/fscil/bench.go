package fscil

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/label/metrics"
)

// testBatch is the number of test rows copied at once.
const testBatch = 1024

// A Bench is a protocol with its embeddings. It is safe for concurrent use.
type Bench struct {
	protocol   *Protocol
	embeddings *Embeddings
	train      []split
	test       []split
	duplicates Duplicates
}

type split struct {
	rows    []int
	classes []string
}

// A MissingError names the images of a protocol that have no embedding.
type MissingError struct {
	// Path is the first of Count images.
	Path  string
	Count int
	Err   error
}

func (e *MissingError) Error() string {
	if e.Count == 1 {
		return fmt.Sprintf("image %s %v", e.Path, e.Err)
	}
	return fmt.Sprintf("image %s %v, like %d other images", e.Path, e.Err, e.Count-1)
}

func (e *MissingError) Unwrap() error { return e.Err }

// Bind looks up the embedding of every image and compares contents. The error
// is a *MissingError or a *LeakError.
func (p *Protocol) Bind(e *Embeddings) (*Bench, error) {
	b := &Bench{protocol: p, embeddings: e, train: make([]split, len(p.sessions)), test: make([]split, len(p.sessions))}
	missing := &MissingError{}
	rows := map[string]int{}
	for x, u := range p.all() {
		row, err := e.find(x.Path)
		if err != nil {
			if missing.Count++; missing.Count == 1 {
				missing.Path, missing.Err = x.Path, err
			}
			continue
		}
		rows[x.Path] = row
		part := &b.train[u.session]
		if u.test {
			part = &b.test[u.session]
		}
		part.rows, part.classes = append(part.rows, row), append(part.classes, x.Class)
	}
	if missing.Count > 0 {
		return nil, missing
	}
	var err error
	b.duplicates, err = p.duplicates(func(path string) [32]byte { return e.content[rows[path]] })
	return b, err
}

// Duplicates counts the images that a published protocol holds twice.
func (b *Bench) Duplicates() Duplicates { return b.duplicates }

// Protocol returns the protocol of the bench.
func (b *Bench) Protocol() *Protocol { return b.protocol }

// Sessions returns the number of sessions.
func (b *Bench) Sessions() int { return len(b.train) }

// Train returns a copy of the training embeddings of session s (from 0) and
// their classes.
func (b *Bench) Train(s int) (blas32.General, []string) { return b.embeddings.copied(b.train[s]) }

// Content returns the content hashes of the training images of session s.
func (b *Bench) Content(s int) [][32]byte {
	out := make([][32]byte, len(b.train[s].rows))
	for i, row := range b.train[s].rows {
		out[i] = b.embeddings.content[row]
	}
	return out
}

// Test is Train for the test images of the classes that session s brings.
func (b *Bench) Test(s int) (blas32.General, []string) { return b.embeddings.copied(b.test[s]) }

// Run takes one head, as makeHead returns it, through all sessions. In each
// session the head sees that session's training images and nothing else.
// progress, if not nil, is called after each session.
func (b *Bench) Run(ctx context.Context, makeHead func() (classifier.Learner, error),
	progress func(Measures)) (Run, error) {
	head, err := makeHead()
	if err != nil {
		return Run{}, err
	}
	if len(head.Classes()) != 0 {
		return Run{}, errors.New("the head has learned something before the base session")
	}
	var run Run
	for s := range b.train {
		x, y := b.Train(s)
		if err := head.Learn(ctx, x, y); err != nil {
			return Run{}, fmt.Errorf("session %d: learn: %w", s+1, err)
		}
		report, err := b.evaluate(ctx, head, s)
		if err != nil {
			return Run{}, fmt.Errorf("session %d: %w", s+1, err)
		}
		run.add(b.protocol, report)
		if progress != nil {
			progress(run.Sessions[s])
		}
	}
	return run, nil
}

// evaluate tests all classes of sessions 0 … s.
func (b *Bench) evaluate(ctx context.Context, head classifier.Head, s int) (*metrics.Report, error) {
	a, err := metrics.NewAccumulator(head.Classes())
	if err != nil {
		return nil, err
	}
	buf := make([]float32, testBatch*b.embeddings.Dim())
	for _, part := range b.test[:s+1] {
		for first := 0; first < len(part.rows); first += testBatch {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			last := min(first+testBatch, len(part.rows))
			classes := part.classes[first:last]
			err := classifier.Batches(head, b.embeddings.gather(buf, part.rows[first:last]),
				func(at int, logProb blas64.General) error {
					return a.Add(classes[at:at+logProb.Rows], logProb, nil)
				})
			if err != nil {
				return nil, err
			}
		}
	}
	return a.Report()
}

// Detail returns a run of this bench in full.
func (b *Bench) Detail(r Run) RunDetails {
	d := RunDetails{Chosen: r.Chosen, TaskAccuracy: r.tasks()}
	for s, m := range r.Sessions {
		d.Classes = append(d.Classes, b.protocol.Classes(s))
		d.ClassAccuracy = append(d.ClassAccuracy, m.PerClass)
	}
	return d
}

// Embeddings are vectors of images, looked up by path.
type Embeddings struct {
	x       blas32.General
	content [][32]byte
	// row holds the row of every path and, by number of parts, of every path
	// suffix; −1 where several rows share the suffix.
	row   map[string]int
	paths []string
	ends  map[int]map[string]int
}

// NewEmbeddings takes row i of x (n×d) as the embedding of paths[i] with the
// content hash content[i]. Nothing is copied.
func NewEmbeddings(x blas32.General, paths []string, content [][32]byte) (*Embeddings, error) {
	if len(paths) != x.Rows || len(content) != x.Rows {
		return nil, fmt.Errorf("embeddings: %d rows, %d paths, %d content hashes", x.Rows, len(paths), len(content))
	}
	e := &Embeddings{x: x, content: content, paths: paths, row: make(map[string]int, len(paths)),
		ends: map[int]map[string]int{}}
	for i, p := range paths {
		if _, twice := e.row[p]; twice {
			return nil, fmt.Errorf("embeddings: %s has two rows", p)
		}
		e.row[p] = i
	}
	return e, nil
}

// Dim is the length d of an embedding.
func (e *Embeddings) Dim() int { return e.x.Cols }

var (
	errMissing   = errors.New("has no embedding")
	errAmbiguous = errors.New("matches several embeddings whose paths end in it")
)

// find returns the row of a path: the row with the same path, or the only one
// whose path ends with it.
func (e *Embeddings) find(path string) (int, error) {
	if i, ok := e.row[path]; ok {
		return i, nil
	}
	i, ok := e.ending(strings.Count(path, "/") + 1)[path]
	switch {
	case !ok:
		return 0, errMissing
	case i < 0:
		return 0, errAmbiguous
	}
	return i, nil
}

// Has reports whether an image has an embedding.
func (e *Embeddings) Has(path string) bool {
	_, err := e.find(path)
	return err == nil
}

// ending indexes the paths by their last n parts.
func (e *Embeddings) ending(n int) map[string]int {
	if e.ends[n] != nil {
		return e.ends[n]
	}
	index := make(map[string]int, len(e.paths))
	for i, p := range e.paths {
		end := lastParts(p, n)
		if _, twice := index[end]; twice {
			i = -1
		}
		index[end] = i
	}
	e.ends[n] = index
	return index
}

func lastParts(path string, n int) string {
	at := len(path)
	for range n {
		i := strings.LastIndexByte(path[:at], '/')
		if i < 0 {
			return path
		}
		at = i
	}
	return path[at+1:]
}

func (e *Embeddings) copied(part split) (blas32.General, []string) {
	return dense.Gather32(e.x, part.rows), slices.Clone(part.classes)
}

// gather copies rows into dst, which must be long enough.
func (e *Embeddings) gather(dst []float32, rows []int) blas32.General {
	d := e.x.Cols
	out := blas32.General{Rows: len(rows), Cols: d, Stride: d, Data: dst[:len(rows)*d]}
	for i, r := range rows {
		copy(dense.Row32(out, i), dense.Row32(e.x, r))
	}
	return out
}
