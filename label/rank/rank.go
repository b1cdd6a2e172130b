package rank

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/model"
)

// An Entry is one image with its score.
type Entry struct {
	Path string
	// Label is the most probable class, Given what the folder or list says.
	Label, Given string
	Probability  float64
	Score        float64
	// Novel says that the image looks like no known class; Group is the group of
	// such images that it belongs to, from 1, 0 for none.
	Novel bool
	Group int
}

// A Ranking takes images one by one. Its memory is bounded by Config.Top (or
// grows by an Entry an image) and Config.ClusterImages.
type Ranking struct {
	config Config
	head   *model.Predictor
	// threshold is the novelty above which an image is novel; NaN when nobody
	// asks.
	threshold float64
	known     map[string]int // class → column
	pending   []embed.Item
	entries   []Entry
	novel     []novel
	// Unlabelled counts images without a class that the model knows, which
	// label-error leaves out.
	Unlabelled int
}

type novel struct {
	path    string
	novelty float64
	vector  []float32
}

// New ranks for a predictor. Images with a novelty above the threshold are kept to
// be grouped; NaN keeps none. The error wraps ErrCannot when its head does
// not know what to rank by.
func New(c Config, head *model.Predictor, threshold float64) (*Ranking, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("rank: %w", err)
	}
	_, varier := head.Head.(classifier.Varier)
	if c.By == Variance && !varier {
		return nil, fmt.Errorf("rank by variance: %w; gpr and gptree do. Choose entropy, margin or novelty", ErrCannot)
	}
	r := &Ranking{config: c, head: head, threshold: threshold, known: map[string]int{}}
	for j, class := range head.Classes() {
		r.known[class] = j
	}
	return r, nil
}

const batchRows = 256

// Add takes an image that has an embedding (length d).
func (r *Ranking) Add(item embed.Item) error {
	if d := r.head.Dim(); len(item.Vector) != d {
		return fmt.Errorf("rank %s: its embedding has %d dimensions, the model %d", item.Sample.Path, len(item.Vector), d)
	}
	if _, labelled := r.known[dataset.EscapePath(item.Sample.Label)]; r.config.By == LabelError && !labelled {
		r.Unlabelled++
		return nil
	}
	r.pending = append(r.pending, item)
	if len(r.pending) < batchRows {
		return nil
	}
	return r.flush()
}

func (r *Ranking) flush() error {
	n := len(r.pending)
	if n == 0 {
		return nil
	}
	d := r.head.Dim()
	x := blas32.General{Rows: n, Cols: d, Stride: d}
	for _, item := range r.pending {
		x.Data = append(x.Data, item.Vector...)
	}
	predictions, err := classifier.Predict(r.head, x, 1)
	if err != nil {
		return fmt.Errorf("rank %s and the %d images after it: %w", r.pending[0].Sample.Path, n-1, err)
	}
	scores, err := r.scores(x, predictions)
	if err != nil {
		return err
	}
	for i, p := range predictions {
		r.keep(r.pending[i], p, scores[i])
	}
	clear(r.pending)
	r.pending = r.pending[:0]
	r.cut(2)
	return nil
}

// scores are those of a batch.
func (r *Ranking) scores(x blas32.General, predictions []classifier.Prediction) ([]float64, error) {
	scores := make([]float64, len(predictions))
	switch r.config.By {
	case Variance:
		return scores, r.head.Variance(scores, x)
	case LabelError:
		return scores, classifier.Batches(r.head, x, func(first int, logProb blas64.General) error {
			for i := range logProb.Rows {
				given := r.known[dataset.EscapePath(r.pending[first+i].Sample.Label)]
				scores[first+i] = doubt(logProb.Data[i*logProb.Stride:i*logProb.Stride+logProb.Cols], given)
			}
			return nil
		})
	}
	for i, p := range predictions {
		switch r.config.By {
		case Entropy:
			scores[i] = p.Entropy
		case Margin:
			scores[i] = 1 - p.Margin
		case Novelty:
			scores[i] = p.Novelty
		}
	}
	return scores, nil
}

// doubt is the probability of the best other class less that of the given one.
func doubt(logProb []float64, given int) float64 {
	best := 0.0
	for j, v := range logProb {
		if j != given {
			best = max(best, math.Exp(v))
		}
	}
	return best - math.Exp(logProb[given])
}

func (r *Ranking) keep(item embed.Item, p classifier.Prediction, score float64) {
	e := Entry{
		Path: item.Sample.Path, Label: p.Label, Given: dataset.EscapePath(item.Sample.Label), Probability: p.Probability,
		Score: score, Novel: p.Novelty > r.threshold, // never above NaN
	}
	r.entries = append(r.entries, e)
	if e.Novel {
		r.novel = append(r.novel, novel{e.Path, p.Novelty, item.Vector})
	}
}

// cut drops what cannot be in the result, once there is slack times as much as
// is kept.
func (r *Ranking) cut(slack int) {
	if r.config.Top > 0 && len(r.entries) >= slack*r.config.Top {
		sortEntries(r.entries)
		r.entries = shorten(r.entries, r.config.Top)
	}
	if len(r.novel) >= slack*r.config.ClusterImages {
		slices.SortFunc(r.novel, func(a, b novel) int {
			return cmp.Or(cmp.Compare(b.novelty, a.novelty), cmp.Compare(a.path, b.path))
		})
		r.novel = shorten(r.novel, r.config.ClusterImages)
	}
}

func shorten[T any](s []T, n int) []T {
	n = min(n, len(s))
	clear(s[n:]) // lets go of the vectors
	return s[:n]
}

func sortEntries(entries []Entry) {
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Path, b.Path))
	})
}

// Finish returns the entries, highest score first, equals by path, with the
// groups of the novel ones; and the paths of each group, the largest group
// first, whether or not they are among the entries.
func (r *Ranking) Finish() ([]Entry, [][]string, error) {
	if err := r.flush(); err != nil {
		return nil, nil, err
	}
	sortEntries(r.entries)
	r.cut(1)
	slices.SortFunc(r.novel, func(a, b novel) int { return cmp.Compare(a.path, b.path) })
	groups, err := r.groups()
	if err != nil {
		return nil, nil, err
	}
	at := map[string]int{}
	for g, paths := range groups {
		for _, path := range paths {
			at[path] = g + 1
		}
	}
	for i := range r.entries {
		r.entries[i].Group = at[r.entries[i].Path]
	}
	return r.entries, groups, nil
}

func (r *Ranking) groups() ([][]string, error) {
	d := r.head.Dim()
	x := blas32.General{Rows: len(r.novel), Cols: d, Stride: d}
	for _, v := range r.novel {
		x.Data = append(x.Data, v.vector...)
	}
	groups, err := Groups(x, r.config.MaxGroups, r.config.MinGroup)
	if err != nil {
		return nil, err
	}
	var paths [][]string
	for _, members := range groups {
		var of []string
		for _, i := range members {
			of = append(of, r.novel[i].path)
		}
		paths = append(paths, of)
	}
	return paths, nil
}
