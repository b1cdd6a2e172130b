package pipeline

import (
	"context"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/label"
)

// An EmbedRequest says what to compute embeddings of: photos, or texts that describe classes.
type EmbedRequest struct {
	From Source
	// Texts is a file of classes and texts, in place of From.
	Texts string
	// Out is the folder of the embeddings.
	Out string
}

// Embedded is what Embed returns.
type Embedded struct {
	// Dir is the folder of the embeddings: Out, or that of the shard in it.
	Dir string
	// Rows is how many embeddings it has, Cached of them were known, Failed photos have none.
	Rows, Cached, Failed int

	lines lines
}

// Lines say what was embedded, for a person.
func (e *Embedded) Lines() []string { return e.lines }

// Embed writes the embeddings of photos, or of texts, into a folder.
func (s *Studio) Embed(ctx context.Context, q EmbedRequest) (e *Embedded, err error) {
	if err := WritableFolder(q.Out); err != nil { // before hours of work
		return nil, err
	}
	r := s.begin(ctx)
	if q.Texts != "" {
		return r.embedTexts(ctx, q)
	}
	dir, err := q.From.shardFolder(q.Out)
	if err != nil {
		return nil, err
	}
	in, err := r.inputs(q.From, q.Out).openImages(ctx, nil, classes)
	if err != nil {
		return nil, err
	}
	defer closeInto(in, &err)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	out, err := featdir.NewWriter(dir, in.Provenance())
	if err != nil {
		return nil, err
	}
	defer out.Abort()
	outcome, err := in.Each(ctx, func(item embedding.Item) error {
		if item.Err != nil {
			return nil // outcome.Problems has it
		}
		return out.Write(item.Sample, item.Vector)
	})
	if err != nil {
		return nil, err
	}
	if err := label.WriteProblems(filepath.Join(out.TempDir(), "errors.csv"), outcome.Problems); err != nil {
		return nil, err
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	e = &Embedded{Dir: dir, Rows: outcome.Cached + outcome.Inferred, Cached: outcome.Cached,
		Failed: len(outcome.Problems)}
	e.lines.add("embedded %s (%d from the cache, %d failed) into %s", items(e.Rows, in.boxed), e.Cached, e.Failed, dir)
	return e, partial(e.Failed, filepath.Join(dir, "errors.csv"))
}

// embedTexts writes the embeddings of what describes classes. The network of the photos is
// opened, too: what is in the folder then says which photos it can be compared with.
func (r *run) embedTexts(ctx context.Context, q EmbedRequest) (out *Embedded, err error) {
	switch {
	case !q.From.empty():
		return nil, misuse("{texts} and {images} are two different inputs: embed them one after the other")
	case !q.From.Scan.plain():
		return nil, misuse("{include}, {exclude}, {shard}, {class-from} and the like say how to read images: " +
			"texts are all read")
	case dataset.IsFolder(q.Texts):
		return nil, misuse("{texts} %s is a folder: give a file with one class per line, or a table class,text",
			q.Texts)
	}
	described, err := dataset.ReadDescriptions(q.Texts)
	if err != nil {
		return nil, err
	}
	e, err := embedding.Open(r.embed)
	if err != nil {
		return nil, err
	}
	defer closeInto(e, &err)
	texts, err := r.describe(ctx, described, e.Provenance())
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(q.Out), 0o755); err != nil {
		return nil, err
	}
	if err := texts.Write(q.Out); err != nil {
		return nil, err
	}
	out = &Embedded{Dir: q.Out, Rows: len(texts.Texts)}
	out.lines.add("embedded %s into %s", plural(len(texts.Texts), "text", "texts"), q.Out)
	return out, nil
}

// plain reports whether the settings select everything.
func (s Scan) plain() bool {
	return len(s.Include)+len(s.Exclude)+len(s.DropLabel) == 0 && s.Shard == "" && s.ClassFrom == "" &&
		s.followsLinks() && !s.Predictions && s.PathColumn == "" && s.LabelColumn == "" && s.PathSuffix == ""
}
