package command

import (
	"context"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/research/table"
)

func newDatasets() *cobra.Command {
	return group(
		&cobra.Command{
			Use:   "datasets",
			Short: "List and download the index lists of benchmarks",
			Long: `The official lists say in which session each image is learned or tested. They are
downloaded from their authors' repository at a pinned commit. You need to have the
images yourself: of CIFAR-10 and CIFAR-100 the binary version (cifar-10-binary.tar.gz,
cifar-100-binary.tar.gz).`,
			Example: "  pipeline datasets list",
		},
		newList("datasets", "List the benchmarks", (*app).listDatasets),
		&cobra.Command{
			Use:     "pull NAME",
			Short:   "Download the lists of a benchmark and verify them",
			Example: "  pipeline datasets pull mini_imagenet",
			Args:    arguments, ValidArgsFunction: benchmarks,
			RunE: command(func(ctx context.Context, a *app, args []string) error {
				return a.pullDataset(ctx, args[0])
			}),
		},
	)
}

// A listedDataset is what datasets list --json prints of a benchmark.
type listedDataset struct {
	Name        string `json:"name"`
	Lists       int    `json:"lists"` // files
	Licence     string `json:"licence"`
	Where       string `json:"where"`
	Description string `json:"description"`
}

func (a *app) listDatasets() error {
	all, err := a.Benchmarks()
	if err != nil {
		return err
	}
	listed := make([]listedDataset, len(all))
	t := table.Table{Header: []string{"NAME", "LISTS", "LICENCE", "WHERE", "WHAT"}}
	for i, b := range all {
		where := "can be pulled"
		if b.Here {
			where = "pulled"
		}
		listed[i] = listedDataset{b.Name, b.Lists, b.Licence, where, b.About}
		t.Add(b.Name, strconv.Itoa(b.Lists), b.Licence, where, b.About)
	}
	if a.json != "" {
		return a.writeJSON(listed)
	}
	a.say("%s", t)
	return nil
}

func (a *app) pullDataset(ctx context.Context, name string) error {
	dir, err := a.ObtainLists(ctx, name)
	if err != nil {
		return err
	}
	a.say("the lists of %s are in %s; pipeline fscil finds them there", name, dir)
	return nil
}

// pulledLists returns the folder that the benchmark's lists were pulled into. If
// they were not pulled, the error says how to get them.
func (a *app) pulledLists(dataset string) (string, error) {
	all, err := a.Benchmarks()
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(all, func(b pipeline.Benchmark) bool { return b.Name == dataset })
	if at < 0 {
		return "",
			usagef("--lists is missing: the official protocol needs the folder of session_1.txt, test_1.txt, …; " +
				"fscil.protocol=few-shot draws sessions by seed")
	}
	if !all[at].Here {
		return "", usagef("--lists is missing: give the folder of session_1.txt, test_1.txt, …, or get them with "+
			"pipeline datasets pull %s", dataset)
	}
	return all[at].Dir, nil
}
