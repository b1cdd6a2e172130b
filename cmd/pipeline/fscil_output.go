package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/eval/fscil"
	"github.com/seed-90d10d51/pipeline/eval/fscil/figure"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/chart"
)

// writeOutcomes writes everything that cli.md promises of fscil --out.
func (w *app) writeOutcomes(outcomes []outcome) error {
	var results []fscil.Result
	for _, o := range outcomes {
		results = append(results, o.result)
		dir := w.config.Out
		if len(outcomes) > 1 {
			dir = filepath.Join(dir, o.result.Method)
		}
		if err := o.write(dir); err != nil {
			return err
		}
	}
	if err := writeTable(w.config.Out, results); err != nil {
		return err
	}
	if err := writeFigures(w.config.Out, results); err != nil {
		return err
	}
	resolved, err := w.config.YAML()
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(w.config.Out, "config.yaml"), resolved)
}

// write writes what concerns one head only.
func (o outcome) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, "results.json"), o.result); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, "details.json"), o.details); err != nil {
		return err
	}
	f, err := figure.Classes(o.result, o.details.Runs[0])
	if err != nil {
		return err
	}
	return writeFigure(dir, f)
}

func writeJSON(file string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(file, append(text, '\n'))
}

func writeTable(dir string, results []fscil.Result) error {
	t, err := fscil.NewTable(results)
	if err != nil {
		return err
	}
	var markdown, rows bytes.Buffer
	if err := t.WriteMarkdown(&markdown); err != nil {
		return err
	}
	if err := t.WriteCSV(&rows); err != nil {
		return err
	}
	if err := atomicfile.WriteFile(filepath.Join(dir, "table.md"), markdown.Bytes()); err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(dir, "table.csv"), rows.Bytes())
}

func writeFigures(dir string, results []fscil.Result) error {
	published, err := fscil.Published(results[0].Dataset, results[0].Track)
	if err != nil {
		return err
	}
	figures, err := figure.All(results, published)
	if err != nil {
		return err
	}
	for _, f := range figures {
		if err := writeFigure(dir, f); err != nil {
			return err
		}
	}
	return nil
}

func writeFigure(dir string, f chart.Figure) error {
	for _, format := range []string{"png", "svg"} {
		picture, err := f.Encode(format)
		if err != nil {
			return err
		}
		if err := atomicfile.WriteFile(filepath.Join(dir, f.Name+"."+format), picture); err != nil {
			return err
		}
	}
	return nil
}

func (w *app) sayOutcomes(outcomes []outcome) {
	for _, o := range outcomes {
		r := o.result
		w.say("%-5s first %.2f  last %.2f  average %.2f  forgetting %.2f  (%%, %s)", r.Method,
			100*r.Sessions[0].Accuracy, 100*r.FinalAccuracy, 100*r.AverageAccuracy, 100*r.AverageForgetting, r.Track)
	}
	w.say("table and figures are in %s", w.config.Out)
}
