package main

import (
	"fmt"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/eval/fscil"
	"github.com/seed-90d10d51/pipeline/eval/fscil/figure"
	"github.com/seed-90d10d51/pipeline/eval/table"
	"github.com/seed-90d10d51/pipeline/internal/chart"
)

// writeOutcomes writes everything that docs/formats.md describes for fscil --out:
// the results of each head, in a sub-folder if there are several heads, and the
// comparison of all heads.
func (a *app) writeOutcomes(outcomes []outcome) error {
	var results []fscil.Result
	for _, o := range outcomes {
		results = append(results, o.result)
		dir := a.config.Out
		if len(outcomes) > 1 {
			dir = filepath.Join(dir, o.result.Method)
		}
		one := experiment.Outcome{Results: o.result, Details: o.details, Figures: []chart.Figure{figure.Classes(o.result, o.details.Runs[0])}}
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
		Title: fmt.Sprintf("%s, track %s", results[0].Dataset, results[0].Track), Lead: fscil.TrackText(results[0].Track), Tables: []table.Table{t},
		Figures: figure.All(results, published),
	}
	settings, err := a.config.YAML()
	if err != nil {
		return err
	}
	return all.Write(a.config.Out, settings)
}

func (a *app) sayOutcomes(outcomes []outcome) {
	t := table.Table{Header: []string{"method", "first", "last", "average", "forgetting", "track"}}
	for _, o := range outcomes {
		r := o.result
		t.Add(r.Method, table.Percent(r.Sessions[0].Accuracy), table.Percent(r.FinalAccuracy), table.Percent(r.AverageAccuracy), table.Percent(r.AverageForgetting), r.Track)
	}
	a.say("%s", t)
	a.say("table and figures are in %s", a.config.Out)
}
