package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/phrase"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/metrics"
	"github.com/seed-90d10d51/pipeline/label/report"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/account"
	"github.com/seed-90d10d51/pipeline/model/advice"
	"github.com/seed-90d10d51/pipeline/model/prior"
	"github.com/seed-90d10d51/pipeline/teach"
)

// An EvalRequest says on what a model is measured. Start from NewEvalRequest.
type EvalRequest struct {
	Model string
	From  Source
	// Settings has the share that may be rejected.
	Settings label.Config
	// Report is the folder of report.html, "" for none. Problems is the file for images that could
	// not be read; "" logs them.
	Report, Problems string
	OldShare         model.OldShare // as in LearnRequest
}

// NewEvalRequest returns a request with the defaults.
func NewEvalRequest(model string, from Source) EvalRequest {
	return EvalRequest{Model: model, From: from, Settings: label.DefaultConfig()}
}

// Evaluated is what Eval returns.
type Evaluated struct {
	*metrics.Report
	// Account is of the images; measured are those that were not learned.
	Account account.Account

	lines lines
}

// WriteJSON writes the report with the account as JSON.
func (e *Evaluated) WriteJSON(w io.Writer) error {
	return json.NewEncoder(w).Encode(struct {
		*metrics.Report
		Account account.Account `json:"account"`
	}{e.Report, e.Account})
}

// Lines say how good the model is, for a person.
func (e *Evaluated) Lines() []string { return e.lines }

// Eval measures a model on labelled images. What a person decided is the class of an image.
func (s *Studio) Eval(ctx context.Context, q EvalRequest) (e *Evaluated, err error) {
	if q.Report != "" && q.From.Features != "" {
		return nil, misuse("{report} shows images, and features have none: give {images}")
	}
	r := s.begin(ctx)
	m, err := r.loadShared(q.Model, q.OldShare)
	if err != nil {
		return nil, err
	}
	if err := WritableFolder(q.Report); err != nil {
		return nil, err
	}
	from := r.inputs(q.From, "")
	in, err := from.open(ctx, m, toTest)
	if err != nil {
		return nil, err
	}
	defer closeInto(in, &err)
	threshold, err := m.Threshold(q.Settings.Reject)
	if err != nil {
		return nil, err
	}
	evaluation, err := label.NewEvaluation(m.Classes(), false)
	if err != nil {
		return nil, err
	}
	evaluation.Learned = learnedBy(m)
	decided, err := newTruths(in, q.Model, m)
	if err == nil && !taught(q.Model) {
		err = in.anyOf(ctx, m.Classes())
	}
	if err != nil {
		return nil, err
	}
	known := &seen{Rows: decided, has: evaluation.Learned, prior: m.Prior}
	rows := &embedding.Labelled{Rows: known}
	scorer := q.Settings.Scorer(m.Predictor, label.Above(threshold), m.Predictor.Calibration)
	scorer.TopK = 3
	count := label.NewCount(m.Predictor.Calibration, m.ClassSizes())
	count.Learned = evaluation.Learned
	pass := label.Pass{Scorer: scorer, Rows: rows, Sinks: []label.Sink{count, evaluation}}
	if q.Report != "" {
		page := report.PageOf(m, r.version)
		page.Title = pageTitle(q.Model, in.root)
		page.Subtitle = "Evaluation; " + page.Subtitle
		sink := r.page(ctx, page, in, q.Report, evaluation, threshold)
		sink.Count = count
		pass.Sinks = append(pass.Sinks, sink)
	}
	outcome, err := pass.Run(ctx)
	from.noteUnlabelled(in, rows, outcome.Skipped)
	if err != nil {
		return nil, err
	}
	known.warn(r.log)
	e = &Evaluated{Account: count.Account()}
	e.Account.Measured = evaluation.Measured()
	decided.tell(&e.lines)
	if e.Report, err = evaluation.Report(); err != nil {
		return nil, err
	}
	e.tell(m, evaluation, q)
	return e, r.problems(outcome.Problems, q.Problems)
}

// tell says how good a model was.
func (e *Evaluated) tell(m *model.Model, of *label.Evaluation, q EvalRequest) {
	l, r := &e.lines, e.Report
	l.add("images             %d of %s", r.N, present(r))
	if r.NLearned > 0 {
		l.add("learned            %d of the images: what follows is too good, and no accuracy on new photos",
			r.NLearned)
	}
	l.add("accuracy           %.1f %%%s", 100*r.Accuracy, tooGood(r))
	if m := e.Account.Measured; m != nil && r.NLearned > 0 {
		l.add("not learned        %.1f %% of %d, between %.0f and %.0f %%", 100*m.Accuracy, m.N, math.Floor(100*m.Low),
			math.Ceil(100*m.High))
	}
	if said := e.Account.Labels(); said != "" {
		l.add("expected           %s", strings.TrimPrefix(said, "expect "))
	}
	l.add("balanced accuracy  %.1f %%%s", 100*r.BalancedAccuracy, tooGood(r))
	l.add("log-likelihood     %.3f nats (negative, mean; 0 is perfect)", r.NLLNats)
	l.add("calibration error  %.3f: probabilities are off by %.1f points on average", r.ECE, 100*r.ECE)
	if r.NoveltyAUROC != nil {
		l.add("unknown classes    AUROC %.3f over %d images (1: the novelty sets all of them apart, 0.5: none)",
			*r.NoveltyAUROC, r.NUnknown)
	}
	if r.NewECE != nil {
		l.add("new or not         probabilities of being new are off by %.1f points on average", 100**r.NewECE)
	}
	if known, unknown := of.Known, of.Unknown; q.Settings.Reject > 0 {
		l.add("rejected           %d of %d known, %d of %d unknown", known.Rejected, known.Rows, unknown.Rejected,
			unknown.Rows)
		if note := advice.Rejected(m, q.Settings.Reject); note != "" {
			l.add("                   %s", note)
		}
	}
	if q.Report != "" {
		l.add("report             %s", filepath.Join(q.Report, reportName))
	}
}

// tooGood says so of a figure over images that the model has learned.
func tooGood(r *metrics.Report) string {
	if r.NLearned == 0 {
		return ""
	}
	return ", learned images included"
}

// anyOf returns an error if no image of the input belongs to one of some classes, before
// any is read.
func (in input) anyOf(ctx context.Context, classes []string) error {
	if in.images == nil {
		return nil
	}
	const most = 3
	var others []string
	for s := range in.images.Samples(ctx) {
		switch {
		case slices.Contains(classes, s.Label):
			return nil
		case s.Label != "" && len(others) < most && !slices.Contains(others, s.Label):
			others = append(others, s.Label)
		}
	}
	if err := ctx.Err(); err != nil || len(others) == 0 { // evaluating says what is wrong
		return err
	}
	return phrase.New("no image is of a class of the model, such as %s: their classes are %s and so on; {class-from} "+
		"says which folder names the class", strings.Join(classes[:min(most, len(classes))], ", "),
		strings.Join(others, ", "))
}

// learnedBy returns a function that reports whether a model has learned a content.
func learnedBy(m *model.Model) func(content [sha256.Size]byte) bool {
	as := m.LearnedAs()
	return func(content [sha256.Size]byte) bool { return len(as(content)) > 0 }
}

// seen counts the rows that a model has learned, and those that its prior was made
// from.
type seen struct {
	embedding.Rows
	has   func(content [sha256.Size]byte) bool
	prior *prior.Prior

	learned, inPrior int
}

// Each is like Rows.Each.
func (s *seen) Each(ctx context.Context, emit func(embedding.Item) error) (embedding.Outcome, error) {
	return s.Rows.Each(ctx, func(item embedding.Item) error {
		if item.Err != nil {
			return emit(item)
		}
		if s.has(item.Hash) {
			s.learned++
		}
		if s.prior != nil {
			s.inPrior += s.prior.Count([]model.Hash{item.Hash}, []model.Hash{embedding.HashRow(item.Vector)})
		}
		return emit(item)
	})
}

func (s *seen) warn(log *slog.Logger) {
	if s.learned > 0 {
		log.Warn("the model has learned some of these images, so that the result is too good; test on others", "images",
			s.learned)
	}
	if s.inPrior > 0 {
		log.Warn("the prior of the model was made from some of these images, so that the result is too good; test on "+
			"others", "images", s.inPrior)
	}
}

// present is "3 classes", or "3 of the 5 classes".
func present(r *metrics.Report) string {
	n, all := 0, len(r.Classes)
	for _, c := range r.PerClass {
		if c.N > 0 {
			n++
		}
	}
	if n < all {
		return fmt.Sprintf("%d of the %d classes", n, all)
	}
	return plural(all, "class", "classes")
}

// truths are rows whose class is what a person decided, whatever their folder says.
type truths struct {
	embedding.Rows
	decided label.Decisions
	// changed counts rows whose class is not that of their folder.
	changed int
}

func newTruths(rows embedding.Rows, file string, m *model.Model) (*truths, error) {
	decided, err := teach.Decided(file, m)
	return &truths{Rows: rows, decided: decided}, err
}

// Each implements embedding.Rows.
func (t *truths) Each(ctx context.Context, emit func(embedding.Item) error) (embedding.Outcome, error) {
	return t.Rows.Each(ctx, func(item embedding.Item) error {
		if d, ok := t.decided.Of(item); ok && item.Err == nil && d.By.Seen() {
			if d.Class != item.Sample.Label {
				t.changed++
			}
			item.Sample.Label = d.Class
		}
		return emit(item)
	})
}

// tell says how many classes a person decided differently from the folder.
func (t *truths) tell(l *lines) {
	if t.changed > 0 {
		l.add("%s of another class than their folder or list says, as a person decided",
			plural(t.changed, "image is", "images are"))
	}
}
