package pipeline

import (
	"context"
	"fmt"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/model/prior"
)

// A PriorRequest says from what labelled photos of other things a prior is made.
type PriorRequest struct {
	// From are folders of images or of embeddings, each with classes of its own.
	From []Source
	Out  string
}

// PriorMade is what MakePrior returns.
type PriorMade struct {
	Prior *prior.Prior

	lines lines
}

// Lines say what the prior was made of, for a person.
func (p *PriorMade) Lines() []string { return p.lines }

// MakePrior measures how images of one class differ under a network, for models with few images a
// class, and saves it.
func (s *Studio) MakePrior(ctx context.Context, q PriorRequest) (*PriorMade, error) {
	if err := Writable(q.Out); err != nil {
		return nil, err
	}
	r := s.begin(ctx)
	products, err := r.Products(ctx)
	if err != nil {
		return nil, err
	}
	p := &prior.Prior{}
	p.ToolVersion = r.version
	var problems []dataset.Problem
	for _, from := range q.From {
		var examples prior.Examples
		t := &tally{see: examples.See}
		outcome, err := t.count(ctx, r.inputs(from, q.Out), true)
		if err == nil {
			err = p.Add(ctx, products.Backend, t.stats, &examples)
		}
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w", from.Images, from.Features, err)
		}
		problems = append(problems, outcome.Problems...)
	}
	if err := p.ChooseEpsilon(ctx, products.Backend); err != nil {
		return nil, err
	}
	if err := p.Save(q.Out); err != nil {
		return nil, err
	}
	made := &PriorMade{Prior: p}
	made.lines.add("made a prior: %s, %s in %s", plural(p.Samples(), "image", "images"),
		plural(p.Classes, "class", "classes"), plural(p.Sets, "folder", "folders"))
	return made, r.problems(problems, q.Out+".errors.csv")
}
