package command

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/metrics"
	"github.com/seed-90d10d51/pipeline/label/report"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/advice"
	"github.com/seed-90d10d51/pipeline/model/prior"
)

func newEval() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "eval MODEL --images DIR | --features FEATDIR",
		Short: "Measure a model on labelled images",
		Long: `Reports accuracy (overall, balanced and per class), confusion, negative
log-likelihood, calibration error and, if some images belong to no class of the
model, how well these are detected. Images without a class are left out. What a person
decided on the page of serve is the class of an image, whatever its folder says.`,
		Example: "  pipeline eval photos.model --images held-out --json=eval.json --report=report",
		Args:    arguments,
		RunE: command(func(ctx context.Context, a *app, args []string) error {
			return a.eval(ctx, args[0])
		}),
	}
	inputFlags(cmd, "images", "list", "features")
	predictionsFlag(cmd)
	boxFlags(cmd)
	backboneFlag(cmd)
	cmd.Flags().Float64("reject", 0, "`share` of photos like those learned that may be rejected as unknown")
	config.Bind(cmd.Flags(), "reject", "label.reject")
	jsonFlag(cmd.Flags(), "write all results as JSON, shares from 0 to 1")
	reportFlag(cmd.Flags(), "report", "write report.html into a folder")
	return cmd
}

func (a *app) eval(ctx context.Context, file string) (err error) {
	if a.report != "" && a.config.Features != "" {
		return usagef("--report shows images, and features have none: give --images")
	}
	m, err := a.loadModel(file)
	if err != nil {
		return err
	}
	if err := writableFolder(a.report); err != nil {
		return err
	}
	in, err := a.inputs().open(ctx, m, toTest)
	if err != nil {
		return err
	}
	defer closeInto(in, &err)
	threshold, err := m.Threshold(a.config.Label.Reject)
	if err != nil {
		return err
	}
	evaluation, err := label.NewEvaluation(m.Classes(), false)
	if err != nil {
		return err
	}
	evaluation.Learned = learnedBy(m)
	decided, err := a.truths(in, file, m)
	if err == nil && !taught(file) {
		err = in.anyOf(ctx, m.Classes())
	}
	if err != nil {
		return err
	}
	known := &seen{Rows: decided, has: evaluation.Learned, prior: m.Prior}
	rows := &embed.Labelled{Rows: known}
	scorer := a.config.Label.Scorer(m.Predictor, label.Above(threshold), m.Predictor.Calibration)
	scorer.TopK = 3
	pass := label.Pass{Scorer: scorer, Rows: rows, Sinks: []label.Sink{evaluation}}
	if a.report != "" {
		page := report.PageOf(m, version)
		page.Title = pageTitle(file, in.root)
		page.Subtitle = "Evaluation; " + page.Subtitle
		pass.Sinks = append(pass.Sinks, a.page(ctx, page, in, evaluation, threshold))
	}
	outcome, err := pass.Run(ctx)
	a.inputs().noteUnlabelled(in, rows, outcome.Skipped)
	if err != nil {
		return err
	}
	known.warn(a.log)
	decided.say(a)
	result, err := evaluation.Report()
	if err != nil {
		return err
	}
	a.sayAll(reportLines(result))
	if known, unknown := evaluation.Known, evaluation.Unknown; a.config.Label.Reject > 0 {
		a.say("rejected           %d of %d known, %d of %d unknown", known.Rejected, known.Rows, unknown.Rejected,
			unknown.Rows)
		if note := advice.Rejected(m, a.config.Label.Reject); note != "" {
			a.say("                   %s", note)
		}
	}
	if a.json != "" {
		if err := a.writeFile(a.json, result.WriteJSON); err != nil {
			return err
		}
	}
	if a.report != "" {
		a.say("report             %s", filepath.Join(a.report, reportName))
	}
	return a.evalProblems(outcome.Problems)
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
	return fmt.Errorf("no image is of a class of the model, such as %s: their classes are %s and so on; --class-from "+
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
	embed.Rows
	has   func(content [sha256.Size]byte) bool
	prior *prior.Prior

	learned, inPrior int
}

// Each is like Rows.Each.
func (s *seen) Each(ctx context.Context, emit func(embed.Item) error) (embed.Outcome, error) {
	return s.Rows.Each(ctx, func(item embed.Item) error {
		if item.Err != nil {
			return emit(item)
		}
		if s.has(item.Hash) {
			s.learned++
		}
		if s.prior != nil {
			s.inPrior += s.prior.Count([]model.Hash{item.Hash}, []model.Hash{embed.HashRow(item.Vector)})
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

// evalProblems writes the images that failed next to the results, or into the
// log if no results are written.
func (a *app) evalProblems(problems []dataset.Problem) error {
	switch {
	case a.report != "":
		return writeProblems(problems, filepath.Join(a.report, "errors.csv"))
	case a.json != "" && a.json != streamed:
		return writeProblems(problems, a.json+".errors.csv")
	}
	return a.logProblems(problems)
}

// logProblems reports the images that failed in the log.
func (a *app) logProblems(problems []dataset.Problem) error {
	for _, p := range problems {
		a.log.Warn("image left out", "path", p.Path, "error", p.Err)
	}
	return partial(len(problems), "the log")
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

// tooGood says so of a figure over images that the model has learned.
func tooGood(r *metrics.Report) string {
	if r.NLearned == 0 {
		return ""
	}
	return ", learned images included"
}

// reportLines say how good a model was.
func reportLines(r *metrics.Report) (l lines) {
	l.add("images             %d of %s", r.N, present(r))
	if r.NLearned > 0 {
		l.add("learned            %d of the images: what follows is too good, and no accuracy on new photos",
			r.NLearned)
	}
	l.add("accuracy           %.1f %%%s", 100*r.Accuracy, tooGood(r))
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
	return l
}
