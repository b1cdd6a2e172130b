package vargp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Predictor makes predictions with draws of θ and of the functions that are the
// same for all inputs. It is safe for concurrent use.
type Predictor struct {
	m       *Model
	on      linalg.Backend
	draws   []draw
	known   [][]memory  // of each group and task
	noise   [][]float64 // of each θ: functions × heads
	perHead int
}

// A draw is one θ with everything derived from it.
type draw struct {
	theta  []float64
	groups []answering
}

// answering holds a group of heads, prepared for predictions with one θ.
type answering struct {
	z       placed         // n×d
	inverse blas64.General // L⁻¹
	project blas64.General // R⁻ᵀ
	at      []int
}

// A memory is the posterior of one task in a group, in the form that predictions
// need for any θ.
type memory struct {
	mean blas64.General   // H×M
	pack *pack            // S_t of all heads, or nil
	chol []blas64.General // transposed factor of each head, if pack is nil
}

func memoryOf(b block) memory {
	m := memory{mean: b.mean, pack: packOf(b)}
	if m.pack != nil {
		return m
	}
	for _, l := range b.chol {
		m.chol = append(m.chol, dense.Transposed(l))
	}
	return m
}

// Predictor returns a predictor with its draws. It holds 2n² numbers for each of
// Config.PredictHypers draws and each group.
func (m *Model) Predictor() (*Predictor, error) {
	return m.predictor(m.cfg.PredictHypers, m.cfg.PredictFunctions)
}

func (m *Model) predictor(hypers, functions int) (*Predictor, error) {
	if m.tasks == 0 && len(m.groups[0].blocks) == 0 {
		return nil, fmt.Errorf("no task has been learned")
	}
	if m.cfg.Variant == PointHypers {
		hypers, functions = 1, functions*hypers
	}
	p := &Predictor{m: m, on: m.on, draws: make([]draw, hypers), noise: make([][]float64, hypers), perHead: functions}
	for _, g := range m.groups {
		var known []memory
		for _, b := range g.blocks {
			known = append(known, memoryOf(b))
		}
		p.known = append(p.known, known)
	}
	err := dense.ParallelErr(hypers, func(s int) error {
		rng := random.Stream(m.cfg.Seed, "gp/vargp/predict", s)
		d := &p.draws[s]
		d.theta = make([]float64, len(m.mean))
		for i, v := range m.mean {
			d.theta[i] = v
			if m.cfg.Variant != PointHypers {
				d.theta[i] += math.Exp(m.logVar[i]/2) * rng.NormFloat64()
			}
		}
		p.noise[s] = antithetic(functions, len(m.home), rng)
		for _, g := range m.groups {
			a, err := m.answering(d.theta, g)
			if err != nil {
				return err
			}
			d.groups = append(d.groups, a)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// antithetic draws normal numbers whose second half is the first with its sign
// changed, so that the mean of a function is exact.
func antithetic(functions, heads int, rng *rand.Rand) []float64 {
	eps := make([]float64, functions*heads)
	for j := range functions {
		for h := range heads {
			if j%2 == 0 {
				eps[j*heads+h] = rng.NormFloat64()
			} else {
				eps[j*heads+h] = -eps[(j-1)*heads+h]
			}
		}
	}
	return eps
}

func (m *Model) answering(theta []float64, g group) (answering, error) {
	z, sizes := g.all()
	z, err := m.net.apply(m.on, z)
	if err != nil {
		return answering{}, err
	}
	a := answering{z: placedAt(theta, z)}
	l, err := m.factor(theta, a.z)
	if err == nil {
		a.inverse = l
		err = linalg.InvertLower(m.on.Raw(), a.inverse)
	}
	if err != nil {
		return a, fmt.Errorf("kernel of the inducing inputs: %w", err)
	}
	a.project = dense.Transposed(a.inverse)
	at := 0
	for _, n := range sizes {
		a.at = append(a.at, at)
		at += n
	}
	if m.cfg.autoRegressive() {
		// the diagonal blocks of L⁻¹ are the inverses of those of L
		r := dense.New(z.Rows, z.Rows)
		for t, n := range sizes {
			for i := range n {
				copy(dense.Row(r, a.at[t]+i)[a.at[t]:], dense.Row(a.project, a.at[t]+i)[a.at[t]:a.at[t]+n])
			}
		}
		a.project = r
	}
	return a, nil
}

// predictRows is the number of inputs predicted at a time.
const predictRows = 128

// LogProb writes the logarithm of the mean softmax (nats) of the rows of x (n×d)
// into dst (n×H). It takes O(n(Md + M² + HM²)) for each draw of θ, where M counts
// all inducing inputs of a group. Each row is independent of the others.
func (p *Predictor) LogProb(dst, x blas64.General) error {
	if dst.Rows != x.Rows || dst.Cols != len(p.m.home) || x.Rows > 0 && x.Cols != p.m.dim {
		return fmt.Errorf("log-probabilities %d×%d of inputs %d×%d, the model has %d heads and %d dimensions", dst.Rows,
			dst.Cols, x.Rows, x.Cols, len(p.m.home), p.m.dim)
	}
	x, err := p.m.net.apply(p.on, x)
	if err != nil {
		return err
	}
	for first := 0; first < x.Rows; first += predictRows {
		n := min(predictRows, x.Rows-first)
		if err := p.some(dense.Rows(dst, first, first+n), dense.Rows(x, first, first+n)); err != nil {
			return err
		}
	}
	return nil
}

func (p *Predictor) some(dst, x blas64.General) error {
	H := len(p.m.home)
	total := len(p.draws) * p.perHead
	means, variances := make([]blas64.General, len(p.draws)), make([]blas64.General, len(p.draws))
	for s := range p.draws {
		means[s], variances[s] = dense.New(x.Rows, H), dense.New(x.Rows, H)
		if err := p.marginals(means[s], variances[s], x, s); err != nil {
			return err
		}
	}
	dense.Parallel(x.Rows, func(i int) {
		to := dense.Row(dst, i)
		p.mix(to, 0, means, variances, i, addSoftmax)
		if slices.Min(to) > leastSum {
			for h, v := range to {
				to[h] = min(math.Log(v/float64(total)), 0) // rounding can exceed 0
			}
			return
		}
		p.mix(to, math.Inf(-1), means, variances, i, addLogSoftmax)
		for h := range to {
			to[h] = min(to[h]-math.Log(float64(total)), 0)
		}
	})
	return nil
}

// leastSum is the sum of probabilities below which the sum is computed in
// logarithms, so that nothing underflows.
const leastSum = 1e-280

// mix sets to to start and adds the draws of input i.
func (p *Predictor) mix(to []float64, start float64, means, variances []blas64.General, i int,
	add func(to, f []float64)) {
	H := len(to)
	f, sd := make([]float64, H), make([]float64, H)
	for h := range to {
		to[h] = start
	}
	for s := range p.draws {
		mean := dense.Row(means[s], i)
		for h, v := range dense.Row(variances[s], i) {
			sd[h] = math.Sqrt(v)
		}
		for j := range p.perHead {
			for h, e := range p.noise[s][j*H : (j+1)*H] {
				f[h] = mean[h] + sd[h]*e
			}
			add(to, f)
		}
	}
}

// addSoftmax adds softmax f to to and overwrites f.
func addSoftmax(to, f []float64) {
	largest, sum := slices.Max(f), 0.0
	for h, v := range f {
		f[h] = math.Exp(v - largest)
		sum += f[h]
	}
	inverse := 1 / sum
	for h, v := range f {
		to[h] += v * inverse
	}
}

// addLogSoftmax adds softmax f to e^to in logarithms.
func addLogSoftmax(to, f []float64) {
	largest, sum := slices.Max(f), 0.0
	for _, v := range f {
		sum += math.Exp(v - largest)
	}
	l := math.Log(sum)
	for h, v := range f {
		v -= largest
		v -= l
		high, low := max(to[h], v), min(to[h], v)
		to[h] = high + math.Log1p(math.Exp(low-high))
	}
}

// marginals writes the means and variances of the heads at x for draw s of θ,
// n×H.
func (p *Predictor) marginals(mean, variances, x blas64.General, s int) error {
	d := p.draws[s]
	xs, gamma2 := placedAt(d.theta, x), variance(d.theta)
	heads := make([][]int, len(d.groups)) // of each group, in the order of rows
	for h, at := range p.m.home {
		heads[at.group] = append(heads[at.group], h)
	}
	for g, a := range d.groups {
		if err := a.marginals(p.on, mean, variances, xs, gamma2, p.known[g], heads[g]); err != nil {
			return err
		}
	}
	return nil
}

func (a answering) marginals(on linalg.Backend, mean, variances blas64.General, xs placed, gamma2 float64,
	tasks []memory, heads []int) error {
	rows, n := xs.scaled.Rows, a.z.scaled.Rows
	k, w, b := dense.New(rows, n), dense.New(rows, n), dense.New(rows, n)
	if err := on.MulTrans64(k, xs.scaled, a.z.scaled); err != nil {
		return err
	}
	toKernel(k, gamma2, xs, a.z)
	if err := on.MulTrans64(w, k, a.inverse); err != nil {
		return err
	}
	if err := on.MulTrans64(b, w, a.project); err != nil {
		return err
	}
	for i, known := range squares(w) {
		for _, h := range heads {
			dense.Row(mean, i)[h], dense.Row(variances, i)[h] = 0, gamma2-known
		}
	}
	for t, m := range tasks {
		if err := m.add(on, mean, variances, dense.View(b, 0, a.at[t], b.Rows, m.mean.Cols), heads); err != nil {
			return err
		}
	}
	for i := range rows {
		for _, h := range heads {
			v := &dense.Row(variances, i)[h]
			*v = max(*v, leastVariance)
		}
	}
	return nil
}

// add adds the contribution of one task's e_t to means and variances.
func (m memory) add(on linalg.Backend, mean, variances, b blas64.General, heads []int) error {
	means, quad := dense.New(b.Rows, len(heads)), dense.New(b.Rows, len(heads))
	if err := on.MulTrans64(means, b, m.mean); err != nil {
		return err
	}
	if err := m.quadratic(on, quad, b); err != nil {
		return err
	}
	for i := range b.Rows {
		for row, h := range heads {
			dense.Row(mean, i)[h] += dense.Row(means, i)[row]
			dense.Row(variances, i)[h] += dense.Row(quad, i)[row]
		}
	}
	return nil
}

// quadratic writes bᵀ·S_t·b for each row of b and each head into dst.
func (m memory) quadratic(on linalg.Backend, dst, b blas64.General) error {
	if m.pack != nil {
		return m.pack.rowwise(on, dst, b)
	}
	half := dense.New(b.Rows, b.Cols)
	for h, l := range m.chol {
		if err := on.MulTrans64(half, b, l); err != nil {
			return err
		}
		for i, v := range squares(half) {
			dense.Row(dst, i)[h] = v
		}
	}
	return nil
}
