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
	"github.com/seed-90d10d51/pipeline/embed/wording"
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
		Use: "search --like PHOTO | --text TEXT --images DIR | --features FEATDIR [--texts TEXTDIR] " +
			"[--top N] --out FILE",
		Short: "Find the photos that are most like a photo, or like words",
		Long: `Writes a CSV file with the photos that are nearest to a photo or to words, the nearest
first: path and score, the cosine of their embeddings. It needs no model.

--like PHOTO is a file, anywhere; with --features, the path of one of the rows.

--text TEXT is anything, if the backbone has a text side (pipeline backbones list). With
--texts TEXTDIR (see pipeline embed) it is one of the texts or classes of that folder.`,
		Example: "  pipeline search --like fox.jpg --images photos --out found.csv\n" +
			"  pipeline search --text fox --images photos --backbone clip-b32 --top 20 --out found.csv",
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
	case a.config.Texts != "" && !textsIn(a.config.Texts):
		return usagef("--texts %s: give a folder with embeddings of texts, or leave it out: --text can be anything if "+
			"the backbone has a text side", a.config.Texts)
	case q.like != "" && a.config.Texts != "":
		return usagef("--texts says what --text means: leave it out with --like")
	case q.top < 1:
		return usagef("--top %d: give the number of photos to write, 1 or more", q.top)
	}
	if err := a.outFile(); err != nil {
		return err
	}
	var vector []float32
	if q.text != "" { // before the photos: it may fail
		if vector, err = a.textVector(ctx, q.text); err != nil {
			return err
		}
	}
	in, err := a.inputs().open(ctx, nil, anyImages)
	if err != nil {
		return err
	}
	defer closeInto(in, &err)
	if q.like != "" {
		vector, err = a.photoVector(ctx, q.like, in)
	}
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

// photoVector returns the embedding of the photo that is searched for.
func (a *app) photoVector(ctx context.Context, like string, in input) ([]float32, error) {
	if in.embedder == nil {
		return rowVector(ctx, like, in)
	}
	file, err := regularfile.Read(like, searchBytes)
	if err != nil {
		return nil, fmt.Errorf("--like: %w", err)
	}
	items, err := in.embedder.EmbedContents(ctx, [][]byte{file})
	if err == nil {
		err = items[0].Err
	}
	if err != nil {
		return nil, fmt.Errorf("--like %s: %w", like, err)
	}
	return items[0].Vector, nil
}

// textVector returns the embedding of any text, or of a text or class of --texts.
func (a *app) textVector(ctx context.Context, text string) ([]float32, error) {
	if a.config.Texts == "" {
		return a.wordVector(ctx, text)
	}
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

// wordVector returns the embedding of a text by the text side of the network of the photos.
func (a *app) wordVector(ctx context.Context, text string) (vector []float32, err error) {
	photos, err := a.photoNetwork(nil)
	if err != nil {
		return nil, err
	}
	side, err := wording.Open(a.config.Text, photos, a.options())
	if err != nil {
		return nil, err
	}
	defer closeInto(side, &err)
	rows, err := side.Embed(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return rows[0], nil
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
