package command

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/fscil"
	"github.com/seed-90d10d51/pipeline/research/fscil/benchmark"
	"github.com/seed-90d10d51/pipeline/research/fscil/runner"
)

func newFSCIL() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fscil --config NAME --images DIR | --features FEATDIR --out DIR",
		Short: "Evaluate methods on few-shot class-incremental sessions",
		Long: `Learns a base session and then sessions of new classes, tests all classes so far
after each session, and writes results.json, details.json, table.md, table.csv,
figures and config.yaml. The results of each of several methods are in a sub-folder.
auto, the default, takes the method that train would choose on the base session.

Sessions come from the official lists (--lists, or pipeline datasets pull) or from
the columns split and session of --features, or are drawn at random (fscil.protocol).
Published results are shown only next to results on the same data set and track.
On official sessions fscil.runs repeats only the methods that draw random numbers.
The benchmarks are built-in configurations: miniimagenet_fscil, cub200_fscil,
cub200_table3, cifar100_fscil, wang_5steps, wang_10steps. Finished runs are saved: run the same
command again to resume.`,
		Example: "  pipeline fscil --config miniimagenet_fscil --images mini_imagenet --lists " +
			"index_lists/mini_imagenet --out results",
		Args: arguments,
		RunE: command(func(ctx context.Context, a *app, _ []string) error { return a.fscil(ctx) }),
	}
	inputFlags(cmd, "images", "features")
	outFlag(cmd, "`folder` for the results")
	backboneFlag(cmd)
	cmd.Flags().String("lists", "", "`folder` of session_N.txt and test_N.txt")
	config.Bind(cmd.Flags(), "lists", "fscil.lists")
	cmd.Flags().String("classifier", method.Auto, "methods to compare, separated by commas: "+
		strings.Join(append(pipeline.MethodsWith[classifier.Learner](), method.Auto), ", "))
	config.Bind(cmd.Flags(), "classifier", "fscil.methods")
	dklFlags(cmd)
	return cmd
}

func (a *app) fscil(ctx context.Context) error {
	c, err := a.readyForFSCIL()
	if err != nil {
		return err
	}
	if err := pipeline.WritableFolder(c.Out); err != nil {
		return err
	}
	r, err := a.runner(ctx, c)
	if err != nil {
		return err
	}
	if err := r.CompareData(); err != nil {
		return err
	}
	samples, err := r.Read(ctx)
	if err != nil {
		return err
	}
	if n := samples.Embedded; c.Features == "" {
		a.say("embedded %d images (%d from the cache)", n.Cached+n.Inferred, n.Cached)
	}
	benches, err := r.Benches(samples)
	if err != nil {
		return err
	}
	outcomes, err := r.Run(ctx, samples, benches)
	if err != nil {
		return err
	}
	settings, err := c.YAML()
	if err != nil {
		return err
	}
	if err := r.Write(outcomes, settings); err != nil {
		return err
	}
	a.say("%s", runner.Overview(outcomes))
	a.say("table and figures are in %s", c.Out)
	return nil
}

// readyForFSCIL returns the settings of the run, with the lists of a benchmark that
// were pulled.
func (a *app) readyForFSCIL() (config.Config, error) {
	c := a.config
	c.Classifier.Statistics = false // no session returns to an old class
	if err := errors.Join(a.require([2]string{"out", c.Out}), a.withoutPrior("fscil")); err != nil {
		return c, err
	}
	official := c.FSCIL.Protocol == fscil.Official
	switch {
	case c.Features != "" && c.Images != "":
		return c, usagef("--features and --images are two different inputs: give only one")
	case c.Features == "" && c.Images == "":
		return c, benchmark.Where(c.FSCIL.Dataset, usagef("no input: give --images or --features"))
	case c.List != "":
		return c, usagef("list is not used by fscil: give the folder of the sessions with --lists")
	case (c.Scan.ClassFrom != "" || len(c.Scan.DropLabel) > 0) && (c.Features != "" || official):
		return c, usagef("--class-from and --drop-label are about folders of classes; " +
			"features and official lists name the classes themselves")
	case official && c.FSCIL.Lists == "" && c.Features == "":
		var err error
		c.FSCIL.Lists, err = a.pulledLists(c.FSCIL.Dataset)
		return c, err
	}
	return c, nil
}

// runner returns what runs a class-incremental benchmark with the given settings.
func (a *app) runner(ctx context.Context, c config.Config) (runner.Runner, error) {
	products, err := a.Products(ctx)
	if err != nil {
		return runner.Runner{}, err
	}
	scan, err := a.source().ScanOptions(c.Out)
	return runner.Runner{
		Sessions: c.FSCIL, Method: c.Classifier.Name,
		Images: c.Images, Scan: scan, Embed: a.Options(ctx),
		Env: experiment.Env{
			Dir: c.Out, Seed: c.Seed, Version: version, Heads: c.Classifier.Heads(c.Seed), Features: c.Features,
			Backend: products.Backend, BackendName: products.Kinds(), Restart: !c.Classifier.DKL.Resume,
			Note: a.log.Info,
		},
		Temperature: c.Classifier.Tempered(), OldShare: c.Classifier.OldShare,
		DKL: c.Classifier.DKL.Enabled, Training: c.Classifier.DKL.Training,
		Log: a.log, Say: a.say, Comparing: func(n int) (step, finish func()) {
			p := a.bars.begin(pipeline.Methods, int64(n))
			return p.Add, p.Finish
		},
	}, err
}
