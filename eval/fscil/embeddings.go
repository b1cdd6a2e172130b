package fscil

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

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
	e := &Embeddings{x: x, content: content, paths: paths, row: make(map[string]int, len(paths)), ends: map[int]map[string]int{}}
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
