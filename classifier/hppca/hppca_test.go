package hppca_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/hppca"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// world returns n examples of each of k classes that form groups.
func world(k, groups, n, d int, seed uint64) (blas32.General, []string) {
	x := blas32.General{Rows: k * n, Cols: d, Stride: d, Data: make([]float32, 0, k*n*d)}
	var y []string
	rng := rand.New(rand.NewPCG(seed, 1))
	for c := range k {
		group, own := rand.New(rand.NewPCG(77, uint64(c%groups))), rand.New(rand.NewPCG(78, uint64(c)))
		mean := make([]float64, d)
		for j := range mean {
			mean[j] = 2*group.NormFloat64() + own.NormFloat64()
		}
		for range n {
			for j := range d {
				x.Data = append(x.Data, float32(mean[j]+rng.NormFloat64()/float64(1+(j+c)%4)))
			}
			y = append(y, fmt.Sprintf("c%03d", c))
		}
	}
	return x, y
}

func learned(t testing.TB, cfg hppca.Config, x blas32.General, y []string) *hppca.HPPCA {
	t.Helper()
	h := must.Get(hppca.New(cfg))(t)
	learn(t, h, x, y)
	return h
}

func learn(t testing.TB, h classifier.Learner, x blas32.General, y []string) {
	t.Helper()
	must.Do(t, h.Learn(context.Background(), x, y))
}

// TestAllVisitedIsPPCA checks that with T = S every class is visited and the
// results are those of the flat head, up to the precision of float32 products.
func TestAllVisitedIsPPCA(t *testing.T) {
	const tolerance = 1e-4
	for _, d := range []int{10, 32} {
		x, y := world(17, 4, 9, d, 1)
		queries, _ := world(17, 4, 2, d, 2)
		for _, logDet := range []bool{true, false} {
			for _, levels := range []int{2, 3} {
				flat := must.Get(ppca.New(ppca.Config{
					Preset: ppca.PresetDefault, Q: 5, Lambda: 0.01, LogDet: &logDet,
				}))(t)
				learn(t, flat, x, y)
				h := learned(t, config(func(c *hppca.Config) {
					c.Q, c.S, c.T, c.Levels, c.LogDet = 5, 6, 6, levels, &logDet
				}), x, y)
				got, want := classifiertest.LogProb(t, h, queries), classifiertest.LogProb(t, flat, queries)
				for i, v := range want.Data {
					if math.Abs(got.Data[i]-v) > tolerance*(1+math.Abs(v)) {
						t.Fatalf("d=%d levels=%d logdet=%v: %g, flat %g", d, levels, logDet, got.Data[i], v)
					}
				}
				a, b := make([]float64, queries.Rows), make([]float64, queries.Rows)
				must.Do(t, errors.Join(h.Score(dense.New(len(a), len(h.Classes())), a, queries),
					flat.Score(dense.New(len(b), len(flat.Classes())), b, queries)))
				for i := range a {
					if math.Abs(a[i]-b[i]) > tolerance*(1+math.Abs(b[i])) {
						t.Errorf("novelty %g, flat %g", a[i], b[i])
					}
				}
			}
		}
	}
}

// TestTheDecisionIsThatOfTheVisits checks that the most probable class is the
// best of the visited ones, even if a super-class scores higher than all of its
// classes, and that every class has a probability.
func TestTheDecisionIsThatOfTheVisits(t *testing.T) {
	x, y := world(30, 5, 6, 12, 1)
	near, _ := world(30, 5, 1, 12, 2)
	far := blas32.General{Rows: 40, Cols: 12, Stride: 12, Data: make([]float32, 480)}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range far.Data {
		far.Data[i] = float32(4 * rng.NormFloat64())
	}
	for _, cfg := range []hppca.Config{
		config(func(c *hppca.Config) { c.S, c.T = 6, 1 }),
		config(func(c *hppca.Config) { c.S, c.T = 30, 1 }),
		config(func(c *hppca.Config) { c.S, c.T, c.LogDet = 6, 2, new(false) }),
		config(func(c *hppca.Config) { c.S, c.T, c.Levels = 9, 2, 3 }),
	} {
		h := learned(t, cfg, x, y)
		for _, q := range []blas32.General{near, far} {
			visits := must.Get(h.Visits(q))(t)
			lp := classifiertest.LogProb(t, h, q)
			for i, v := range visits {
				row := lp.Data[i*lp.Stride : i*lp.Stride+lp.Cols]
				if best := slices.Index(row, slices.Max(row)); best != v.Column {
					t.Errorf("%+v: row %d: most probable is class %d, of the visited ones %d", cfg, i, best, v.Column)
				}
				if math.Abs(classifier.LogSumExp(row)) > 1e-9 || math.IsInf(slices.Min(row), 0) {
					t.Errorf("row %d sums to exp(%g), least %g", i, classifier.LogSumExp(row), slices.Min(row))
				}
			}
		}
	}
}

// TestVisitsCountWhatWasScored checks that Neurons counts S super-classes and
// the classes below those visited (eq. 5.1).
func TestVisitsCountWhatWasScored(t *testing.T) {
	x, y := world(20, 4, 5, 8, 1)
	for T := 1; T <= 4; T++ {
		h := learned(t, config(func(c *hppca.Config) { c.S, c.T = 4, T }), x, y)
		size := make([]int, h.Supers())
		for _, c := range h.Classes() {
			s := must.Get(h.SuperClass(c))(t)
			size[s]++
		}
		visits := must.Get(h.Visits(x))(t)
		for _, v := range visits {
			want := h.Supers()
			for _, s := range v.Supers {
				want += size[s]
			}
			if v.Neurons != want || len(v.Supers) != T {
				t.Fatalf("T=%d: %+v, want %d neurons", T, v, want)
			}
		}
	}
}

// TestGapVisitsFewerWhereItIsClear.
func TestGapVisitsFewerWhereItIsClear(t *testing.T) {
	x, y := world(20, 4, 5, 8, 1)
	all := learned(t, config(func(c *hppca.Config) { c.S, c.T = 4, 4 }), x, y)
	mean := func(gap float64) (supers float64) {
		cfg := config(func(c *hppca.Config) { c.S, c.T, c.Gap = 4, 4, gap })
		h := must.Get(all.Regroup(context.Background(), cfg))(t)
		visits := must.Get(h.Visits(x))(t)
		for _, v := range visits {
			supers += float64(len(v.Supers)) / float64(len(visits))
		}
		return supers
	}
	none, narrow, wide, infinite := mean(1e-9), mean(5), mean(50), mean(1e9)
	if math.Abs(none-1) > 1e-9 || !(narrow >= none && wide > narrow) || math.Abs(infinite-4) > 1e-9 {
		t.Errorf("visited %g, %g, %g, %g", none, narrow, wide, infinite)
	}
}

// TestRefreshIsLearningAtOnce checks that the order of sessions does not matter
// after a refresh, also for a loaded model.
func TestRefreshIsLearningAtOnce(t *testing.T) {
	x, y := world(18, 4, 6, 12, 1)
	cfg := config(func(c *hppca.Config) { c.T, c.Q = 1, 4 })
	once := learned(t, cfg, x, y)
	h := learned(t, cfg, dense.Rows32(x, 60, 108), y[60:])
	learn(t, h, dense.Rows32(x, 0, 60), y[:60])
	state := must.Get(h.Save())(t)
	back := must.Get(hppca.Load(state))(t)
	for _, head := range []*hppca.HPPCA{h, back} {
		must.Do(t, head.Refresh(context.Background()))
		a, b := classifiertest.LogProb(t, head, x), classifiertest.LogProb(t, once, x)
		for i := range a.Rows {
			for j, c := range head.Classes() {
				v, w := a.Data[i*a.Stride+j], b.Data[i*b.Stride+slices.Index(once.Classes(), c)]
				if math.Abs(v-w) > 1e-6*(1+math.Abs(w)) {
					t.Fatalf("log p(%s | %d) = %g, at once %g", c, i, v, w)
				}
			}
		}
	}
	raw := learned(t, config(func(c *hppca.Config) { c.Cluster = hppca.ClusterRaw }), x, y)
	if err := raw.Refresh(context.Background()); !errors.Is(err, classifier.ErrUnsupported) {
		t.Errorf("raw: %v", err)
	}
}

func TestRegroup(t *testing.T) {
	x, y := world(18, 4, 6, 12, 1)
	cfg := config(func(c *hppca.Config) { c.S, c.T = 4, 1 })
	h := learned(t, cfg, x, y)
	for name, change := range map[string]func(*hppca.Config){
		"visits": func(c *hppca.Config) { c.T, c.LogDet = 3, new(false) },
		"supers": func(c *hppca.Config) { c.S, c.R, c.SeedDistance, c.Seed = 6, 2, hppca.SeedMean, 5 },
		"levels": func(c *hppca.Config) { c.S, c.Levels = 9, 3 },
		"preset": func(c *hppca.Config) { c.Preset, c.Normalize = hppca.PresetPaper, new(true) },
	} {
		other := cfg
		change(&other)
		got := must.Get(h.Regroup(context.Background(), other))(t)
		if want := learned(t, other, x, y); !slices.Equal(classifiertest.LogProb(t, got, x).Data,
			classifiertest.LogProb(t, want, x).Data) {
			t.Errorf("%s: differs from a head that learned with these settings", name)
		}
	}
	if !slices.Equal(classifiertest.LogProb(t, h, x).Data, classifiertest.LogProb(t, learned(t, cfg, x, y), x).Data) {
		t.Error("regrouping changed the head")
	}
	for name, change := range map[string]func(*hppca.Config){
		"q": func(c *hppca.Config) { c.Q = 3 }, "lambda": func(c *hppca.Config) { c.Lambda = 1 },
		"normalize": func(c *hppca.Config) { c.Normalize = new(false) },
	} {
		other := cfg
		change(&other)
		if _, err := h.Regroup(context.Background(), other); !errors.Is(err, classifier.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestForgettingEmptiesASuperClass checks that an empty super-class vanishes
// and the others stay.
func TestForgettingEmptiesASuperClass(t *testing.T) {
	x, y := world(12, 4, 6, 12, 1)
	h := learned(t, config(func(c *hppca.Config) { c.S, c.T, c.Levels = 6, 1, 3 }), x, y)
	for left := len(h.Classes()); left > 1; left-- {
		before := h.Supers()
		alone := map[int]int{}
		for _, c := range h.Classes() {
			s := must.Get(h.SuperClass(c))(t)
			alone[s]++
		}
		gone, _ := h.SuperClass(h.Classes()[0])
		must.Do(t, h.Forget(h.Classes()[0]))
		want := before
		if alone[gone] == 1 {
			want--
		}
		if h.Supers() != want {
			t.Errorf("%d super-classes, want %d", h.Supers(), want)
		}
		classifiertest.LogProb(t, h, x)
	}
	if _, err := h.SuperClass("yak"); !errors.Is(err, classifier.ErrUnknownClass) {
		t.Error(err)
	}
}

// TestHierarchyFindsTheGroups checks that classes of one group, and no others,
// share a super-class, for each way of clustering and any seed. The groups are so
// far apart that k-means++ draws a seed from each; where they are only twice as
// far apart as their classes, as in world, half of its runs miss one.
func TestHierarchyFindsTheGroups(t *testing.T) {
	x, y := world(24, 4, 8, 32, 1)
	for i, class := range y {
		k, _ := strconv.Atoi(class[1:])
		x.Data[i*x.Stride+k%4] += 1000
	}
	for seed := range uint64(20) {
		for _, cfg := range []hppca.Config{
			config(func(c *hppca.Config) { c.S = 4 }),
			config(func(c *hppca.Config) { c.S, c.SeedDistance = 4, hppca.SeedMean }),
			config(func(c *hppca.Config) { c.S, c.Cluster = 4, hppca.ClusterRaw }),
		} {
			cfg.Seed = seed
			h := learned(t, cfg, x, y)
			of := map[int]int{}
			for i := range 24 {
				s := must.Get(h.SuperClass(fmt.Sprintf("c%03d", i)))(t)
				if known, ok := of[i%4]; ok && known != s {
					t.Errorf("seed %d, %s, %s: group %d is torn apart", seed, cfg.Cluster, cfg.SeedDistance, i%4)
				}
				of[i%4] = s
			}
			if h.Supers() != 4 {
				t.Errorf("seed %d: %d super-classes", seed, h.Supers())
			}
		}
	}
}

func TestValidateNamesTheField(t *testing.T) {
	for field, change := range map[string]func(*hppca.Config){
		"q": func(c *hppca.Config) { c.Q = -1 }, "r": func(c *hppca.Config) { c.R = 1 << 20 },
		"s": func(c *hppca.Config) { c.S = -1 },
		"t": func(c *hppca.Config) { c.T = 0 }, "levels": func(c *hppca.Config) { c.Levels = 1 },
		"max_iter": func(c *hppca.Config) { c.MaxIter = 0 },
		"lambda":   func(c *hppca.Config) { c.Lambda = 0 }, "gap": func(c *hppca.Config) { c.Gap = math.NaN() },
		"cluster":       func(c *hppca.Config) { c.Cluster = "means" },
		"seed_distance": func(c *hppca.Config) { c.SeedDistance = "" },
		"refresh":       func(c *hppca.Config) { c.Refresh, c.Cluster = true, hppca.ClusterRaw },
	} {
		if _, err := hppca.New(config(change)); err == nil || !strings.HasPrefix(err.Error(), field+":") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestStatisticsSwitchedOff(t *testing.T) {
	x, y := world(3, 1, 5, 6, 1)
	h := learned(t, config(func(c *hppca.Config) { c.Statistics = false }), x, y)
	if err := h.Learn(context.Background(), x, y); !errors.Is(err, classifier.ErrNoStatistics) {
		t.Errorf("learn: %v", err)
	}
	if err := h.ForgetSamples(x, y); !errors.Is(err, classifier.ErrNoStatistics) {
		t.Errorf("forget samples: %v", err)
	}
}

func BenchmarkHPPCAScore(b *testing.B) {
	for _, c := range []struct{ k, d, q int }{{100, 640, 20}, {1000, 640, 20}, {1000, 192, 20}, {1000, 640, 5}} {
		x, y := world(c.k, 30, c.q+2, c.d, 1)
		cfg := config(func(h *hppca.Config) { h.Q, h.R, h.Statistics = c.q, c.q, false })
		h := learned(b, cfg, x, y)
		queries, _ := world(c.k, 30, 1, c.d, 2)
		queries = dense.Rows32(queries, 0, min(256, queries.Rows))
		dst := blas64.General{Rows: queries.Rows, Cols: c.k, Stride: c.k, Data: make([]float64, queries.Rows*c.k)}
		for _, T := range []int{1, 4, h.Supers()} {
			cfg.T = T
			head := must.Get(h.Regroup(context.Background(), cfg))(b)
			visits := must.Get(head.Visits(queries))(b)
			neurons := 0
			for _, v := range visits {
				neurons += v.Neurons
			}
			b.Run(fmt.Sprintf("K=%d_S=%d_T=%d_d=%d_q=%d_n=%d", c.k, h.Supers(), T, c.d, c.q, queries.Rows),
				func(b *testing.B) {
					for b.Loop() {
						must.Do(b, head.Score(dst, nil, queries))
					}
					b.ReportMetric(float64(neurons)/float64(len(visits)*c.k), "density")
				})
		}
	}
}

func BenchmarkHPPCAHierarchy(b *testing.B) {
	for _, c := range []struct{ k, d, q int }{{100, 640, 20}, {300, 640, 20}, {1000, 640, 20}, {300, 192, 20},
		{300, 640, 5}} {
		x, y := world(c.k, 30, c.q+2, c.d, 1)
		h := learned(b, config(func(h *hppca.Config) { h.Q, h.R, h.Statistics = c.q, c.q, false }), x, y)
		b.Run(fmt.Sprintf("K=%d_S=%d_d=%d_q=r=%d", c.k, h.Supers(), c.d, c.q), func(b *testing.B) {
			for b.Loop() {
				must.Do(b, h.Refresh(context.Background()))
			}
		})
	}
}
