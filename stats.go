package pipeline

import (
	"context"
	"fmt"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/classstats"
)

// A StatsRequest says what to collect statistics of.
type StatsRequest struct {
	From Source
	Out  string
	// Raw does not scale embeddings to length 1.
	Raw bool
	// Except are files of statistics whose images are skipped.
	Except []string
}

// Counted is what CollectStats and MergeStats return.
type Counted struct {
	Samples, Classes int
	// Again is how many samples were counted before, or in more than one file.
	Again int

	lines lines
}

// Lines say what was counted, for a person.
func (c *Counted) Lines() []string { return c.lines }

// CollectStats writes the statistics of the classes of a source: counts, means and covariances.
func (s *Studio) CollectStats(ctx context.Context, q StatsRequest) (*Counted, error) {
	if err := Writable(q.Out); err != nil {
		return nil, err
	}
	t := &tally{}
	for _, file := range q.Except {
		s, err := classstats.Load(file)
		if err != nil {
			return nil, err
		}
		t.except = append(t.except, s)
	}
	r := s.begin(ctx)
	outcome, err := t.count(ctx, r.inputs(q.From, q.Out), !q.Raw)
	if err != nil {
		return nil, err
	}
	if err := t.stats.Save(q.Out); err != nil {
		return nil, err
	}
	c := &Counted{Samples: t.stats.SampleCount(), Classes: len(t.stats.Classes()), Again: t.known}
	c.lines.add("counted %s of %s", plural(c.Samples, "sample", "samples"), plural(c.Classes, "class", "classes"))
	if t.known > 0 {
		c.lines.add("%s counted before or given twice: not counted again", plural(t.known, "sample", "samples"))
	}
	return c, r.problems(outcome.Problems, q.Out+".errors.csv")
}

// MergeStats merges files of statistics into one, whatever their order.
func (s *Studio) MergeStats(ctx context.Context, files []string, out string) (*Counted, error) {
	if err := Writable(out); err != nil {
		return nil, err
	}
	r := s.begin(ctx)
	sum, err := classstats.Load(files[0])
	if err != nil {
		return nil, err
	}
	c := &Counted{}
	for _, file := range files[1:] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, err := classstats.Load(file)
		if err != nil {
			return nil, err
		}
		n, err := sum.Merge(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		r.differ(s.Source(), sum.Source(), "in "+files[0])
		c.Again += n
	}
	sum.ToolVersion = r.version
	if err := sum.Save(out); err != nil {
		return nil, err
	}
	c.Samples, c.Classes = sum.SampleCount(), len(sum.Classes())
	c.lines.add("merged %s: %s of %s", plural(len(files), "file", "files"), plural(c.Samples, "sample", "samples"),
		plural(c.Classes, "class", "classes"))
	if c.Again > 0 {
		c.lines.add("%s in more than one file: counted once", plural(c.Again, "sample", "samples"))
	}
	return c, nil
}

// A tally adds samples to statistics as they are read.
type tally struct {
	stats  *classstats.Stats
	except []*classstats.Stats
	// known is the number of samples counted before, here or in except, and
	// unlabelled the number of samples without a class.
	known, unlabelled int
	// see, if it is set, is given every labelled sample.
	see func(class string, content model.Hash, embedding []float32)
}

// count adds the samples of in to new statistics, of embeddings scaled to length 1 if
// unit is set.
func (t *tally) count(ctx context.Context, in inputs, unit bool) (outcome embedding.Outcome, err error) {
	rows, err := in.open(ctx, nil, classes)
	if err != nil {
		return outcome, err
	}
	defer closeInto(rows, &err)
	from := rows.Provenance()
	t.stats = classstats.New(from.Dim, unit)
	t.stats.Provenance, t.stats.ToolVersion = from, in.version
	outcome, err = rows.Each(ctx, func(item embedding.Item) error {
		if item.Err != nil {
			return nil // outcome.Problems has it
		}
		return t.add(item.Sample.Label, model.Hash(item.Hash), item.Vector)
	})
	if err != nil {
		return outcome, err
	}
	if t.unlabelled > 0 && len(t.stats.Classes()) == 0 && t.known == 0 {
		return outcome, embedding.ErrNoLabels
	}
	in.noteLeftOut(t.unlabelled, 0, outcome.Skipped)
	return outcome, nil
}

func (t *tally) add(class string, content model.Hash, embedding []float32) error {
	if class == "" {
		t.unlabelled++
		return nil
	}
	id := model.SampleID{Content: content, Class: dataset.EscapePath(class)}
	if t.see != nil {
		t.see(id.Class, id.Content, embedding)
	}
	for _, s := range t.except {
		if s.Has(id) {
			t.known++
			return nil
		}
	}
	added, err := t.stats.Add(id, embedding)
	if !added {
		t.known++
	}
	return err
}
