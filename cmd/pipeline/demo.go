package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/demo"
)

func newDemo() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo [--out DIR]",
		Short: "See it work: paints images, learns, labels, reports; offline",
		Long: `Paints a small image folder, embeds it with the built-in backbone, trains on
twelve base classes, learns four new ones from five images each, labels a folder
of photos, measures itself, and writes an HTML report.`,
		Example: "  pipeline demo --out demo",
		Args:    arguments(cobra.NoArgs),
		RunE:    command(func(ctx context.Context, w *app, _ []string) error { return w.demo(ctx) }),
	}
	outFlag(cmd, "`folder` for images, model, labels and report (default: pipeline-demo)")
	return cmd
}

// demo runs the commands that a user would type, and shows them.
func (w *app) demo(ctx context.Context) error {
	start := time.Now()
	dir := w.config.Out
	if dir == "" {
		dir = "pipeline-demo"
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	w.say("painting images into %s", filepath.Join(dir, "images"))
	set, err := demo.Generate(ctx, filepath.Join(dir, "images"), w.config.Seed)
	if err != nil {
		return err
	}
	for _, step := range w.demoSteps(ctx, dir, set) {
		if err := w.demoStep(step); err != nil {
			return err
		}
	}
	w.say("\ndone in %.0f s; open %s in a browser", time.Since(start).Seconds(), filepath.Join(dir, "report.html"))
	return nil
}

// A demoStep is one command of the demo, as a user would type it.
type demoStep struct {
	command     string
	images, out string
	reject      float64
	run         func(*app) error
}

func (w *app) demoSteps(ctx context.Context, dir string, set demo.Set) []demoStep {
	features, file, labels := filepath.Join(dir, "features"), filepath.Join(dir, "demo.model"), filepath.Join(dir, "labels")
	return []demoStep{
		{"embed", set.BaseDir(), features, 0, func(s *app) error { return s.embedFolder(ctx) }},
		{"train", set.BaseDir(), file, 0, func(s *app) error { return s.train(ctx) }},
		{"learn " + file, set.NewDir(), "", 0, func(s *app) error { return s.learn(ctx, file) }},
		{"label " + file, set.PhotosDir(), labels, demoReject, func(s *app) error { return s.label(ctx, file) }},
		{"eval " + file + " --report " + dir, set.TestDir(), "", demoReject, func(s *app) error { return s.eval(ctx, file, "", dir) }},
	}
}

// demoReject is the share of known images that the demo may turn away.
const demoReject = 0.05

// demoStep runs a step on an app of its own. That some photo is broken is
// part of the show.
func (w *app) demoStep(step demoStep) error {
	sub := *w
	sub.config.Images, sub.config.Out, sub.config.Label.Reject = step.images, step.out, step.reject
	w.say("\n$ pipeline %s", step.line())
	err := step.run(&sub)
	if exitCode(err) == exitPartial {
		w.say("%s", message(err))
		return nil
	}
	return err
}

func (s demoStep) line() string {
	line := s.command + " --images " + s.images
	if s.out != "" {
		line += " --out " + s.out
	}
	if s.reject > 0 {
		line += fmt.Sprintf(" --reject %g", s.reject)
	}
	return line
}
