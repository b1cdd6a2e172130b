package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/internal/demo"
)

func newDemo() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo [--out DIR]",
		Short: "Draw images, learn, label and report, offline",
		Long: `Draws a small image folder, trains on twelve base classes, learns four new ones from
five images each, labels a folder of photos, some of which show things that it was never
taught, says how many were right and how many rejected, and writes an HTML report.`,
		Example: "  pipeline demo --out demo",
		Args:    arguments,
		RunE:    command(func(ctx context.Context, a *app, _ []string) error { return a.demo(ctx) }),
	}
	outFlag(cmd, "`folder` for images, model, labels and report (default: pipeline-demo)")
	return cmd
}

// demo prints and runs the commands that a user would type.
func (a *app) demo(ctx context.Context) error {
	start := time.Now()
	dir := a.config.Out
	if dir == "" {
		dir = "pipeline-demo"
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	a.say("drawing images into %s", filepath.Join(dir, "images"))
	set, err := demo.Generate(ctx, filepath.Join(dir, "images"), a.config.Seed)
	if err != nil {
		return err
	}
	for _, step := range demoSteps(ctx, dir, set) {
		if err := a.demoStep(step); err != nil {
			return err
		}
	}
	n, err := set.Check(filepath.Join(dir, "labels", "labels.csv"))
	if err != nil {
		return err
	}
	a.say("\nOf %d photos of things that it was taught, it labels %d correctly (%.1f %%) and rejects %d as unknown.",
		n.Known, n.Right, 100*float64(n.Right)/float64(n.Known), n.Rejected)
	a.say("Of %d photos of things that it was never taught, it rejects %d.", n.Unknown, n.UnknownRejected)
	a.say("\ndone in %.0f s; open %s in a browser", time.Since(start).Seconds(), filepath.Join(dir, "report.html"))
	return nil
}

// demoReject is the share of known images that the demo may reject.
const demoReject = 0.1

// A demoStep is one command of the demo, as a user would type it.
type demoStep struct {
	command           string
	images, list, out string
	report            string
	reject            float64
	run               func(*app) error
}

func demoSteps(ctx context.Context, dir string, set demo.Set) []demoStep {
	features, file, labels := filepath.Join(dir, "features"), filepath.Join(dir, "demo.model"),
		filepath.Join(dir, "labels")
	return []demoStep{
		{command: "embed", images: set.Base, out: features, run: func(s *app) error { return s.embedFolder(ctx) }},
		{command: "train", images: set.Base, out: file, run: func(s *app) error { return s.train(ctx, "", "") }},
		{command: "learn " + file, images: set.New, run: func(s *app) error { return s.learn(ctx, file, "", "", "") }},
		{command: "label " + file, images: set.Photos, out: labels, reject: demoReject,
			run: func(s *app) error { return s.label(ctx, file) }},
		{
			command: "eval " + file + " --report " + dir, images: set.Photos, list: set.Truth, reject: demoReject,
			report: dir, run: func(s *app) error { return s.eval(ctx, file) },
		},
	}
}

// demoStep runs a step with its own settings. One photo is broken on
// purpose, so a partial failure does not end the demo.
func (a *app) demoStep(step demoStep) error {
	c := a.config
	c.Images, c.List, c.Out, c.Label.Reject = step.images, step.list, step.out, step.reject
	c.Label.Format, c.Label.RowsPerFile = []string{"csv"}, 0 // as Check reads it
	a.say("\n$ pipeline %s", step.line())
	err := step.run(a.with(c, step.report))
	if exitCode(err) == ExitPartial {
		_, prefix, text := message(err)
		a.say("%s%s", prefix, text)
		return nil
	}
	return err
}

func (s demoStep) line() string {
	line := s.command + " --images " + s.images
	if s.list != "" {
		line += " --list " + s.list
	}
	if s.out != "" {
		line += " --out " + s.out
	}
	if s.reject > 0 {
		line += fmt.Sprintf(" --reject %g", s.reject)
	}
	return line
}
