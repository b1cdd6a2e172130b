package logistic

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

const (
	chunkRows = 2048 // rows processed at a time
	// limit bounds the multiplications per step of what is worth training.
	limit = 4e10
)

// Rows are the examples of a regression: n whitened rows of C classes.
type Rows struct {
	mul     linalg.Backend
	chunks  []blas32.General // of n×d
	turned  []blas32.General // the same, transposed
	y       []int
	C, d, n int
}

// Fits reports whether a regression of this size is worth training.
func Fits(n, d, C int) bool {
	return C > 1 && 4*float64(n)*float64(d)*float64(C) <= limit
}

// NewRows takes whitened rows (n×d) and their classes, 0 … C−1; mul
// computes the products.
func NewRows(mul linalg.Backend, white blas64.General, y []int, C int) *Rows {
	l := &Rows{mul: mul, y: y, C: C, d: white.Cols, n: white.Rows}
	for first := 0; first < white.Rows; first += chunkRows {
		rows := min(chunkRows, white.Rows-first)
		chunk, turned := dense.New32(rows, l.d), dense.New32(l.d, rows)
		for i := range rows {
			for j, v := range white.Data[(first+i)*white.Stride : (first+i)*white.Stride+l.d] {
				chunk.Data[i*l.d+j], turned.Data[j*rows+i] = float32(v), float32(v)
			}
		}
		l.chunks, l.turned = append(l.chunks, chunk), append(l.turned, turned)
	}
	return l
}

// Loss returns the mean negative log-likelihood and its gradient. It takes O(nCd).
func (l *Rows) Loss(ctx context.Context, w []float64) (float64, []float64, error) {
	weights := dense.New32(l.C, l.d)
	gradient := make([]float64, len(w))
	for c := range l.C {
		for j, v := range w[c*(l.d+1) : c*(l.d+1)+l.d] {
			weights.Data[c*l.d+j] = float32(v)
		}
	}
	var loss float64
	first := 0
	for k, chunk := range l.chunks {
		if err := ctx.Err(); err != nil {
			return 0, nil, err
		}
		nll, err := l.addChunk(gradient, k, weights, w, l.y[first:first+chunk.Rows])
		if err != nil {
			return 0, nil, err
		}
		loss += nll / float64(l.n)
		first += chunk.Rows
	}
	return loss, gradient, nil
}

// addChunk adds the gradient of one chunk and returns its loss.
func (l *Rows) addChunk(gradient []float64, k int, weights blas32.General, w []float64, y []int) (float64, error) {
	chunk := l.chunks[k]
	scores := dense.New32(chunk.Rows, l.C)
	if err := l.mul.MulTrans(scores, chunk, weights); err != nil {
		return 0, err
	}
	residual := dense.New32(l.C, chunk.Rows) // p − [c = y], transposed
	losses := make([]float64, chunk.Rows)
	dense.Parallel(chunk.Rows, func(i int) {
		losses[i] = l.residualRow(residual, i, scores.Data[i*l.C:(i+1)*l.C], w, y[i])
	})
	part := dense.New32(l.C, l.d)
	if err := l.mul.MulTrans(part, residual, l.turned[k]); err != nil {
		return 0, err
	}
	for c := range l.C {
		g := gradient[c*(l.d+1) : (c+1)*(l.d+1)]
		for j, v := range part.Data[c*l.d : (c+1)*l.d] {
			g[j] += float64(v) / float64(l.n)
		}
		for _, v := range residual.Data[c*chunk.Rows : (c+1)*chunk.Rows] {
			g[l.d] += float64(v) / float64(l.n)
		}
	}
	var sum float64
	for _, v := range losses {
		sum += v
	}
	return sum, nil
}

// residualRow writes column i of the residuals and returns its loss.
func (l *Rows) residualRow(residual blas32.General, i int, scores []float32, w []float64, y int) float64 {
	largest := math.Inf(-1)
	row := make([]float64, l.C)
	for c, v := range scores {
		row[c] = float64(v) + w[c*(l.d+1)+l.d]
		largest = max(largest, row[c])
	}
	var sum float64
	own := row[y] - largest
	for c := range row {
		row[c] = math.Exp(row[c] - largest)
		sum += row[c]
	}
	for c, p := range row {
		residual.Data[c*residual.Stride+i] = float32(p / sum)
	}
	residual.Data[y*residual.Stride+i] = float32(row[y]/sum - 1)
	return math.Log(sum) - own
}
