package rank

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/model"
)

// A Kind is a group of images that are probably of one class.
type Kind struct {
	Rows []int
	// Apart is by how many nats the images together are more probably a class that nobody has named than any that has
	// a name; 0 for those that are more probably of one that has.
	Apart float64
}

// Kinds groups embeddings x (n×d) of images without a label as Cluster does, and asks of each group whether it is of a
// class that has examples: images that are near the class one by one can be another thing, which their being so near
// each other shows. Near-duplicates follow their first. Examples are embeddings with the names of their classes.
// Cost: as Groups, of all rows.
func Kinds(ctx context.Context, p *model.Predictor, x, examples blas32.General, classes []string) ([]Kind, error) {
	copies, firsts, err := Duplicates(ctx, x)
	if err != nil {
		return nil, err
	}
	all := dense.New32(examples.Rows+len(firsts), x.Cols)
	for i := range examples.Rows {
		copy(dense.Row32(all, i), dense.Row32(examples, i))
	}
	for k, i := range firsts {
		copy(dense.Row32(all, examples.Rows+k), dense.Row32(x, i))
	}
	space, white, err := p.Compare(ctx, all)
	if err != nil {
		return nil, fmt.Errorf("group images: %w", err)
	}
	kinds, err := kindsIn(ctx, space, white, rowsOf(classes))
	if err != nil {
		return nil, fmt.Errorf("group images: %w", err)
	}
	for k := range kinds {
		var rows []int
		for _, row := range kinds[k].Rows {
			first := firsts[row-examples.Rows]
			rows = append(append(rows, first), copies[first]...)
		}
		kinds[k].Rows = rows
	}
	return kinds, nil
}

// rowsOf returns the rows of each class.
func rowsOf(classes []string) (rows [][]int) {
	at := map[string]int{}
	for i, class := range classes {
		c, ok := at[class]
		if !ok {
			c = len(rows)
			at[class], rows = c, append(rows, nil)
		}
		rows[c] = append(rows[c], i)
	}
	return rows
}

// kindsIn groups the rows of z that are of no named class. Rows are whitened in sp.
func kindsIn(ctx context.Context, sp *gauss.Space, z blas64.General, named [][]int) (kinds []Kind, err error) {
	m, err := merged(ctx, sp, z, named)
	if err != nil {
		return nil, err
	}
	for a, rows := range m.members {
		kind := Kind{Rows: rows}
		switch {
		case a < len(named):
			kind.Rows = rows[len(named[a]):] // what has joined the examples
		case rows != nil && len(named) > 0:
			near := float32(-1)
			for c := range named {
				if gain := m.at(a, c); c == 0 || gain > near {
					near = gain
				}
			}
			kind.Apart = max(0, -float64(near))
		}
		if len(kind.Rows) > 0 {
			slices.Sort(kind.Rows)
			kinds = append(kinds, kind)
		}
	}
	slices.SortFunc(kinds, func(a, b Kind) int { return cmp.Compare(a.Rows[0], b.Rows[0]) })
	return kinds, nil
}
