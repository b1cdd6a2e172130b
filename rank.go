package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/phrase"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/adapt"
	"github.com/seed-90d10d51/pipeline/label/organise"
	"github.com/seed-90d10d51/pipeline/label/rank"
	"github.com/seed-90d10d51/pipeline/label/report"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/account"
	"github.com/seed-90d10d51/pipeline/teach"
)

// NovelShare is the share of photos like those learned that may count as unknown where groups of
// unknown photos are asked for, and no share is.
const NovelShare = 0.05

// A RankRequest says which photos deserve a look. Start from NewRankRequest.
type RankRequest struct {
	// Model is the file of a model, "" to choose the First photos to label before there is one.
	Model string
	First int
	From  Source
	// Out is the CSV file to write, "" for none: then photos that cannot be read are logged.
	Out string
	// Groups is a folder, new or empty, for links to the unknown photos, grouped by similarity; ""
	// makes none. Sheet is the file of a page with the pictures of the first photos, "" for none.
	Groups, Sheet string
	Settings      rank.Config
	// Reject is the share of photos like those learned that may count as unknown.
	Reject   float64
	OldShare model.OldShare // as in LearnRequest
	Seed     uint64
}

// NewRankRequest returns a request with the defaults.
func NewRankRequest(model string, from Source, out string) RankRequest {
	return RankRequest{Model: model, From: from, Out: out, Settings: rank.DefaultConfig()}
}

// Ranked is what Rank returns.
type Ranked struct {
	// Entries are the photos, those that most deserve a look first.
	Entries []rank.Entry
	// Account is of the photos that the model has learned, zero without one.
	Account account.Account

	lines lines
}

// Lines say what was ranked, for a person.
func (l *Ranked) Lines() []string { return l.lines }

// Write writes the table, as CSV.
func (l *Ranked) Write(w io.Writer) error { return rank.Write(w, l.Entries) }

// Rank orders photos by how much they deserve a look: because the model is unsure of them, does not
// know them, or contradicts their label. Photos that people decided are left out; if labels are
// judged, only those of which they decided twice.
func (s *Studio) Rank(ctx context.Context, q RankRequest) (*Ranked, error) {
	r := s.begin(ctx)
	if q.From.Scan.Shard != "" {
		return nil, misuse("rank compares all images with each other, so it cannot use {shard}")
	}
	if q.Model == "" {
		return r.rankFirst(ctx, q)
	}
	return r.rank(ctx, q)
}

// checkSheet returns an error if there can be no contact sheet.
func (q RankRequest) checkSheet() error {
	if q.Sheet != "" && q.From.Features != "" {
		return misuse("{sheet} shows the photos, and features have none: give {images}")
	}
	return Writable(q.Sheet)
}

func (q RankRequest) check() error {
	if q.Groups != "" && q.From.Features != "" {
		return misuse("{cluster-unknown} links the photos, and features have none: give {images}")
	}
	if err := q.checkSheet(); err != nil {
		return err
	}
	if err := emptyFolder(q.Groups); err != nil {
		return err
	}
	return Writable(q.Out)
}

// threshold is the novelty above which photos are unknown, NaN if nothing says it.
func (q RankRequest) threshold(m *model.Model) (float64, error) {
	share := q.Reject
	if q.Groups != "" && share == 0 {
		share = NovelShare
	}
	if share > 0 {
		return m.Threshold(share)
	}
	return math.NaN(), nil
}

func (r *run) rank(ctx context.Context, q RankRequest) (l *Ranked, err error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	m, err := r.loadShared(q.Model, q.OldShare)
	if err != nil {
		return nil, err
	}
	threshold, err := q.threshold(m)
	if err != nil {
		return nil, err
	}
	scorer, err := q.Settings.Scorer(m.Predictor, threshold)
	if err != nil {
		return nil, err
	}
	ranking, err := rank.New(q.Settings, m.Classes())
	if err != nil {
		return nil, err
	}
	need := anyImages
	if q.Settings.By == rank.LabelError {
		need = classes
		ranking.SetAside(m)
	}
	in, err := r.inputs(q.From, q.Out).open(ctx, m, need)
	if err != nil {
		return nil, err
	}
	defer closeInto(in, &err)
	rows := &unjudged{Rows: in, see: func(item embedding.Item) { ranking.Judged(item.Hash, item.Vector) }}
	if q.Settings.By == rank.LabelError {
		rows.known = m.Classes()
	}
	if rows.decided, err = teach.Decided(q.Model, m); err != nil {
		return nil, err
	}
	pass := label.Pass{Scorer: scorer, Rows: rows, Sinks: []label.Sink{ranking}}
	if q.Settings.By == rank.DoubtMass {
		kept, err := r.ask(ctx, m, &pass, rows, q.Out)
		if err != nil {
			return nil, err
		}
		defer kept.Close()
	}
	outcome, err := pass.Run(ctx)
	l = &Ranked{}
	if rows.judged > 0 {
		l.lines.add("left out %s, as decided on the page", plural(rows.judged, "image", "images"))
	}
	if err == nil {
		l.Account, err = teach.Learned(q.Model, m, nil)
	}
	if err == nil {
		err = r.judgeLearned(ctx, ranking, m, threshold, &l.lines)
	}
	if err != nil {
		return nil, err
	}
	if ranking.Unlabelled > 0 && len(ranking.Entries) == 0 {
		return nil, fmt.Errorf("rank by %s: none of the %d images lies in a folder named after a class of the model; "+
			"use one folder per class, DIR/<class>/<image>", q.Settings.By, ranking.Unlabelled)
	}
	if err := r.writeRanking(ctx, ranking, m.Predictor, in, q, l); err != nil {
		return nil, err
	}
	return l, r.finishRanking(ctx, l, in, q, "Ranked by "+string(q.Settings.By), outcome.Problems)
}

// ask compares all photos with each other, those that people decided too, and leaves the others to a pass.
func (r *run) ask(ctx context.Context, m *model.Model, pass *label.Pass, rows *unjudged, out string) (*label.Kept,
	error) {
	by := pass.Scorer
	by.Decided = rows.decided
	dir, err := r.Studio.folder("rank")
	if err != nil {
		return nil, err
	}
	head, kept, err := adapt.Ask(ctx, m, by, rows.Rows, dir)
	if err != nil {
		return nil, err
	}
	rows.judged = kept.Drop(func(d *label.Decision) bool { return d != nil && d.By != label.List })
	pass.Scorer.Head, pass.Rows = head, kept
	return kept, nil
}

// judgeLearned ranks the images that were set aside because the model has learned them.
func (r *run) judgeLearned(ctx context.Context, ranking *rank.Ranking, m *model.Model, threshold float64,
	l *lines) error {
	n, err := ranking.LeaveOut(ctx, m, threshold)
	if missing := (*model.MissingRowsError)(nil); errors.As(err, &missing) {
		r.log.Warn("the model defends what it has learned, and judges the labels of these images too kindly: to "+
			"leave each out, rank all that it has learned, in one folder or list",
			"missing", missing.Missing, "of", missing.Of)
		return nil
	}
	if n > 0 {
		l.add("%s learned by the model: each was left out to judge it", plural(n, "image", "images"))
	}
	return err
}

// writeRanking links the groups and writes the table.
func (r *run) writeRanking(ctx context.Context, ranking *rank.Ranking, p *model.Predictor, in input, q RankRequest,
	l *Ranked) error {
	l.Entries = ranking.Entries
	var groups [][]rank.Member
	if q.Groups != "" {
		var err error
		if groups, err = ranking.Group(ctx, p); err != nil {
			return err
		}
		how, err := rank.LinkGroups(groups, in.root, q.Groups, in.crop(ctx))
		if err != nil {
			return phrase.New("{cluster-unknown}: %w", err)
		}
		if in.boxed == nil {
			r.warnLinks(organise.Links, how)
		}
	}
	if err := l.writeFile(q.Out); err != nil {
		return err
	}
	l.lines.add("ranked %s by %s into %s", plural(len(ranking.Entries), "image", "images"), q.Settings.By, q.Out)
	if w := ranking.Wrong(); w != nil && w.Of >= account.FewLabels {
		l.Account.Wrong = w
		l.lines.add("%s", w)
	}
	if ranking.Unlabelled > 0 {
		l.lines.add("left out %s whose folder is not a class of the model",
			plural(ranking.Unlabelled, "image", "images"))
	}
	if q.Groups != "" {
		l.lines = append(l.lines, groupLines(groups, ranking.Novel, q.Settings.ClusterImages, q.Groups)...)
	}
	return nil
}

// writeFile writes the table into a file, unless it has no name.
func (l *Ranked) writeFile(file string) error {
	if file == "" {
		return nil
	}
	return atomicfile.Write(file, func(f *atomicfile.File) error { return l.Write(f) })
}

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
		"shows, delete the others, then learn %s", plural(len(groups), "group", "groups"), grouped, unknown, dir,
		duplicates, dir)
	if unknown > most {
		l.add("only %d unknown images, drawn at random, were grouped (rank.cluster_images): learn the groups and run "+
			"this again for the rest", most)
	}
	return l
}

// emptyFolder returns a UsageError if a folder contains anything, with which groups
// would mix, and an error if it cannot be made.
func emptyFolder(dir string) error {
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return phrase.New("{cluster-unknown}: %w", err)
	}
	if len(entries) > 0 {
		return misuse("{cluster-unknown} %s: the folder is not empty; give a new one, so that groups named earlier "+
			"are not lost", dir)
	}
	groups, err := atomicfile.CreateDir(dir, nil) // fails now rather than after the work
	if err != nil {
		return phrase.New("{cluster-unknown}: %w", err)
	}
	groups.Abort()
	return nil
}

// rankFirst chooses images to label before there is a model.
func (r *run) rankFirst(ctx context.Context, q RankRequest) (l *Ranked, err error) {
	if most := q.Settings.ClusterImages; q.First < 1 || q.First > most {
		return nil, misuse("{first} %d: give a number from 1 to %d, the images that are compared with each other "+
			"(rank.cluster_images, at most 20000)", q.First, most)
	}
	if err := errors.Join(Writable(q.Out), q.checkSheet()); err != nil {
		return nil, err
	}
	in, err := r.inputs(q.From, q.Out).open(ctx, nil, anyImages)
	if err != nil {
		return nil, err
	}
	defer closeInto(in, &err)
	s, err := q.Settings.First(ctx, in, q.First, q.Seed)
	if err != nil {
		return nil, err
	}
	l = &Ranked{Entries: s.Entries}
	if err := l.writeFile(q.Out); err != nil {
		return nil, err
	}
	l.lines.add("chose %d of %d images to label first, into %s: fill in the column label, then run pipeline train",
		len(s.Entries), s.Images, q.Out)
	if s.Compared < s.Images {
		l.lines.add("chosen from %d of the images, drawn at random (rank.cluster_images)", s.Compared)
	}
	if len(s.Entries) < q.First {
		l.lines.add("no more of them differ: %d are near-duplicates of others", s.Compared-s.Different)
	}
	return l, r.finishRanking(ctx, l, in, q, "Images to label first", s.Outcome.Problems)
}

// finishRanking writes the contact sheet, and which images could not be read.
func (r *run) finishRanking(ctx context.Context, l *Ranked, in input, q RankRequest, title string,
	problems []dataset.Problem) error {
	if err := r.writeSheet(ctx, l, in, q.Sheet, title); err != nil {
		return err
	}
	return r.problems(problems, besides(q.Out))
}

// besides names the file for what could not be read beside a table, "" for none.
func besides(table string) string {
	if table == "" {
		return ""
	}
	return table + ".errors.csv"
}

// SheetTiles is the maximum number of pictures on a contact sheet, of about 5 kB each.
const SheetTiles = 500

// writeSheet writes a contact sheet of the first entries, unless the file has no name.
func (r *run) writeSheet(ctx context.Context, l *Ranked, in input, file, title string) error {
	if file == "" {
		return nil
	}
	entries := l.Entries
	sheet := report.Sheet{Title: title, Subtitle: plural(len(entries), "image", "images")}
	if len(entries) > SheetTiles {
		sheet.Subtitle = fmt.Sprintf("The first %d of %d images", SheetTiles, len(entries))
		entries = entries[:SheetTiles]
	}
	for _, e := range entries {
		sheet.Tiles = append(sheet.Tiles, report.Tile{Path: e.Path, Box: e.Box, Lines: e.Lines()})
	}
	if err := sheet.Fill(ctx, in.root, r.workers(), in.picture(ctx)); err != nil {
		return err
	}
	if err := atomicfile.Write(file, func(f *atomicfile.File) error { return sheet.Write(f) }); err != nil {
		return err
	}
	l.lines.add("contact sheet of %s: %s", plural(len(sheet.Tiles), "image", "images"), file)
	return nil
}
