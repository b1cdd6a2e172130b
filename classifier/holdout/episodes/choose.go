package episodes

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// splitValues bounds the embeddings of the splits processed at a time.
const splitValues = 64 << 20

// A Choice is the chosen candidate and the record of why it was chosen.
type Choice[T any] struct {
	Value T `json:"value"`
	// Config says how the pseudo-sessions were drawn.
	Config Config `json:"pseudo_sessions"`
	// Scores holds the scores of the candidates, in their order.
	Scores []Score[T] `json:"scores,omitempty"`
	// LeftOut is the number of examples that were left out, if they were instead
	// of drawing pseudo-sessions; Config is then unused.
	LeftOut int `json:"left_out,omitempty"`
	// Fallback says why Value is the default and there are no scores.
	Fallback string `json:"fallback,omitempty"`
}

// Describe returns what was chosen, in a format of fmt, and how; nothing for nil.
func (c *Choice[T]) Describe(subject, format string) []classifier.Remark {
	var how string
	switch {
	case c == nil:
		return nil
	case c.Fallback != "":
		how = "not chosen: " + c.Fallback
	case c.LeftOut > 0:
		how = fmt.Sprintf("chosen by leaving out %d base images, one at a time", c.LeftOut)
	default:
		how = fmt.Sprintf("chosen by %d pseudo-sessions on the base images", c.Config.Splits)
	}
	return []classifier.Remark{{Subject: subject, Text: fmt.Sprintf(format+" (%s)", c.Value, how)}}
}

// A Score is the result of one candidate.
type Score[T any] struct {
	Candidate T `json:"candidate"`
	// Mean is the mean over the splits of the average of base and novel accuracy,
	// 0 to 1, and SEM its standard error.
	Mean float64 `json:"mean"`
	SEM  float64 `json:"sem"`
	// NLL is the negative log-likelihood of the held-out examples in nats,
	// averaged in the same way.
	NLL float64 `json:"nll"`
}

// A Fit learns what the candidates share from a pseudo-base session (row i of x
// is an example of y[i]), and returns a function that makes a head of one
// candidate, fitted to this session. Fits run concurrently; the candidates of
// one Fit run one after the other.
type Fit[T any] func(ctx context.Context, x blas32.General, y []string) (func(T) (classifier.Learner, error), error)

// Choose returns the best candidate for a base session (row i of x is an
// example of y[i]). The error is a *TooLittleError if there is too little data.
func Choose[T any](ctx context.Context, x blas32.General, y []string, cfg Config, candidates []T,
	fit Fit[T]) (Choice[T], error) {
	if len(candidates) == 0 {
		return Choice[T]{}, errors.New("pseudo-sessions: no candidates")
	}
	results, err := Each(ctx, x, y, cfg, func(ctx context.Context, d Draw) ([]Result, error) {
		return evaluateSplit(ctx, d, candidates, fit)
	})
	if err != nil {
		return Choice[T]{}, err
	}
	return Pick(cfg, candidates, results), nil
}

// Pick applies the selection rule of this package to results measured by the
// caller: results[i][j] is the result of candidate j in split i.
func Pick[T any](cfg Config, candidates []T, results [][]Result) Choice[T] {
	c := Choice[T]{Config: cfg}
	for i, candidate := range candidates {
		c.Scores = append(c.Scores, score(candidate, column(results, i)))
	}
	c.Value = candidates[pick(results, c.Scores)]
	return c
}

// Gain returns by how much candidate a is more accurate than candidate b, and
// the standard error of that difference over the splits, which are paired.
func Gain(results [][]Result, a, b int) (mean, sem float64) {
	gain := make([]float64, len(results))
	for i, r := range results {
		gain[i] = r[a].Accuracy - r[b].Accuracy
	}
	return meanAndError(gain)
}

// NoExamples is the Fallback of a head that learned its base session from
// statistics.
const NoExamples = "the base session was learned from statistics, which have no examples for pseudo-sessions"

// ChooseOr is Choose with a default for base sessions that are too small or
// have no examples; the choice then records the reason.
func ChooseOr[T any](ctx context.Context, x blas32.General, y []string, cfg Config, candidates []T, otherwise T,
	fit Fit[T]) (Choice[T], error) {
	if len(y) == 0 {
		return Choice[T]{Value: otherwise, Config: cfg, Fallback: NoExamples}, nil
	}
	c, err := Choose(ctx, x, y, cfg, candidates, fit)
	var little *TooLittleError
	if errors.As(err, &little) {
		return Choice[T]{Value: otherwise, Config: cfg, Fallback: little.Error()}, nil
	}
	return c, err
}

// A Draw is one pseudo-session: the examples to learn, Base first and then
// Shots, and the held-out examples of both.
type Draw struct {
	Number              int // of the split, from 0
	Base, Shots         Episode
	BaseTest, NovelTest Episode
}

// An Episode holds labelled rows: row i of X (n×d) is an example of class Y[i], of which
// the photo was taken at Taken[i]. Taken may be nil.
type Episode struct {
	X     blas32.General
	Y     []string
	Taken []holdout.Taken
}

// Each calls do with every pseudo-session of a base session (row i of x is an
// example of y[i]), several concurrently, and returns the results in the order
// of the splits; if several fail, the error is that of the first split. The
// error is a *TooLittleError if there is too little data.
func Each[R any](ctx context.Context, x blas32.General, y []string, cfg Config,
	do func(context.Context, Draw) (R, error)) ([]R, error) {
	plan, err := NewPlan(Episode{X: x, Y: y}, cfg)
	if err != nil {
		return nil, err
	}
	return each(ctx, plan, Episode{X: x, Y: y}, do)
}

// each is Each for an existing plan.
func each[R any](ctx context.Context, plan *Plan, s Episode, do func(context.Context, Draw) (R, error)) ([]R, error) {
	results, errs := make([]R, len(plan.Splits)), make([]error, len(plan.Splits))
	var group errgroup.Group
	group.SetLimit(max(1, min(runtime.GOMAXPROCS(0), splitValues/(s.X.Rows*s.X.Cols))))
	for i, split := range plan.Splits {
		group.Go(func() error {
			if errs[i] = ctx.Err(); errs[i] == nil {
				results[i], errs[i] = do(ctx,
					Draw{i, s.Pick(split.Base), s.Pick(split.Shots), s.Pick(split.BaseTest), s.Pick(split.NovelTest)})
			}
			return nil
		})
	}
	_ = group.Wait() // the errors are in errs
	for _, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("pseudo-sessions: %w", err)
		}
	}
	return results, nil
}

// evaluateSplit returns the results of all candidates in one split.
func evaluateSplit[T any](ctx context.Context, d Draw, candidates []T, fit Fit[T]) ([]Result, error) {
	finish, err := fit(ctx, d.Base.X, d.Base.Y)
	if err != nil {
		return nil, err
	}
	results := make([]Result, len(candidates))
	for i, candidate := range candidates {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		head, err := finish(candidate)
		if err == nil {
			err = head.Learn(ctx, d.Shots.X, d.Shots.Y)
		}
		if err == nil {
			results[i], err = both(head, d.BaseTest, d.NovelTest)
		}
		if err != nil {
			return nil, fmt.Errorf("candidate %v: %w", candidate, err)
		}
	}
	return results, nil
}

// TakenAt returns when and with which camera the photo of a row was taken.
func (s Episode) TakenAt(row int) (t holdout.Taken) {
	if s.Taken != nil {
		t = s.Taken[row]
	}
	return t
}

// Pick returns the given rows.
func (s Episode) Pick(rows []int) Episode {
	out := Episode{X: dense.Gather32(s.X, rows)}
	for _, r := range rows {
		out.Y = append(out.Y, s.Y[r])
		if s.Taken != nil {
			out.Taken = append(out.Taken, s.Taken[r])
		}
	}
	return out
}

// column returns the results of one candidate.
func column(results [][]Result, candidate int) []Result {
	out := make([]Result, len(results))
	for i := range results {
		out[i] = results[i][candidate]
	}
	return out
}

// Valid returns an error unless a recorded choice of numbers is consistent and
// its value and candidates pass the check.
func Valid[T comparable](c Choice[T], check func(T) error) error {
	if err := check(c.Value); err != nil {
		return fmt.Errorf("value: %w", err)
	}
	if c.Fallback != "" && len(c.Scores) > 0 {
		return errors.New("a fallback with scores")
	}
	if c.Fallback == "" && !slices.ContainsFunc(c.Scores, func(s Score[T]) bool { return s.Candidate == c.Value }) {
		return errors.New("the value is none of the candidates")
	}
	return nil
}

// CheckSaved returns an error unless a saved choice of the named setting
// matches the configuration: if the setting is auto there must be a choice, and
// it must be Valid; otherwise there must be none.
func CheckSaved[T comparable](setting string, auto bool, c *Choice[T], check func(T) error) error {
	if auto != (c != nil) {
		return fmt.Errorf("%s in the configuration does not match the recorded choice", setting)
	}
	if c == nil {
		return nil
	}
	if err := Valid(*c, check); err != nil {
		return fmt.Errorf("choice of %s: %w", setting, err)
	}
	return nil
}
