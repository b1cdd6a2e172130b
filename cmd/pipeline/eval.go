package main

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/config"
	"github.com/seed-90d10d51/pipeline/eval/metrics"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/model"
)

func newEval() *cobra.Command {
	var jsonFile, reportDir string
	cmd := &cobra.Command{
		Use:   "eval MODEL --images DIR | --features FEATDIR",
		Short: "Measure a model on labelled images",
		Long: `Accuracy, per class and balanced, confusion, negative log-likelihood, calibration
error, and how well unknown classes are told apart when there are any. Images
without a class are left out.`,
		Example: "  pipeline eval photos.model --images held-out --json eval.json --report report",
		Args:    exactly(1),
		RunE: command(func(ctx context.Context, w *workbench, args []string) error {
			return w.eval(ctx, args[0], jsonFile, reportDir)
		}),
	}
	inputFlags(cmd, "images", "list", "features")
	backboneFlag(cmd)
	cmd.Flags().Float64("reject", 0, "`share` of known-class images that may be rejected as unknown")
	config.Bind(cmd.Flags(), "reject", "label.reject")
	cmd.Flags().StringVar(&jsonFile, "json", "", "write all figures to this `file`, fractions from 0 to 1")
	cmd.Flags().StringVar(&reportDir, "report", "", "write report.html into this `folder`")
	return cmd
}

func (w *workbench) eval(ctx context.Context, file, jsonFile, reportDir string) error {
	if reportDir != "" && w.config.Features != "" {
		return usagef("--report shows images; features have none: give --images")
	}
	m, err := w.loadModel(file)
	if err != nil {
		return err
	}
	c, err := w.input(ctx, func() (*eye, error) { return w.eyeOf(m) })
	if err != nil {
		return err
	}
	if c, err = w.labelled(c); err != nil {
		return err
	}
	if err := m.CheckBackbone(c.source()); err != nil {
		return err
	}
	report, novelty, err := evaluate(m.Predictor, c)
	if err != nil {
		return err
	}
	w.sayReport(report)
	if err := w.sayRejected(m, c, novelty); err != nil {
		return err
	}
	if jsonFile != "" {
		if err := writeWhole(jsonFile, func(f *atomicfile.File) error { return report.WriteJSON(f) }); err != nil {
			return err
		}
	}
	if reportDir != "" {
		if err := w.writePage(ctx, reportDir, m, c, report); err != nil {
			return err
		}
	}
	return w.evalProblems(c, jsonFile, reportDir)
}

// evalProblems writes the images that failed to where the results are, or
// else into the log.
func (w *workbench) evalProblems(c collection, jsonFile, reportDir string) error {
	switch {
	case reportDir != "":
		return w.problemsOf(c, filepath.Join(reportDir, "errors.csv"))
	case jsonFile != "":
		return w.problemsOf(c, jsonFile+".errors.csv")
	}
	for _, p := range c.problems {
		w.log.Warn("image left out", "path", p.Path, "error", p.Err)
	}
	return partial(len(c.problems), "the log")
}

// evaluate compares a head with the truth, in batches, and returns the novelty of
// every row.
func evaluate(head classifier.Head, c collection) (*metrics.Report, []float64, error) {
	a, err := metrics.NewAccumulator(head.Classes())
	if err != nil {
		return nil, nil, err
	}
	all := make([]float64, 0, c.X.Rows)
	err = classifier.ScoreBatches(head, c.X, func(first int, logProb blas64.General, novelty []float64) error {
		all = append(all, novelty...)
		return a.Add(c.Labels[first:first+logProb.Rows], logProb, novelty)
	})
	if err != nil {
		return nil, nil, err
	}
	report, err := a.Report()
	return report, all, err
}

// sayRejected says what --reject would turn away.
func (w *workbench) sayRejected(m *model.Model, c collection, novelty []float64) error {
	if w.config.Label.Reject == 0 {
		return nil
	}
	threshold, err := m.Threshold(w.config.Label.Reject)
	if err != nil {
		return err
	}
	unknownness := map[string]int{} // 0 for the classes of the model, 1 for others
	for _, class := range c.Labels {
		unknownness[class] = 1
	}
	for _, class := range m.Classes() {
		unknownness[class] = 0
	}
	var rejected, total [2]int
	for i, v := range novelty {
		unknown := unknownness[c.Labels[i]]
		total[unknown]++
		if v > threshold {
			rejected[unknown]++
		}
	}
	w.say("rejected           %d of %d known, %d of %d unknown", rejected[0], total[0], rejected[1], total[1])
	return nil
}

func (w *workbench) sayReport(r *metrics.Report) {
	w.say("images             %d of %d classes", r.N, len(r.Classes))
	w.say("accuracy           %.1f %%", 100*r.Accuracy)
	w.say("balanced accuracy  %.1f %%", 100*r.BalancedAccuracy)
	w.say("log-likelihood     %.3f nats (negative, mean)", r.NLLNats)
	w.say("calibration error  %.3f", r.ECE)
	if r.NoveltyAUROC != nil {
		w.say("unknown classes    AUROC %.3f over %d images", *r.NoveltyAUROC, r.NUnknown)
	}
}

// writeWhole gives a file its name only when all of it is written.
func writeWhole(file string, write func(*atomicfile.File) error) error {
	f, err := atomicfile.Create(file)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}
