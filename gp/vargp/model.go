package vargp

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/vargp/internal/autodiff"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Model is the posterior of a set of functions ("heads") after a number of
// tasks. It is safe for concurrent use while nothing changes it.
type Model struct {
	cfg Config
	dim int
	hyper
	net    network
	groups []group
	home   []place // of each head
	tasks  int
	on     linalg.Backend // of large products
}

// hyper is q(θ), θ = (log γ, log σ_1 … log σ_d): mean-field Gaussian.
type hyper struct{ mean, logVar []float64 }

// A group is a set of heads with the same inducing inputs.
type group struct{ blocks []block }

// A block holds the inducing inputs of one task and q(u_t | u_<t) of each head
// of the group.
type block struct {
	z    blas64.General   // M×d
	mean blas64.General   // H×M, m_t
	chol []blas64.General // H of M×M, S_t = chol·cholᵀ
}

// A place is the group of a head and its row in the group.
type place struct{ group, row int }

// initialLogVar is the log-variance of log-hyper-parameters before training: a
// standard deviation of e⁻².
const initialLogVar = -4

// New returns a model of the given number of heads that has learned no task.
// Length-scales start at lengthscale and γ at 1, in the units of the inputs or,
// if there is a network, of its outputs.
func New(cfg Config, dim, heads int, lengthscale float64) (*Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if dim < 1 || heads < 1 {
		return nil, fmt.Errorf("%d heads of %d dimensions", heads, dim)
	}
	if !(lengthscale > 0) || math.IsInf(lengthscale, 0) {
		return nil, fmt.Errorf("lengthscale: %g is not positive", lengthscale)
	}
	kernelDim := dim
	if n := len(cfg.Network); n > 0 {
		kernelDim = cfg.Network[n-1]
	}
	m := &Model{cfg: cfg, dim: dim, net: newNetwork(dim, cfg.Network, cfg.Seed), on: linalg.Backend{}}
	m.hyper = hyper{make([]float64, 1+kernelDim), slices.Repeat([]float64{initialLogVar}, 1+kernelDim)}
	m.startAt(lengthscale)
	for h := range heads {
		if h == 0 || cfg.OwnInputs {
			m.groups = append(m.groups, group{})
		}
		m.home = append(m.home, place{len(m.groups) - 1, 0})
	}
	m.number()
	return m, nil
}

// startAt sets all length-scales.
func (m *Model) startAt(lengthscale float64) {
	for i := range m.mean[1:] {
		m.mean[1+i] = math.Log(lengthscale)
	}
}

// StartAt sets γ and all length-scales, and the standard deviation of their
// logarithms. It is meant for a model that has learned no task.
func (m *Model) StartAt(gamma, lengthscale, sd float64) {
	m.startAt(lengthscale)
	m.mean[0] = math.Log(gamma)
	for i := range m.logVar {
		m.logVar[i] = 2 * math.Log(sd)
	}
}

// StartAtSpread sets all length-scales to the spread (linalg.Spread64) of the
// network's outputs for x (n×d), or of x itself without a network. It is meant
// for a model that has learned no task.
func (m *Model) StartAtSpread(x blas64.General) error {
	z, err := m.net.apply(m.on, x)
	if err == nil {
		m.startAt(linalg.Spread64(z))
	}
	return err
}

// number assigns rows to the heads of each group, in order.
func (m *Model) number() {
	next := make([]int, len(m.groups))
	for h := range m.home {
		g := m.home[h].group
		m.home[h].row = next[g]
		next[g]++
	}
}

// Heads returns the number of functions.
func (m *Model) Heads() int { return len(m.home) }

// Dim returns d.
func (m *Model) Dim() int { return m.dim }

// Tasks returns the number of tasks learned.
func (m *Model) Tasks() int { return m.tasks }

// Groups returns the number of sets of inducing inputs that a task has: one, or
// one per head with Config.OwnInputs.
func (m *Model) Groups() int { return len(m.groups) }

// On returns a model that computes large products on the given backend instead of
// gonum and shares everything else with m.
func (m *Model) On(on linalg.Backend) *Model {
	c := *m
	c.on = on
	return &c
}

// graph returns an empty graph.
func (m *Model) graph() *autodiff.Graph {
	raw := m.on.Raw()
	if _, ok := raw.(linalg.Gonum); ok {
		raw = nil
	}
	return &autodiff.Graph{Products: raw}
}

// Inputs returns the inducing inputs of a group, task by task (M×d each). The
// caller must not change them.
func (m *Model) Inputs(g int) []blas64.General {
	var out []blas64.General
	for _, b := range m.groups[g].blocks {
		out = append(out, b.z)
	}
	return out
}

// Hypers returns the mean and standard deviation of log γ and of the log
// length-scales.
func (m *Model) Hypers() (mean, sd []float64) {
	sd = make([]float64, len(m.logVar))
	for i, v := range m.logVar {
		if m.cfg.Variant != PointHypers {
			sd[i] = math.Exp(v / 2)
		}
	}
	return slices.Clone(m.mean), sd
}

// Clone returns a copy that can be changed independently.
func (m *Model) Clone() *Model {
	c := *m
	c.mean, c.logVar, c.home = slices.Clone(m.mean), slices.Clone(m.logVar), slices.Clone(m.home)
	c.groups, c.net = nil, m.net.clone()
	for _, g := range m.groups {
		c.groups = append(c.groups, g.clone())
	}
	return &c
}

func (g group) clone() group {
	var c group
	for _, b := range g.blocks {
		to := block{z: dense.Clone(b.z), mean: dense.Clone(b.mean)}
		for _, l := range b.chol {
			to.chol = append(to.chol, dense.Clone(l))
		}
		c.blocks = append(c.blocks, to)
	}
	return c
}

// Split adds a copy of the given head and returns its number.
func (m *Model) Split(head int) int {
	from := m.home[head]
	if m.cfg.OwnInputs {
		m.groups = append(m.groups, m.groups[from.group].clone())
		m.home = append(m.home, place{len(m.groups) - 1, 0})
		return len(m.home) - 1
	}
	for t := range m.groups[from.group].blocks {
		b := &m.groups[from.group].blocks[t]
		b.mean = stacked(b.mean, dense.Rows(b.mean, from.row, from.row+1))
		b.chol = append(b.chol, dense.Clone(b.chol[from.row]))
	}
	m.home = append(m.home, place{from.group, 0})
	m.number()
	return len(m.home) - 1
}

func stacked(a, b blas64.General) blas64.General {
	out := dense.New(a.Rows+b.Rows, a.Cols)
	dense.Copy(out, a)
	dense.Copy(dense.Rows(out, a.Rows, out.Rows), b)
	return out
}

// headsOf returns the number of heads of each group.
func (m *Model) headsOf() []int {
	n := make([]int, len(m.groups))
	for _, p := range m.home {
		n[p.group]++
	}
	return n
}

// rows returns the row of each head in the stacked heads of all groups.
func (m *Model) rows() []int {
	first := make([]int, len(m.groups))
	for g, n := range m.headsOf() {
		if g+1 < len(first) {
			first[g+1] = first[g] + n
		}
	}
	out := make([]int, len(m.home))
	for h, p := range m.home {
		out[h] = first[p.group] + p.row
	}
	return out
}

// all returns the inducing inputs of all tasks (n×d) and the number in each.
func (g group) all() (z blas64.General, sizes []int) {
	for t, b := range g.blocks {
		if t == 0 {
			z = dense.Clone(b.z)
		} else {
			z = stacked(z, b.z)
		}
		sizes = append(sizes, b.z.Rows)
	}
	return z, sizes
}
