package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/label/rank"
)

// nearest is the default --top of search.
const nearest = 50

// searchBytes bounds the file of the photo that is searched for.
const searchBytes = 1 << 30

// A query is what search looks for.
type query struct {
	text, like string
	top        int
}

func newSearch() *cobra.Command {
	var q query
	cmd := &cobra.Command{
		Use: "search --like PHOTO | --text TEXT --texts TEXTDIR --images DIR | --features FEATDIR " +
			"[--top N] --out FILE",
		Short: "Find the photos that are most like a photo, or like words",
		Long: `Writes a CSV file with the photos that are nearest to a photo or to words, the nearest
first: path and score, the cosine of their embeddings. It needs no model.

--like PHOTO is a file, anywhere; with --features, the path of one of the rows.

--text TEXT is one of the texts, or one of the classes, of the folder --texts TEXTDIR,
which has their embeddings from the text side of the network of the photos: texts.npy
and texts.csv.`,
		Example: "  pipeline search --like fox.jpg --images photos --out found.csv\n" +
			"  pipeline search --text fox --texts names --features features --top 20 --out found.csv",
		Args: arguments,
		RunE: command(func(ctx context.Context, a *app, _ []string) error { return a.search(ctx, q) }),
	}
	inputFlags(cmd, "images", "list", "features")
	scanFlags(cmd)
	outFlag(cmd, "CSV `file` to write; - for stdout")
	backboneFlag(cmd)
	textsFlag(cmd)
	cmd.Flags().StringVar(&q.like, "like", "", "`photo` to search for")
	cmd.Flags().StringVar(&q.text, "text", "", "`words` to search for")
	cmd.Flags().IntVar(&q.top, "top", nearest, "`number` of photos to write")
	return cmd
}

func (a *app) search(ctx context.Context, q query) (err error) {
	switch {
	case (q.like == "") == (q.text == ""):
		return usagef("give either --like PHOTO or --text TEXT: what to search for")
	case q.text != "" && a.config.Texts == "":
		return usagef("--text needs --texts TEXTDIR, a folder with embeddings of texts, among them this one")
	case q.like != "" && a.config.Texts != "":
		return usagef("--texts says what --text means: leave it out with --like")
	case q.top < 1:
		return usagef("--top %d: give the number of photos to write, 1 or more", q.top)
	}
	if err := a.outFile(); err != nil {
		return err
	}
	in, err := a.inputs().open(ctx, nil, anyImages)
	if err != nil {
		return err
	}
	defer closeInto(in, &err)
	vector, err := a.vector(ctx, q, in)
	if err != nil {
		return err
	}
	found, err := rank.NewNearest(vector, q.top)
	if err != nil {
		return err
	}
	outcome, err := in.Each(ctx, func(item embed.Item) error {
		if item.Err != nil {
			return nil
		}
		if d := len(item.Vector); d != found.Dim() {
			return fmt.Errorf("the embeddings of the photos have %d values, that of the text %d: they are of other "+
				"networks", d, found.Dim())
		}
		found.Add(item.Sample.Path, item.Vector)
		return nil
	})
	if err != nil {
		return err
	}
	matches := found.Matches()
	if err := a.writeFile(a.config.Out, func(w io.Writer) error { return rank.WriteMatches(w, matches) }); err != nil {
		return err
	}
	if a.config.Out != streamed {
		a.say("wrote the nearest %s of %d into %s", plural(len(matches), "photo", "photos"), outcome.Total,
			a.config.Out)
	}
	return a.leftOut(outcome.Problems)
}

// vector returns the embedding of what is searched for.
func (a *app) vector(ctx context.Context, q query, in input) ([]float32, error) {
	switch {
	case q.text != "":
		return a.textVector(q.text)
	case in.embedder == nil:
		return rowVector(ctx, q.like, in)
	}
	file, err := regularfile.Read(q.like, searchBytes)
	if err != nil {
		return nil, fmt.Errorf("--like: %w", err)
	}
	items, err := in.embedder.EmbedContents(ctx, [][]byte{file})
	if err == nil {
		err = items[0].Err
	}
	if err != nil {
		return nil, fmt.Errorf("--like %s: %w", q.like, err)
	}
	return items[0].Vector, nil
}

// textVector returns the embedding of a text or class of --texts.
func (a *app) textVector(text string) ([]float32, error) {
	texts, err := featdir.ReadTexts(a.config.Texts)
	if err != nil {
		return nil, err
	}
	if i := slices.Index(texts.Texts, text); i >= 0 {
		return texts.Rows[i], nil
	}
	byClass, err := texts.ByClass()
	if err != nil {
		return nil, fmt.Errorf("read texts %s: %w", a.config.Texts, err)
	}
	vector, ok := byClass[text]
	if !ok {
		return nil, fmt.Errorf("--text: %q is neither a text nor a class of %s, whose embeddings are all that is known",
			text, a.config.Texts)
	}
	return vector, nil
}

// errFound ends a search for one row.
var errFound = errors.New("found")

// rowVector returns the embedding of one of the rows.
func rowVector(ctx context.Context, path string, in input) (vector []float32, err error) {
	_, err = in.Each(ctx, func(item embed.Item) error {
		if item.Sample.Path != path {
			return nil
		}
		vector = item.Vector
		return errFound
	})
	switch {
	case errors.Is(err, errFound):
		return vector, nil
	case err != nil:
		return nil, err
	}
	return nil, fmt.Errorf("--like: there is no row with the path %s in the features", path)
}
