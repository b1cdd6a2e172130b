package runner

import (
	"fmt"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/fscil"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// Write writes everything that docs/formats-research.md describes for fscil --out: the results
// of each head, in a sub-folder if there are several heads, and the comparison of all
// heads, with the settings.
func (r Runner) Write(outcomes []Outcome, settings []byte) error {
	var results []fscil.Result
	for _, o := range outcomes {
		results = append(results, o.Result)
		dir := r.Env.Dir
		if len(outcomes) > 1 {
			dir = filepath.Join(dir, o.Result.Method)
		}
		one := experiment.Outcome{
			Results: o.Result, Details: o.Details, Figures: []chart.Figure{classMap(o.Result, o.Details.Runs[0])},
		}
		if err := one.Write(dir, nil); err != nil {
			return err
		}
	}
	t, err := fscil.NewTable(results)
	if err != nil {
		return err
	}
	published, err := fscil.Published(results[0].Dataset, results[0].Track)
	if err != nil {
		return err
	}
	all := experiment.Outcome{
		Title:  fmt.Sprintf("%s, track %s", results[0].Dataset, results[0].Track),
		Lead:   fscil.TrackText(results[0].Track),
		Tables: []table.Table{t}, Figures: figures(results, published),
	}
	return all.Write(r.Env.Dir, settings)
}

// Overview returns a table of the outcomes, a row per head.
func Overview(outcomes []Outcome) table.Table {
	t := table.Table{Header: []string{"method", "first", "last", "average", "forgetting", "track"}}
	for _, o := range outcomes {
		r := o.Result
		t.Add(r.Name(), table.Percent(r.Sessions[0].Accuracy), table.Percent(r.FinalAccuracy),
			table.Percent(r.AverageAccuracy), table.Percent(r.AverageForgetting), r.Track)
	}
	return t
}

// Material returns the embeddings of a feature folder, bound to the sessions, for
// experiments.
func (r Runner) Material(features string) (experiment.Material, error) {
	s, err := r.readFeatures(features)
	if err != nil {
		return experiment.Material{}, err
	}
	benches, err := r.Benches(s)
	if err != nil {
		return experiment.Material{}, err
	}
	key := []any{s.fingerprint}
	for _, b := range benches {
		key = append(key, b.Protocol())
	}
	fingerprint, err := checkpoint.Key(key...)
	return experiment.Material{Benches: benches, Fingerprint: fingerprint}, err
}
