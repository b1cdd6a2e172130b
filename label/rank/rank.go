package rank

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/labelnoise"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// An Entry is one image with its score.
type Entry struct {
	Path string
	// Box is the part of the photo that it is, nil for all of it.
	Box *dataset.Box
	// Label is the most probable class, "" without a model, Given the one from the
	// folder or list. Write leaves out the Probability of an image that is novel or
	// has no label.
	Label, Given string
	Probability  float64
	Score        float64
	// Novel reports that the image looks like no known class. Group and
	// DuplicateOf are set by Ranking.Group: the number of its group of such
	// images, from 1, or 0 for none, and the path of the first near-duplicate.
	Novel       bool
	Group       int
	DuplicateOf string

	vector []float32 // until Commit, of those among which it chooses
}

// Lines say what is known of the image: what the model takes it for, and what it was
// given as if that differs.
func (e Entry) Lines() []string {
	var lines []string
	switch {
	case e.Novel:
		lines = append(lines, "none of the classes")
	case e.Label != "":
		lines = append(lines, fmt.Sprintf("%s, %.0f%%", e.Label, 100*e.Probability))
	}
	if e.Given != "" && e.Given != e.Label {
		lines = append(lines, "given as "+e.Given)
	}
	return lines
}

// A Ranking is a label.Sink that ranks images. Its memory is bounded by
// Config.Top (if 0, it grows by one Entry per image), Config.ClusterImages and the
// embeddings of what is set aside.
type Ranking struct {
	// Entries are the images, highest score first, ties by path; complete after
	// Commit.
	Entries []Entry
	// Unlabelled counts images without a known class, which label-error leaves
	// out, Novel those that look like no known class.
	Unlabelled, Novel int

	config  Config
	wrong   float64        // images whose label is expected to be wrong
	known   map[string]int // class → column
	novel   []embedded
	learned func(content model.Hash) []string
	aside   []setAside
	judged  map[model.Hash][]float32 // embeddings of what was learned and is not ranked

	labels labelnoise.Labels // that models judged which had not learned them
}

// An embedded image can be compared with others.
type embedded struct {
	path, given string
	box         *dataset.Box
	content     [sha256.Size]byte
	vector      []float32
}

// New returns a Ranking for the rows of a Scorer with the same Config; classes
// are in column order.
func New(c Config, classes []string) (*Ranking, error) {
	c = setting.OrDefault(c, DefaultConfig())
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("rank: %w", err)
	}
	r := &Ranking{config: c, known: make(map[string]int, len(classes))}
	for j, class := range classes {
		r.known[class] = j
	}
	return r, nil
}

// Scorer returns the Scorer that New expects. An image is novel above
// threshold; NaN marks none as novel. The error wraps ErrCannot if
// the method cannot compute the criterion.
func (c Config) Scorer(p *model.Predictor, threshold float64) (label.Scorer, error) {
	s := label.Scorer{Head: p, TopK: 1, Threshold: label.Above(threshold)}
	if c.By != Variance {
		return s, nil
	}
	if _, varier := p.Head.(classifier.Varier); !varier {
		return s, fmt.Errorf("rank by variance: %w; gpr, gptree and gptree-random do. Choose entropy, margin or "+
			"novelty", ErrCannot)
	}
	s.Varier = p
	return s, nil
}

// Put implements label.Sink.
func (r *Ranking) Put(row label.Scored) error {
	p := row.Prediction
	e := Entry{
		Path: row.Sample.Path, Box: row.Sample.Box, Label: p.Label, Given: dataset.EscapePath(row.Sample.Label),
		Probability: p.Probability, Novel: row.Rejected,
	}
	image := embedded{e.Path, e.Given, e.Box, row.Content, row.Embedding}
	switch r.config.By {
	case Entropy:
		e.Score = p.Entropy
	case Margin:
		e.Score = 1 - p.Margin
	case Variance:
		e.Score = row.Variance
	case Novelty:
		e.Score = p.Novelty
	case DoubtMass:
		e.Score = row.Doubt
	case LabelError:
		given, labelled := r.known[e.Given]
		if !labelled {
			r.Unlabelled++
			return nil
		}
		e.Score = Doubt(row.LogProb, given)
		if id, ok := r.learnedAs(image); ok {
			r.aside = append(r.aside, setAside{e, image, id})
			return nil
		}
		r.labels.Add(row.LogProb, given)
	}
	r.add(e, image)
	return nil
}

func (r *Ranking) add(e Entry, image embedded) {
	if r.config.spreads() {
		e.vector = image.vector
	}
	r.Entries = append(r.Entries, e)
	r.wrong += 1 - e.Probability
	if e.Novel {
		r.Novel++
		r.novel = append(r.novel, image)
	}
	r.cut(2)
}

// Doubt returns the score of LabelError from log-probabilities: the log-odds x of the best other
// class against the one in column given, as x/(1+|x|), −1 to 1.
func Doubt(logProb []float64, given int) float64 {
	other := math.Inf(-1)
	for j, v := range logProb {
		if j != given {
			other = max(other, v)
		}
	}
	x := other - logProb[given]
	if math.IsInf(x, 0) {
		return math.Copysign(1, x)
	}
	return x / (1 + math.Abs(x))
}

// cut drops entries that cannot be in the result, once there are slack times as
// many as needed. Of the novel images a random sample remains.
func (r *Ranking) cut(slack int) {
	if most := r.config.candidates(); most > 0 && len(r.Entries) >= slack*most {
		sortEntries(r.Entries)
		r.Entries = shorten(r.Entries, most)
	}
	if len(r.novel) >= slack*r.config.ClusterImages {
		r.novel = drawn(r.novel, r.config.ClusterImages)
	}
}

// drawn returns n of the images, all if there are fewer: a random sample, the same
// in every run, of those with the smallest hashes. They are in the order of their
// content, ties by path.
func drawn(images []embedded, n int) []embedded {
	slices.SortFunc(images, func(a, b embedded) int {
		return cmp.Or(bytes.Compare(a.content[:], b.content[:]), cmp.Compare(a.path, b.path))
	})
	return shorten(images, n)
}

func shorten[T any](s []T, n int) []T {
	n = min(n, len(s))
	clear(s[n:]) // frees the vectors
	return s[:n]
}

func sortEntries(entries []Entry) {
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Path, b.Path))
	})
}

// Commit implements label.Sink: it sorts the entries, and of those that would teach most it
// chooses Config.Top that differ.
func (r *Ranking) Commit(embedding.Outcome) error {
	r.finish()
	var err error
	if r.config.spreads() {
		// Among the others typical images would be chosen that the model knows.
		r.Entries = shorten(r.Entries, max(r.config.Top, int(r.wrong)))
		err = r.spread()
	}
	for i := range r.Entries {
		r.Entries[i].vector = nil
	}
	return err
}

// spread chooses a typical one of each of Config.Top clusters of the entries. O(n·Top·d).
func (r *Ranking) spread() error {
	if len(r.Entries) <= r.config.Top {
		return nil
	}
	x := dense.New32(len(r.Entries), len(r.Entries[0].vector))
	for i, e := range r.Entries {
		copy(dense.Row32(x, i), e.vector)
	}
	chosen, err := typical(context.Background(), x, r.config.Top, 1, 0)
	if err != nil {
		return fmt.Errorf("rank by %s: %w", r.config.By, err)
	}
	entries := make([]Entry, len(chosen))
	for k, one := range chosen {
		entries[k] = r.Entries[one.row]
	}
	sortEntries(entries)
	r.Entries = entries
	return nil
}

func (r *Ranking) finish() {
	sortEntries(r.Entries)
	r.cut(1)
	slices.SortFunc(r.novel, func(a, b embedded) int { return cmp.Compare(a.path, b.path) })
}

// Abort implements label.Sink.
func (r *Ranking) Abort() {}

// Write writes entries as CSV: path, label, probability, given, score, novel,
// group, duplicate_of (empty for none). The file can serve as a list of images: correct its
// label column and let the model learn it.
func Write(w io.Writer, entries []Entry) error {
	out := csv.NewWriter(w)
	err := out.Write([]string{"path", "label", "probability", "given", "score", "novel", "group", "duplicate_of"})
	for _, e := range entries {
		probability, group := label.Digits(e.Probability), ""
		if e.Novel || e.Label == "" {
			probability = ""
		}
		if e.Group > 0 {
			group = strconv.Itoa(e.Group)
		}
		if err != nil {
			return err
		}
		err = out.Write([]string{
			dataset.SafeCell(dataset.EscapePath(e.Path)), dataset.SafeCell(e.Label), probability,
			dataset.SafeCell(e.Given), label.Digits(e.Score), strconv.FormatBool(e.Novel), group,
			dataset.SafeCell(dataset.EscapePath(e.DuplicateOf)),
		})
	}
	out.Flush()
	return out.Error()
}

// A Criterion is what images are ranked by.
type Criterion string

// The criteria.
const (
	Margin     Criterion = "margin"
	Entropy    Criterion = "entropy"
	Variance   Criterion = "variance"
	Novelty    Criterion = "novelty"
	LabelError Criterion = "label-error"
	// DoubtMass is how many photos an answer would settle, and needs rows that were compared with
	// each other (package adapt).
	DoubtMass Criterion = "doubt"
)

// Criteria lists all of them.
func Criteria() []string {
	return []string{string(Margin), string(Entropy), string(Variance), string(Novelty), string(LabelError),
		string(DoubtMass)}
}

// ErrCannot means that a head cannot compute the criterion.
var ErrCannot = errors.New("the classifier does not provide it")

// Config configures a Ranking.
type Config struct {
	By Criterion `mapstructure:"by" json:"by"`
	// Top is the maximum number of entries, 0 for all.
	Top int `mapstructure:"top" json:"top"`
	// Spread is how many times Top the images are among which Top are chosen that differ, if By
	// is margin, entropy or variance, but at most as many as are probably labelled wrongly;
	// up to 1 those with the highest scores are taken.
	Spread int `mapstructure:"spread" json:"spread"`
	// ClusterImages is the maximum number of images to group or to choose from, of
	// more a random sample, or those with the highest scores.
	ClusterImages int `mapstructure:"cluster_images" json:"cluster_images"`
	// MinGroup is the minimum number of images in a group; those of smaller ones
	// stay ungrouped.
	MinGroup int `mapstructure:"min_group" json:"min_group"`
}

// DefaultConfig returns the configuration that ranks all images by margin, which teaches
// more than images at random, and more than entropy (docs/results/labelling.md).
func DefaultConfig() Config {
	return Config{By: Margin, Spread: 10, ClusterImages: 5000, MinGroup: 3}
}

// candidates is the number of images that are kept, 0 for all.
func (c Config) candidates() int {
	if !c.spreads() {
		return c.Top
	}
	return min(c.Spread*c.Top, c.ClusterImages)
}

// spreads reports whether images are chosen that differ. If there would be hardly a choice
// those with the highest scores are taken.
func (c Config) spreads() bool {
	teaches := c.By == Margin || c.By == Entropy || c.By == Variance
	return teaches && c.Top > 0 && c.Spread > 1 && 2*c.Top <= c.ClusterImages
}

// Validate returns an error that names the field, its value and what is
// allowed.
func (c Config) Validate() error {
	switch {
	case !slices.Contains(Criteria(), string(c.By)):
		return fmt.Errorf("by: %q is not one of %s", string(c.By), strings.Join(Criteria(), ", "))
	case c.Top < 0:
		return fmt.Errorf("top: %d is negative; use 0 for all", c.Top)
	case c.Spread < 0 || c.Spread > 1000:
		return fmt.Errorf("spread: %d is not from 0 to 1000", c.Spread)
	case c.ClusterImages < 1 || c.ClusterImages > 20000:
		return fmt.Errorf("cluster_images: %d is not from 1 to 20000 (memory grows with the square)", c.ClusterImages)
	case c.MinGroup < 1:
		return fmt.Errorf("min_group: %d is not positive", c.MinGroup)
	}
	return nil
}
