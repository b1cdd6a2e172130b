package vargp

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// corners are n examples of each of some classes at the corners of a square.
func corners(n int, seed uint64, classes ...int) (x blas64.General, y []int) {
	rng := rand.New(rand.NewPCG(seed, 2))
	x = dense.New(n*len(classes), 2)
	for i := range n {
		for j, c := range classes {
			r := dense.Row(x, i*len(classes)+j)
			r[0], r[1] = 1.5*float64(2*(c%2)-1)+0.4*rng.NormFloat64(), 1.5*float64(2*(c/2)-1)+0.4*rng.NormFloat64()
			y = append(y, c)
		}
	}
	return x, y
}

func quick(v Variant, own bool) Config {
	c := DefaultConfig()
	c.Variant, c.OwnInputs, c.Seed = v, own, 3
	c.Epochs, c.Steps, c.Rate, c.FunctionSamples = 60, 0, 0.05, 5
	return c
}

// task has n examples of classes, and M inducing inputs among them.
func task(m *Model, n, M int, classes ...int) Task {
	x, y := corners(n, 1, classes...)
	t := Task{X: x, Y: y}
	for range m.Groups() {
		t.Inputs = append(t.Inputs, dense.View(x, 0, 0, M, 2))
	}
	return t
}

func learn(t testing.TB, m *Model, task Task) Trace {
	t.Helper()
	return must.Get(m.Learn(context.Background(), task))(t)
}

func accuracy(t testing.TB, m *Model, classes ...int) float64 {
	t.Helper()
	x, y := corners(50, 9, classes...)
	lp := logProb(t, m, x)
	right := 0.0
	for i, c := range y {
		if r := dense.Row(lp, i); slices.Max(r) == r[c] {
			right++
		}
	}
	return right / float64(len(y))
}

func logProb(t testing.TB, m *Model, x blas64.General) blas64.General {
	t.Helper()
	p := must.Get(m.Predictor())(t)
	lp := dense.New(x.Rows, m.Heads())
	must.Do(t, p.LogProb(lp, x))
	return lp
}

func TestLearnsTwoTasks(t *testing.T) {
	for _, own := range []bool{false, true} {
		m := must.Get(New(quick(Full, own), 2, 4, 1))(t)
		first := learn(t, m, task(m, 20, 8, 0, 1))
		if a := accuracy(t, m, 0, 1); a < 0.95 {
			t.Errorf("own %v: first task %g", own, a)
		}
		if a, b := first.Epochs[0].loss(1), first.Epochs[59].loss(1); b >= a {
			t.Errorf("the negative bound went from %g to %g", a, b)
		}
		learn(t, m, task(m, 20, 8, 2, 3))
		if a := accuracy(t, m, 0, 1, 2, 3); a < 0.9 {
			t.Errorf("own %v: both tasks %g", own, a)
		}
		if m.Tasks() != 2 || len(m.Inputs(0)) != 2 {
			t.Errorf("%d tasks, inducing inputs of %d", m.Tasks(), len(m.Inputs(0)))
		}
	}
}

// TestSplitHeadIsItsTwin: a cloned head is the same function as the original, and
// the two then change independently.
func TestSplitHeadIsItsTwin(t *testing.T) {
	if testing.Short() {
		t.Skip("trains in one goroutine")
	}
	each(t, func(t *testing.T, c Config) {
		m, _ := learned(t, c)
		m.tasks++
		twin := m.Split(1)
		q := must.Get(m.predictor(1, 1))(t)
		x := normals(5, 2, 1, 8)
		mean, v := dense.New(5, 4), dense.New(5, 4)
		must.Do(t, q.marginals(mean, v, x, 0))
		for i := range 5 {
			if a, b := dense.Row(mean, i), dense.Row(v, i); a[1] != a[twin] || b[1] != b[twin] {
				t.Errorf("input %d: %v, %v", i, a, b)
			}
		}
		before := m.Snapshot()
		other := m.Clone()
		learn(t, other, func() Task {
			k := task(other, 4, 3, 0, 1, 2, 3)
			k.Progress = func(Epoch) {}
			return k
		}())
		if !reflect.DeepEqual(m.Snapshot(), before) {
			t.Error("learning changed the model that was cloned")
		}
	})
}

func TestSnapshotGoesRoundTrip(t *testing.T) {
	each(t, func(t *testing.T, c Config) {
		m, _ := learned(t, c)
		m.tasks++
		back := must.Get(Restore(c, 2, m.Snapshot()))(t)
		x := normals(4, 2, 1, 8)
		if !reflect.DeepEqual(back.Snapshot(), m.Snapshot()) ||
			!slices.Equal(logProb(t, back, x).Data, logProb(t, m, x).Data) {
			t.Error("another model")
		}
		for name, damage := range map[string]func(*Snapshot){
			"heads": func(s *Snapshot) { s.Group = nil }, "group": func(s *Snapshot) { s.Group[0] = 7 },
			"tasks":  func(s *Snapshot) { s.Tasks = 0 },
			"hypers": func(s *Snapshot) { s.HyperMean[0] = 1e9 },
			"NaN":    func(s *Snapshot) { s.HyperLogVar[0] = math.NaN() },
			"blocks": func(s *Snapshot) { s.Blocks = nil }, "no block": func(s *Snapshot) { s.Blocks[0] = nil },
			"size":     func(s *Snapshot) { s.Blocks[0][0].Size = 0 },
			"z":        func(s *Snapshot) { s.Blocks[0][0].Z[0] = math.Inf(1) },
			"short":    func(s *Snapshot) { s.Blocks[0][0].Chol = s.Blocks[0][0].Chol[1:] },
			"diagonal": func(s *Snapshot) { s.Blocks[0][0].Chol[0] = 0 },
			"upper":    func(s *Snapshot) { s.Blocks[0][0].Chol[1] = 1 },
		} {
			s := m.Snapshot()
			damage(&s)
			if _, err := Restore(c, 2, s); err == nil {
				t.Errorf("%s was accepted", name)
			}
		}
	})
}

func TestSameBitsOnAnyNumberOfCores(t *testing.T) {
	run := func() Snapshot {
		m := must.Get(New(quick(Full, false), 2, 4, 1))(t)
		k := task(m, 20, 8, 0, 1)
		k.ValidX, k.ValidY = corners(5, 4, 0, 1)
		learn(t, m, k)
		return m.Snapshot()
	}
	many := run()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if !reflect.DeepEqual(run(), many) {
		t.Error("one core gives other bits")
	}
}

func TestEarlyStopping(t *testing.T) {
	for _, s := range []Stopping{Best, AsPaper} {
		c := quick(Full, false)
		c.Stopping, c.Patience, c.Epochs, c.Tolerance = s, 5, 200, 0.3
		m := must.Get(New(c, 2, 2, 1))(t)
		k := task(m, 20, 8, 0, 1)
		k.ValidX, k.ValidY = corners(10, 4, 0, 1)
		told := 0
		k.Progress = func(e Epoch) { told = e.Number }
		trace := learn(t, m, k)
		last := len(trace.Epochs)
		if last >= 200 || told != last {
			t.Errorf("%s: %d epochs, reported %d", s, last, told)
		}
		if want := map[Stopping]int{Best: last - 5, AsPaper: last}[s]; trace.Kept != want {
			t.Errorf("%s: kept epoch %d of %d", s, trace.Kept, last)
		}
	}
	c := quick(Full, false)
	c.Steps, c.Batch = 7, 8
	m := must.Get(New(c, 2, 2, 1))(t)
	if trace := learn(t, m, task(m, 20, 8, 0, 1)); len(trace.Epochs) != 2 || trace.Kept != 2 {
		t.Errorf("7 steps of 5 an epoch: %d epochs", len(trace.Epochs))
	}
}

// TestResumes: from any checkpoint, through JSON, training gives the same bits.
func TestResumes(t *testing.T) {
	for _, v := range []Variant{Full, Retrain} {
		fresh := func() (*Model, Task) {
			c := quick(v, false)
			c.Epochs, c.Patience = 14, 6
			m := must.Get(New(c, 2, 4, 1))(t)
			learn(t, m, task(m, 10, 5, 0, 1))
			k := task(m, 10, 5, 2, 3)
			k.ValidX, k.ValidY = corners(5, 4, 2, 3)
			return m, k
		}
		whole, k := fresh()
		var kept [][]byte
		k.SaveEvery, k.Save = 5, func(c Checkpoint) error {
			text, err := json.Marshal(c)
			kept = append(kept, text)
			return err
		}
		trace := learn(t, whole, k)
		if len(kept) < 2 {
			t.Fatalf("%d checkpoints of %d epochs", len(kept), len(trace.Epochs))
		}
		for _, text := range kept {
			var c Checkpoint
			must.Do(t, json.Unmarshal(text, &c))
			m, k := fresh()
			k.Resume = &c
			if got := learn(t, m, k); !reflect.DeepEqual(got, trace) ||
				!reflect.DeepEqual(m.Snapshot(), whole.Snapshot()) {
				t.Errorf("%s: resumed after %d epochs, training gave a different result", v, len(c.Trace.Epochs))
			}
			for name, damage := range map[string]func(*Checkpoint){
				"parameters": func(c *Checkpoint) { c.Parameters = c.Parameters[1:] },
				"NaN":        func(c *Checkpoint) { c.M = append([]float64{math.NaN()}, c.M[1:]...) },
				"variance":   func(c *Checkpoint) { c.V = append([]float64{-1}, c.V[1:]...) },
				"kept":       func(c *Checkpoint) { c.Trace.Kept = 99 }, "steps": func(c *Checkpoint) { c.Steps = -1 },
			} {
				bad := c
				damage(&bad)
				m, k := fresh()
				k.Resume = &bad
				if _, err := m.Learn(context.Background(), k); err == nil {
					t.Errorf("%s was accepted", name)
				}
			}
		}
	}
	m, k := func() (*Model, Task) {
		m := must.Get(New(quick(Full, false), 2, 2, 1))(t)
		return m, task(m, 10, 5, 0, 1)
	}()
	full := errors.New("disk full")
	k.SaveEvery, k.Save = 1, func(Checkpoint) error { return full }
	if _, err := m.Learn(context.Background(), k); !errors.Is(err, full) || m.Tasks() != 0 {
		t.Error(err)
	}
}

func TestRefuses(t *testing.T) {
	m := must.Get(New(quick(Full, true), 2, 2, 1))(t)
	if _, err := m.Predictor(); err == nil {
		t.Error("a model without a task predicts")
	}
	before := m.Snapshot()
	for name, damage := range map[string]func(*Task){
		"no examples": func(k *Task) { k.X.Rows, k.Y = 0, nil }, "labels": func(k *Task) { k.Y = k.Y[1:] },
		"head":   func(k *Task) { k.Y[0] = 2 },
		"groups": func(k *Task) { k.Inputs = k.Inputs[1:] },
		"sizes":  func(k *Task) { k.Inputs[1] = dense.View(k.X, 0, 0, 1, 2) },
		"width":  func(k *Task) { k.X = dense.New(len(k.Y), 3) }, "NaN": func(k *Task) { k.X.Data[3] = math.NaN() },
		"validation": func(k *Task) { k.ValidY = []int{0} }, "stride": func(k *Task) { k.X.Stride = 1 },
		"temperature":    func(k *Task) { k.Temperature = -1 },
		"no temperature": func(k *Task) { k.Temperature = math.NaN() },
	} {
		k := task(m, 3, 2, 0, 1)
		k.Y = slices.Clone(k.Y)
		damage(&k)
		if _, err := m.Learn(context.Background(), k); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Learn(ctx, task(m, 3, 2, 0, 1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if !reflect.DeepEqual(m.Snapshot(), before) {
		t.Error("what was refused changed the model")
	}
	large := quick(Full, false)
	large.PredictHypers = 100
	m = must.Get(New(large, 1, 1, 1))(t)
	for _, n := range []int{maxInputs + 1, 2000} {
		m.groups[0].blocks = []block{{z: dense.New(n, 1)}}
		if m.fits() == nil {
			t.Errorf("%d inducing inputs were accepted", n)
		}
	}
	for name, change := range map[string]func(*Config){
		"variant": func(c *Config) { c.Variant = "x" }, "stopping": func(c *Config) { c.Stopping = "" },
		"start": func(c *Config) { c.Start = "" },
		"beta":  func(c *Config) { c.Beta = -1 }, "jitter": func(c *Config) { c.Jitter = 0 },
		"rate":  func(c *Config) { c.Rate = math.NaN() },
		"batch": func(c *Config) { c.Batch = 0 }, "patience": func(c *Config) { c.Patience = 0 },
	} {
		c := DefaultConfig()
		must.Do(t, c.Validate())
		if change(&c); c.Validate() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	for _, c := range []struct {
		dim, heads  int
		lengthscale float64
	}{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {1, 1, math.Inf(1)}} {
		if _, err := New(DefaultConfig(), c.dim, c.heads, c.lengthscale); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}

// TestYogi: three steps by hand.
func TestYogi(t *testing.T) {
	y := newYogi(0.1, 1)
	p := []float64{1}
	m, v := 1e-6, 1e-6
	want := 1.0
	for k, g := range []float64{2, -0.5, 0.01} {
		y.descend(p, []float64{g})
		m = 0.9*m + 0.1*g
		sign := 0.0
		if v > g*g {
			sign = 1
		} else if v < g*g {
			sign = -1
		}
		v -= 0.001 * sign * g * g
		n := float64(k + 1)
		want -= 0.1 * (m / (1 - math.Pow(0.9, n))) / (math.Sqrt(v/(1-math.Pow(0.999, n))) + 1e-3)
		if math.Abs(p[0]-want) > 1e-14 {
			t.Errorf("step %d: %g, want %g", k+1, p[0], want)
		}
	}
}

// TestPackGoesRoundTrip, softplus at both ends too.
func TestPackGoesRoundTrip(t *testing.T) {
	for _, v := range []float64{1e-8, 1e-3, 1, 29, 31, 1e5} {
		if got := softplus(inverseSoftplus(v)); math.Abs(got-v) > 1e-9*max(v, 1) {
			t.Errorf("%g read back as %g", v, got)
		}
	}
	m, _ := learned(t, testConfig(Retrain, true))
	p := m.pack(0)
	m.unpack(p, 0)
	for i, v := range m.pack(0) {
		if math.Abs(v-p[i]) > 1e-9 {
			t.Errorf("parameter %d: %g, was %g", i, v, p[i])
		}
	}
}

// interrupting cancels the context of a training at one of its products.
type interrupting struct {
	linalg.Kernel
	left   atomic.Int64
	cancel context.CancelFunc
}

func (i *interrupting) count() {
	if i.left.Add(-1) < 0 {
		i.cancel()
	}
}

func (i *interrupting) Mul64(dst, a, b blas64.General) error {
	i.count()
	return i.Kernel.Mul64(dst, a, b)
}

func (i *interrupting) MulPlain64(dst, a, b blas64.General) error {
	i.count()
	return i.Kernel.MulPlain64(dst, a, b)
}

// TestInterruptedSaves: no state is saved after the context was cancelled, at
// whatever product: gonum may have computed parts of it in place of the backend.
func TestInterruptedSaves(t *testing.T) {
	if testing.Short() {
		t.Skip("trains again and again")
	}
	const many = 1 << 40
	saved := func(products int64) (saves int, left int64, err error) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		raw := &interrupting{Kernel: linalg.Gonum{}, cancel: cancel}
		raw.left.Store(products)
		c := quick(Full, false)
		c.Epochs = 3
		m := must.Get(New(c, 2, 4, 1))(t)
		m = m.On(linalg.Until(ctx, linalg.On(linalg.Gonum{}, raw)))
		k := task(m, 60, 60, 0, 1, 2, 3)
		k.ValidX, k.ValidY = corners(40, 2, 0, 1, 2, 3)
		k.SaveEvery, k.Save = 1, func(Checkpoint) error {
			if ctx.Err() != nil {
				t.Errorf("saved although product %d was cancelled", products)
			}
			saves++
			return nil
		}
		_, err = m.Learn(ctx, k)
		return saves, raw.left.Load(), err
	}
	saves, left, err := saved(many)
	products := many - left
	if err != nil || saves != 3 || products < 100 {
		t.Fatalf("%d saves, %d products, %v", saves, products, err)
	}
	for at := int64(0); at < products; at += 5 {
		if _, _, err := saved(at); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at product %d of %d: %v", at, products, err)
		}
	}
}
