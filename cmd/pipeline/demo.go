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
		RunE:    command(func(ctx context.Context, w *workbench, _ []string) error { return w.demo(ctx) }),
	}
	outFlag(cmd, "`folder` for images, model, labels and report (default: pipeline-demo)")
	return cmd
}

// demo runs the commands that a user would type, and shows them.
func (w *workbench) demo(ctx context.Context) error {
	start := time.Now()
	dir := w.config.Out
	if dir == "" {
		dir = "pipeline-demo"
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	w.say("painting images into %s", filepath.Join(dir, "images"))
	set, err := demo.Generate(filepath.Join(dir, "images"), w.config.Seed)
	if err != nil {
		return err
	}
	file, labels := filepath.Join(dir, "demo.model"), filepath.Join(dir, "labels")
	steps := []demoStep{
		{"embed", nil, set.BaseDir(), filepath.Join(dir, "features"), func(s *workbench) error { return s.embedFolder(ctx) }},
		{"train", nil, set.BaseDir(), file, func(s *workbench) error { return s.train(ctx) }},
		{"learn", []string{file}, set.NewDir(), "", func(s *workbench) error { return s.learn(ctx, file) }},
		{"label", []string{file}, set.PhotosDir(), labels, func(s *workbench) error { return s.label(ctx, file) }},
		{"eval", []string{file, "--report", dir}, set.TestDir(), "", func(s *workbench) error { return s.eval(ctx, file, "", dir) }},
	}
	for _, step := range steps {
		if err := w.demoStep(step); err != nil {
			return err
		}
	}
	w.say("\ndone in %.0f s; open %s in a browser", time.Since(start).Seconds(), filepath.Join(dir, "report.html"))
	return nil
}

// A demoStep is one command of the demo, as a user would type it.
type demoStep struct {
	name        string
	args        []string
	images, out string
	run         func(*workbench) error
}

// demoStep runs a step on a workbench of its own. That some photo is broken is
// part of the show.
func (w *workbench) demoStep(step demoStep) error {
	sub := *w
	sub.config.Images, sub.config.Out = step.images, step.out
	sub.config.Label.Reject = demoReject
	line := fmt.Sprintf("\n$ pipeline %s", step.name)
	for _, a := range step.args {
		line += " " + a
	}
	line += " --images " + step.images
	if step.out != "" {
		line += " --out " + step.out
	}
	if step.name == "label" {
		line += fmt.Sprintf(" --reject %g", demoReject)
	}
	w.say("%s", line)
	err := step.run(&sub)
	if exitCode(err) == exitPartial {
		w.say("%s", message(err))
		return nil
	}
	return err
}

// demoReject is the share of known images that the demo may turn away.
const demoReject = 0.05
