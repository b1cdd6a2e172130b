package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/organise"
	"github.com/seed-90d10d51/pipeline/label/rank"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/teach"
)

// novelShare is the default --reject of rank --cluster-unknown.
const novelShare = 0.05

func newRank() *cobra.Command {
	var groups, sheet string
	var first int
	cmd := &cobra.Command{
		Use: "rank MODEL | --first N --images DIR | --features FEATDIR [--by " +
			"margin|entropy|variance|novelty|label-error] --out FILE",
		Short: "Find images worth a look: uncertain, unknown or mislabelled",
		Long: `Writes a CSV file with the images that most deserve attention first. --by selects
which these are: with margin, entropy or variance, images whose label would teach
the model most, with --top such that differ (rank.spread); with novelty, images
unlike any known class; with label-error, images that probably lie in the wrong
class folder. These may be what the model was trained on: each is judged as if it
had not been learned, too, at the cost of ten trainings. Images that were decided on
the page of serve are left out.

--cluster-unknown groups the images of no known class by similarity and links them
into folders group-001, group-002 and so on; near-duplicates lie side by side, as in
0003-a.jpg and 0003.1-b.jpg. Delete what does not belong to a group, rename its folder
to the class it shows, and pass it to pipeline learn.

--first needs no model: it chooses the images to label before there is one, typical
ones that differ from each other; the score is the number of images that are like it,
the most first. Fill in the column label and pass the file to pipeline train as --list.`,
		Example: `  pipeline rank --first 50 --images ~/Pictures --out first.csv
  pipeline rank photos.model --images ~/Pictures --top 200 --out look.csv --sheet look.html`,
		Args: modelOrFirst,
		RunE: command(func(ctx context.Context, a *app, args []string) error {
			if len(args) == 0 {
				return a.rankFirst(ctx, first, sheet)
			}
			return a.rank(ctx, args[0], groups, sheet)
		}),
	}
	inputFlags(cmd, "images", "list", "features")
	predictionsFlag(cmd)
	scanFlags(cmd)
	boxFlags(cmd)
	outFlag(cmd, "CSV `file` to write; - for stdout")
	backboneFlag(cmd)
	standard := rank.DefaultConfig()
	cmd.Flags().String("by", string(standard.By), "`criterion` to rank by: "+strings.Join(rank.Criteria(), ", "))
	cmd.Flags().Int("top", standard.Top, "`number` of rows to write (default: all)")
	cmd.Flags().Float64("reject", 0,
		fmt.Sprintf("`share` of known-class images that may count as unknown (default with --cluster-unknown: %g)",
			novelShare))
	cmd.Flags().IntVar(&first, "first", 0, "without MODEL: choose this `number` of images to label first")
	cmd.Flags().StringVar(&groups, "cluster-unknown", "",
		"group the images of no known class in this `folder`, which must be new or empty")
	cmd.Flags().StringVar(&sheet, "sheet", "",
		fmt.Sprintf("write a contact sheet, a page with the pictures of the first %d, to this `file`.html", sheetTiles))
	bind(cmd.Flags(), "rank.", "by", "top")
	bind(cmd.Flags(), "label.", "reject")
	return cmd
}

func (a *app) rank(ctx context.Context, file, groupDir, sheet string) (err error) {
	if err := a.requireRanking(); err != nil {
		return err
	}
	if groupDir != "" && a.config.Features != "" {
		return usagef("--cluster-unknown links the photos, and features have none: give --images")
	}
	if err := a.checkSheet(sheet); err != nil {
		return err
	}
	if err := emptyFolder(groupDir); err != nil {
		return err
	}
	if err := writable(a.config.Out); err != nil {
		return err
	}
	m, err := a.loadModel(file)
	if err != nil {
		return err
	}
	threshold := math.NaN()
	share := a.config.Label.Reject
	if groupDir != "" && share == 0 {
		share = novelShare
	}
	if share > 0 {
		if threshold, err = m.Threshold(share); err != nil {
			return err
		}
	}
	scorer, err := a.config.Rank.Scorer(m.Predictor, threshold)
	if err != nil {
		return err
	}
	ranking, err := rank.New(a.config.Rank, m.Classes())
	if err != nil {
		return err
	}
	need := anyImages
	if a.config.Rank.By == rank.LabelError {
		need = classes
		ranking.SetAside(m)
	}
	in, err := a.inputs().open(ctx, m, need)
	if err != nil {
		return err
	}
	defer closeInto(in, &err)
	rows := &unjudged{Rows: in, keepBulk: a.config.Rank.By == rank.LabelError}
	if rows.decided, err = teach.Decided(file, m); err != nil {
		return err
	}
	outcome, err := label.Pass{Scorer: scorer, Rows: rows, Sinks: []label.Sink{ranking}}.Run(ctx)
	if rows.judged > 0 {
		a.say("left out %s, as decided on the page", plural(rows.judged, "image", "images"))
	}
	if err == nil {
		err = a.judgeLearned(ctx, ranking, m, threshold)
	}
	if err != nil {
		return err
	}
	if ranking.Unlabelled > 0 && len(ranking.Entries) == 0 {
		return fmt.Errorf("rank by %s: none of the %d images lies in a folder named after a class of the model; use "+
			"one folder per class, DIR/<class>/<image>", a.config.Rank.By, ranking.Unlabelled)
	}
	if err := a.writeRanking(ctx, ranking, m.Predictor, in, groupDir); err != nil {
		return err
	}
	if err := a.writeSheet(ctx, sheet, in, "Ranked by "+string(a.config.Rank.By), ranking.Entries); err != nil {
		return err
	}
	return a.leftOut(outcome.Problems)
}

// judgeLearned ranks the images that were set aside because the model has learned them.
func (a *app) judgeLearned(ctx context.Context, ranking *rank.Ranking, m *model.Model, threshold float64) error {
	n, err := ranking.LeaveOut(ctx, m, threshold)
	if missing := (*model.MissingRowsError)(nil); errors.As(err, &missing) {
		a.log.Warn("the model defends what it has learned, and judges the labels of these images too kindly: to "+
			"leave each out, rank all that it has learned, in one folder or list",
			"missing", missing.Missing, "of", missing.Of)
		return nil
	}
	if n > 0 {
		a.say("%s learned by the model: each was left out to judge it", plural(n, "image", "images"))
	}
	return err
}

// leftOut writes the images that could not be ranked to a file next to the table, or
// logs them if the table went to stdout.
func (a *app) leftOut(problems []dataset.Problem) error {
	if a.config.Out == streamed {
		return a.logProblems(problems)
	}
	return writeProblems(problems, a.config.Out+".errors.csv")
}

func (a *app) writeRanking(ctx context.Context, ranking *rank.Ranking, p *model.Predictor, in input,
	groupDir string) error {
	var groups [][]rank.Member
	if groupDir != "" {
		var err error
		if groups, err = ranking.Group(ctx, p); err != nil {
			return err
		}
		how, err := rank.LinkGroups(groups, in.root, groupDir, in.crop(ctx))
		if err != nil {
			return fmt.Errorf("--cluster-unknown: %w", err)
		}
		if in.boxed == nil {
			a.sayLinks(organise.Links, how)
		}
	}
	err := a.writeFile(a.config.Out, func(w io.Writer) error { return rank.Write(w, ranking.Entries) })
	if err != nil {
		return err
	}
	a.say("ranked %s by %s into %s", plural(len(ranking.Entries), "image", "images"), a.config.Rank.By, a.config.Out)
	if w := ranking.Wrong(); w.Of >= fewLabels {
		a.say("about %.0f of %d labels are wrong, between %.0f and %.0f, as far as models can tell that have not "+
			"learned them", w.Count, w.Of, w.Low, w.High)
	}
	if ranking.Unlabelled > 0 {
		a.say("left out %s whose folder is not a class of the model", plural(ranking.Unlabelled, "image", "images"))
	}
	if groupDir != "" {
		a.sayAll(groupLines(groups, ranking.Novel, a.config.Rank.ClusterImages, groupDir))
	}
	return nil
}

// fewLabels is the number below which nothing is said of how many labels are wrong.
const fewLabels = 50

// groupLines describe the groups of the unknown images, of which at most the given number
// were grouped.
func groupLines(groups [][]rank.Member, unknown, most int, dir string) (l lines) {
	grouped, duplicates := 0, 0
	for _, members := range groups {
		grouped += len(members)
		for _, m := range members {
			if m.DuplicateOf != "" {
				duplicates++
			}
		}
	}
	l.add("%s of %d of the %d unknown images in %s, %d of them near-duplicates: rename each group to the class it "+
		"shows, delete the others, then run pipeline learn MODEL "+
		"--images %s", plural(len(groups), "group", "groups"), grouped, unknown, dir, duplicates, dir)
	if unknown > most {
		l.add("only %d unknown images, drawn at random, were grouped (rank.cluster_images): learn the groups and run "+
			"this again for the rest", most)
	}
	return l
}

// emptyFolder returns a usage error if a folder contains anything, with which groups
// would mix, and an error if it cannot be made.
func emptyFolder(dir string) error {
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("--cluster-unknown: %w", err)
	}
	if len(entries) > 0 {
		return usagef("--cluster-unknown %s: the folder is not empty; give a new one, so that groups named earlier "+
			"are not lost", dir)
	}
	groups, err := atomicfile.CreateDir(dir, nil) // fails now rather than after the work
	if err != nil {
		return fmt.Errorf("--cluster-unknown: %w", err)
	}
	groups.Abort()
	return nil
}
