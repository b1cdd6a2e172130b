package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/config"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/label/rank"
	"github.com/seed-90d10d51/pipeline/model"
)

// novelShare is the --reject of rank --cluster-unknown where none is given.
const novelShare = 0.05

func newRank() *cobra.Command {
	var groups string
	cmd := &cobra.Command{
		Use:   "rank MODEL --images DIR --by entropy|margin|variance|novelty|label-error --out FILE",
		Short: "Sort images by what is worth a look: uncertain, unknown or wrongly labelled",
		Long: `Writes a CSV file with the images that deserve attention first. By entropy or
margin: a label for these teaches the model most. By novelty: these look like no
class it knows. By label-error: the folder that these lie in is probably wrong.

--cluster-unknown puts links to the images of no known class into folders
group-001, group-002 and so on, like to like. Delete what does not belong,
rename a folder to what it shows, and give it to pipeline learn.`,
		Example: `  pipeline rank photos.model --images ~/Pictures --by margin --top 200 --out look.csv`,
		Args:    exactly(1),
		RunE: command(func(ctx context.Context, w *workbench, args []string) error {
			return w.rank(ctx, args[0], groups)
		}),
	}
	inputFlags(cmd, "images", "list")
	scanFlags(cmd)
	outFlag(cmd, "CSV `file` to write")
	backboneFlag(cmd)
	standard := rank.DefaultConfig()
	cmd.Flags().String("by", string(standard.By), "what to rank by: "+strings.Join(rank.Criteria(), ", "))
	cmd.Flags().Int("top", standard.Top, "`number` of rows to write (default: all)")
	cmd.Flags().Float64("reject", 0, fmt.Sprintf("`share` of known-class images that may count as unknown (with --cluster-unknown %g unless given)", novelShare))
	cmd.Flags().StringVar(&groups, "cluster-unknown", "", "group the images of no known class in this `folder`, which must be empty or new")
	config.Bind(cmd.Flags(), "by", "rank.by")
	config.Bind(cmd.Flags(), "top", "rank.top")
	config.Bind(cmd.Flags(), "reject", "label.reject")
	return cmd
}

func (w *workbench) rank(ctx context.Context, file, groupDir string) (err error) {
	if err := require([2]string{"images", w.config.Images}, [2]string{"out", w.config.Out}); err != nil {
		return err
	}
	if w.config.Scan.Shard != "" {
		return usagef("rank compares all images with each other: leave out --shard")
	}
	if err := emptyFolder(groupDir); err != nil {
		return err
	}
	m, err := w.loadModel(file)
	if err != nil {
		return err
	}
	images, err := w.source(ctx)
	if err != nil {
		return err
	}
	ranking, err := w.newRanking(m, groupDir != "")
	if err != nil {
		return err
	}
	e, err := w.eyeOf(m)
	if err != nil {
		return err
	}
	defer e.closeInto(&err)
	problems, err := w.rankAll(ctx, e, images, ranking)
	if err != nil {
		return err
	}
	if err := w.writeRanking(ranking, groupDir); err != nil {
		return err
	}
	return w.problemsOf(collection{problems: problems}, w.config.Out+".errors.csv")
}

func (w *workbench) newRanking(m *model.Model, grouping bool) (*rank.Ranking, error) {
	share := w.config.Label.Reject
	if grouping && share == 0 {
		share = novelShare
	}
	if share == 0 {
		return rank.New(w.config.Rank, m.Predictor, math.NaN())
	}
	threshold, err := m.Threshold(share)
	if err != nil {
		return nil, err
	}
	return rank.New(w.config.Rank, m.Predictor, threshold)
}

func (w *workbench) rankAll(ctx context.Context, e *eye, images *dataset.Source, ranking *rank.Ranking) ([]dataset.Problem, error) {
	var problems []dataset.Problem
	_, err := watched{w, e, images.Len()}.RunSeq(ctx, images.Root(), images.Samples(ctx), func(item embed.Item) error {
		if item.Err != nil {
			problems = append(problems, dataset.Problem{Path: item.Sample.Path, Err: item.Err})
			return nil
		}
		return ranking.Add(item)
	})
	if err != nil {
		return nil, err
	}
	found, err := images.Outcome()
	return append(problems, found.Problems...), err
}

func (w *workbench) writeRanking(ranking *rank.Ranking, groupDir string) error {
	entries, groups, err := ranking.Finish()
	if err != nil {
		return err
	}
	if ranking.Unlabelled > 0 && len(entries) == 0 {
		return fmt.Errorf("rank by %s: none of the %d images lies in a folder named after a class of the model; put each class into a folder of its own, DIR/<class>/<image>", w.config.Rank.By, ranking.Unlabelled)
	}
	if groupDir != "" {
		if err := w.linkGroups(groups, groupDir); err != nil {
			return err
		}
	}
	err = writeWhole(w.config.Out, func(f *atomicfile.File) error { return rank.Write(f, entries) })
	if err != nil {
		return err
	}
	w.say("ranked %d images by %s into %s", len(entries), w.config.Rank.By, w.config.Out)
	if ranking.Unlabelled > 0 {
		w.say("left out %d images whose folder is no class of the model", ranking.Unlabelled)
	}
	if groupDir != "" {
		n := 0
		for _, g := range groups {
			n += len(g)
		}
		w.say("%d groups of %d unknown images in %s: rename a group to what it shows, delete the others, then pipeline learn MODEL --images %s", len(groups), n, groupDir, groupDir)
	}
	return nil
}

// emptyFolder refuses a folder that holds something: groups would mix with it.
func emptyFolder(dir string) error {
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("--cluster-unknown: %w", err)
	}
	if len(entries) > 0 {
		return usagef("--cluster-unknown %s: the folder is not empty; give a new one, so that what was named there is not lost", dir)
	}
	return nil
}

// linkGroups makes the folders of the groups, all or none.
func (w *workbench) linkGroups(groups [][]string, dir string) error {
	root, err := filepath.Abs(w.config.Images)
	if err != nil {
		return err
	}
	d, err := atomicfile.CreateDir(dir)
	if err != nil {
		return fmt.Errorf("--cluster-unknown: %w", err)
	}
	defer d.Abort()
	for g, paths := range groups {
		group := filepath.Join(d.Path(), fmt.Sprintf("group-%03d", g+1))
		if err := os.Mkdir(group, 0o755); err != nil {
			return err
		}
		for i, path := range paths {
			// Numbered, so that names from different folders cannot meet.
			name := fmt.Sprintf("%04d-%s", i+1, filepath.Base(filepath.FromSlash(path)))
			if err := os.Symlink(dataset.FullPath(root, path), filepath.Join(group, name)); err != nil {
				return err
			}
		}
	}
	return d.Commit()
}
