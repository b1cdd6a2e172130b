package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/embedding/wording"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/phrase"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/label/rank"
)

// photoBytes bounds the file of a photo that is read whole.
const photoBytes = 1 << 30

// A SearchRequest says what to look for among photos: what is like a photo, or what words say.
type SearchRequest struct {
	// Like is a file, or the path of a row of features; Text is anything, or with Texts, a folder of
	// embeddings of texts, one of its texts or classes. One of Like and Text is "".
	Like, Text, Texts string
	From              Source
	// Top is how many photos are found.
	Top int
	// Out is the CSV file to write, "" for none: then photos that cannot be read are logged.
	Out string
}

// Found is what Search returns.
type Found struct {
	// Matches are the nearest photos, the nearest first.
	Matches []rank.Match
	// Of is how many photos there are.
	Of int

	out string
}

// Lines say what was found, for a person.
func (f *Found) Lines() []string {
	return []string{fmt.Sprintf("wrote the nearest %s of %d into %s", plural(len(f.Matches), "photo", "photos"), f.Of,
		f.out)}
}

// Write writes the table, as CSV.
func (f *Found) Write(w io.Writer) error { return rank.WriteMatches(w, f.Matches) }

// Search finds the photos that are nearest to a photo or to words. It needs no model.
func (s *Studio) Search(ctx context.Context, q SearchRequest) (f *Found, err error) {
	switch {
	case (q.Like == "") == (q.Text == ""):
		return nil, misuse("give either {like} PHOTO or {text} TEXT: what to search for")
	case q.Texts != "" && !dataset.IsFolder(q.Texts):
		return nil, misuse("{texts} %s: give a folder with embeddings of texts, or leave it out: {text} can be "+
			"anything if the backbone has a text side", q.Texts)
	case q.Like != "" && q.Texts != "":
		return nil, misuse("{texts} says what {text} means: leave it out with {like}")
	case q.Top < 1:
		return nil, misuse("{top} %d: give the number of photos to write, 1 or more", q.Top)
	}
	if err := Writable(q.Out); err != nil {
		return nil, err
	}
	r := s.begin(ctx)
	var vector []float32
	if q.Text != "" { // before the photos: it may fail
		if vector, err = r.texts(q.Texts, q.From).vector(ctx, q.Text); err != nil {
			return nil, err
		}
	}
	in, err := r.inputs(q.From, q.Out).open(ctx, nil, anyImages)
	if err != nil {
		return nil, err
	}
	defer closeInto(in, &err)
	if q.Like != "" {
		vector, err = in.vector(ctx, q.Like)
	}
	if err != nil {
		return nil, err
	}
	found, err := rank.NewNearest(vector, q.Top)
	if err != nil {
		return nil, err
	}
	outcome, err := in.Each(ctx, func(item embedding.Item) error {
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
		return nil, err
	}
	f = &Found{Matches: found.Matches(), Of: outcome.Total, out: q.Out}
	if q.Out != "" {
		if err := atomicfile.Write(q.Out, func(file *atomicfile.File) error { return f.Write(file) }); err != nil {
			return nil, err
		}
	}
	return f, r.problems(outcome.Problems, besides(q.Out))
}

// vector returns the embedding of the photo that is searched for.
func (in input) vector(ctx context.Context, like string) ([]float32, error) {
	if in.embedder == nil {
		return in.row(ctx, like)
	}
	file, err := regularfile.Read(like, photoBytes)
	if err != nil {
		return nil, phrase.New("{like}: %w", err)
	}
	items, err := in.embedder.EmbedContents(ctx, [][]byte{file})
	if err == nil {
		err = items[0].Err
	}
	if err != nil {
		return nil, phrase.New("{like} %s: %w", like, err)
	}
	return items[0].Vector, nil
}

// errFound ends a search for one row.
var errFound = errors.New("found")

// row returns the embedding of one of the rows.
func (in input) row(ctx context.Context, path string) (vector []float32, err error) {
	_, err = in.Each(ctx, func(item embedding.Item) error {
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
	return nil, phrase.New("{like}: there is no row with the path %s in the features", path)
}

// vector returns the embedding of any text, or of a text or class of a folder.
func (t texts) vector(ctx context.Context, text string) ([]float32, error) {
	if t.path == "" {
		return t.anyVector(ctx, text)
	}
	read, err := featdir.ReadTexts(t.path)
	if err != nil {
		return nil, err
	}
	if i := slices.Index(read.Texts, text); i >= 0 {
		return read.Rows[i], nil
	}
	byClass, err := read.ByClass()
	if err != nil {
		return nil, fmt.Errorf("read texts %s: %w", t.path, err)
	}
	vector, ok := byClass[text]
	if !ok {
		return nil, phrase.New("{text}: %q is neither a text nor a class of %s, whose embeddings are all that is known",
			text, t.path)
	}
	return vector, nil
}

// anyVector returns the embedding of a text by the text side of the network of the photos.
func (t texts) anyVector(ctx context.Context, text string) (vector []float32, err error) {
	photos, err := t.photoNetwork(nil)
	if err != nil {
		return nil, err
	}
	side, err := wording.Open(t.settings.Text, photos, t.embed)
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
