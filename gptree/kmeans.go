package gptree

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// same is the squared distance up to which two vectors of length 1 differ only by
// rounding.
const same = 1e-28

// maxTries bounds restarts and iterations.
const maxTries = 1 << 20

// KMeansConfig holds the settings of the k-means tree.
type KMeansConfig struct {
	// Seed determines the k-means++ draws.
	Seed uint64 `json:"seed" mapstructure:"seed"`
	// Restarts is the number of k-means runs per split; the run with the smallest
	// spread within its two clusters wins, the first in a tie.
	Restarts int `json:"restarts" mapstructure:"restarts"`
	// MaxIter bounds the iterations of one run.
	MaxIter int `json:"max_iter" mapstructure:"max_iter"`
}

// DefaultKMeansConfig returns the 50 restarts of the official code, of at most
// 300 iterations each.
func DefaultKMeansConfig() KMeansConfig { return KMeansConfig{Restarts: 50, MaxIter: 300} }

// Validate names the field that is out of range.
func (c KMeansConfig) Validate() error {
	return cmp.Or(setting.Int("restarts", c.Restarts, 1, maxTries), setting.Int("max_iter", c.MaxIter, 1, maxTries))
}

// KMeans returns the tree of §3.1. Row c of means (C×d) is the mean of class c;
// the rows are scaled to length 1, and every split is a 2-means clustering seeded
// with k-means++ (Arthur and Vassilvitskii 2007). A value that is not finite is a
// *classifier.NotFiniteError. means is only read.
func KMeans(ctx context.Context, means blas64.General, cfg KMeansConfig) (*Tree, error) {
	cfg = setting.OrDefault(cfg, DefaultKMeansConfig())
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("k-means tree: %w", err)
	}
	x, err := unitRows(means)
	if err != nil {
		return nil, fmt.Errorf("k-means tree: %w", err)
	}
	return build(x.Rows, func(classes []int) ([]bool, error) {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("k-means tree: %w", err)
		}
		return twoMeans(x, classes, cfg), nil
	})
}

// unitRows checks means and returns a copy with rows of length 1. Dividing by
// the largest value first keeps squares from overflowing.
func unitRows(means blas64.General) (blas64.General, error) {
	if err := dense.Valid(means); err != nil {
		return blas64.General{}, err
	}
	if err := checkClasses(means.Rows); err != nil {
		return blas64.General{}, err
	}
	if i := dense.NotFinite(means); i >= 0 {
		return blas64.General{}, &classifier.NotFiniteError{Row: i}
	}
	x := dense.New(means.Rows, means.Cols)
	for i := range x.Rows {
		if largest := floats.Norm(dense.Row(means, i), math.Inf(1)); largest > 0 {
			to := dense.Row(x, i)
			for j, v := range dense.Row(means, i) {
				to[j] = v / largest
			}
			blas64.Scal(1/blas64.Nrm2(dense.Vector(to)), dense.Vector(to))
		}
	}
	return x, nil
}

// centred gathers the rows of some classes and subtracts their mean, which makes
// the assignment of close points accurate enough.
func centred(x blas64.General, classes []int) blas64.General {
	out, mean := dense.Gather(x, classes), make([]float64, x.Cols)
	for i := range classes {
		blas64.Axpy(1/float64(len(classes)), dense.Vector(dense.Row(out, i)), dense.Vector(mean))
	}
	dense.SubtractRow(out, mean)
	return out
}

// twoMeans clusters the rows of some classes. If they are all the same, it
// halves them in order.
func twoMeans(all blas64.General, classes []int, cfg KMeansConfig) []bool {
	if len(classes) == 2 {
		return inOrder(2)
	}
	x := centred(all, classes)
	runs := make([]clustering, cfg.Restarts)
	dense.Parallel(len(runs), func(r int) {
		runs[r] = cluster(x, cfg.MaxIter, random.Stream(cfg.Seed, "gptree/kmeans", append([]int{r}, classes...)...))
	})
	best := clustering{right: inOrder(x.Rows)}
	for _, run := range runs {
		if run.between > best.between {
			best = run
		}
	}
	return best.right
}

// A clustering is the result of one run. between is the spread between the two
// clusters, n_l·n_r/n·‖c_l − c_r‖²: it is largest when the spread within them is
// smallest, and 0 for a run that failed to separate the rows.
type clustering struct {
	right   []bool
	between float64
}

// cluster runs k-means++ and Lloyd's iterations once.
func cluster(x blas64.General, maxIter int, rng *rand.Rand) clustering {
	first := rng.IntN(x.Rows)
	second, ok := farther(x, first, rng)
	if !ok {
		return clustering{}
	}
	l, r := slices.Clone(dense.Row(x, first)), slices.Clone(dense.Row(x, second))
	c := clustering{right: make([]bool, x.Rows)}
	for range maxIter {
		if !assign(c.right, x, l, r) {
			break
		}
		c.between = centre(l, r, x, c.right)
		if c.between == 0 {
			break
		}
	}
	return c
}

// farther draws the second seed with a probability proportional to its
// squared distance from the first. It fails when all rows are the same.
func farther(x blas64.General, first int, rng *rand.Rand) (second int, ok bool) {
	sq := make([]float64, x.Rows)
	for i := range sq {
		if d := dense.SquaredDistance(dense.Row(x, i), dense.Row(x, first)); d > same {
			sq[i] = d
		}
	}
	second = random.Weighted(rng, sq)
	return second, second >= 0
}

// assign assigns every row to the nearer centre, the left one in a tie, and
// reports whether anything changed.
func assign(right []bool, x blas64.General, l, r []float64) bool {
	w := slices.Clone(r)
	blas64.Axpy(-1, dense.Vector(l), dense.Vector(w))
	middle := (dense.Dot(w, l) + dense.Dot(w, r)) / 2
	changed := false
	for i := range right {
		side := dense.Dot(w, dense.Row(x, i)) > middle
		changed = changed || side != right[i]
		right[i] = side
	}
	return changed
}

// centre moves l and r to the means of their rows and returns between.
func centre(l, r []float64, x blas64.General, right []bool) float64 {
	centres, n := [2][]float64{l, r}, [2]float64{}
	clear(l)
	clear(r)
	for i, side := range right {
		k := 0
		if side {
			k = 1
		}
		n[k]++
		blas64.Axpy(1, dense.Vector(dense.Row(x, i)), dense.Vector(centres[k]))
	}
	if n[0] == 0 || n[1] == 0 {
		return 0
	}
	blas64.Scal(1/n[0], dense.Vector(l))
	blas64.Scal(1/n[1], dense.Vector(r))
	return n[0] * n[1] / (n[0] + n[1]) * dense.SquaredDistance(l, r)
}
