package pldaplus

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

const (
	// logisticSteps stops the regression early, which is half of its
	// regularisation.
	logisticSteps = 12
	logisticDecay = 1e-2 // weight of ½·|w|², relative to the mean loss in nats
	logisticChunk = 2048 // rows processed at a time
	// logisticLimit bounds the multiplications per step: above it there is no
	// regression.
	logisticLimit = 4e10
	historyLength = 10
	armijo        = 1e-4
	maxHalvings   = 30
)

// A logistic is a multinomial logistic regression during training: n whitened
// examples of C classes. It learns for classes that are equally frequent, whatever
// the number of examples of each: while it is trained, the logarithms of the
// frequencies are added to the scores, and the weights need not imply them (logit
// adjustment, Menon et al. 2021, eq. 10).
type logistic struct {
	mul     linalg.Backend
	chunks  []blas32.General // of n×d
	turned  []blas32.General // the same, transposed
	y       []int
	offset  []float64 // of each class: log of its examples / those of the largest
	C, d, n int
}

// logisticFits reports whether a regression of this size is worth training.
func logisticFits(n, d, C int) bool {
	return C > 1 && 4*float64(n)*float64(d)*float64(C) <= logisticLimit
}

// newLogistic takes whitened rows (n×d) and their classes, 0 … C−1; mul
// computes the products.
func newLogistic(mul linalg.Backend, white blas64.General, y []int, C int) *logistic {
	l := &logistic{mul: mul, y: y, offset: logShares(y, C), C: C, d: white.Cols, n: white.Rows}
	for first := 0; first < white.Rows; first += logisticChunk {
		rows := min(logisticChunk, white.Rows-first)
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

// logShares returns the logarithm of the examples of each class, relative to those
// of the largest. Every class has one or more.
func logShares(y []int, C int) []float64 {
	shares := make([]float64, C)
	for _, c := range y {
		shares[c]++
	}
	most := slices.Max(shares)
	for c, n := range shares {
		shares[c] = math.Log(n / most)
	}
	return shares
}

// fit returns the weights (C×(d+1), the constant last) after logisticSteps
// steps of L-BFGS from zero.
func (l *logistic) fit(ctx context.Context) (blas64.General, error) {
	w := make([]float64, l.C*(l.d+1))
	loss, gradient, err := l.loss(ctx, w)
	var history []pair
	for step := 0; err == nil && step < logisticSteps; step++ {
		direction := descent(gradient, history)
		slope := dense.Dot(direction, gradient)
		length := 1.0
		if step == 0 {
			length = 1 / math.Max(math.Sqrt(dense.Dot(gradient, gradient)), 1e-12)
		}
		var next, nextGradient []float64
		var nextLoss float64
		found := false
		for range maxHalvings {
			next = added(w, length, direction)
			if nextLoss, nextGradient, err = l.loss(ctx, next); err != nil {
				return blas64.General{}, err
			}
			if found = nextLoss <= loss+armijo*length*slope; found {
				break
			}
			length /= 2
		}
		if !found {
			break
		}
		history = remembered(history, added(next, -1, w), added(nextGradient, -1, gradient))
		w, loss, gradient = next, nextLoss, nextGradient
	}
	return blas64.General{Rows: l.C, Cols: l.d + 1, Stride: l.d + 1, Data: w}, err
}

// loss returns the mean negative log-likelihood plus weight decay, and its
// gradient.
func (l *logistic) loss(ctx context.Context, w []float64) (float64, []float64, error) {
	weights := dense.New32(l.C, l.d)
	gradient := make([]float64, len(w))
	var loss float64
	for c := range l.C {
		for j, v := range w[c*(l.d+1) : c*(l.d+1)+l.d] {
			weights.Data[c*l.d+j] = float32(v)
			gradient[c*(l.d+1)+j] = logisticDecay * v
			loss += logisticDecay * v * v / 2
		}
	}
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
func (l *logistic) addChunk(gradient []float64, k int, weights blas32.General, w []float64, y []int) (float64, error) {
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
func (l *logistic) residualRow(residual blas32.General, i int, scores []float32, w []float64, y int) float64 {
	largest := math.Inf(-1)
	row := make([]float64, l.C)
	for c, v := range scores {
		row[c] = float64(v) + w[c*(l.d+1)+l.d] + l.offset[c]
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

// A pair is a step and the change of the gradient over it.
type pair struct {
	s, y []float64
	rho  float64
}

func remembered(history []pair, s, y []float64) []pair {
	sy := dense.Dot(s, y)
	if !(sy > 1e-10*dense.Dot(y, y)) {
		return history
	}
	history = append(history, pair{s, y, 1 / sy})
	return history[max(0, len(history)-historyLength):]
}

// descent is the two-loop recursion of L-BFGS.
func descent(gradient []float64, history []pair) []float64 {
	r := slices.Clone(gradient)
	alpha := make([]float64, len(history))
	for i, p := range slices.Backward(history) {
		alpha[i] = p.rho * dense.Dot(p.s, r)
		r = added(r, -alpha[i], p.y)
	}
	if n := len(history); n > 0 {
		p := history[n-1]
		blas64.Scal(1/(p.rho*dense.Dot(p.y, p.y)), dense.Vector(r))
	}
	for i, p := range history {
		r = added(r, alpha[i]-p.rho*dense.Dot(p.y, r), p.s)
	}
	blas64.Scal(-1, dense.Vector(r))
	return r
}

// added returns a + by·b.
func added(a []float64, by float64, b []float64) []float64 {
	out := slices.Clone(a)
	blas64.Axpy(by, dense.Vector(b), dense.Vector(out))
	return out
}
