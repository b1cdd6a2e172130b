package command

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
	"github.com/seed-90d10d51/pipeline/model"
)

// textsFlag adds --texts.
func textsFlag(cmd *cobra.Command) {
	cmd.Flags().String("texts", "",
		"`folder` of embeddings of texts that describe classes: texts.npy and texts.csv (class,text)")
	bind(cmd.Flags(), "", "texts")
}

// words reads the texts of the settings, nil for none.
func (a *app) words() (*gauss.Words, error) {
	dir := a.config.Texts
	if dir == "" {
		return nil, nil
	}
	if info, err := os.Stat(dir); err == nil && info.Mode().IsRegular() {
		return nil, usagef("--texts %s is a file: give a folder of embeddings of its texts (texts.npy, texts.csv)", dir)
	}
	texts, err := featdir.ReadTexts(dir)
	if err != nil {
		return nil, err
	}
	byClass, err := texts.ByClass()
	if err != nil {
		return nil, fmt.Errorf("read texts %s: %w", dir, err)
	}
	words, err := gauss.NewWords(byClass)
	if err != nil {
		return nil, fmt.Errorf("read texts %s: %w", dir, err)
	}
	return words, nil
}

// namesOnly reports whether a command has texts, but no images to learn from.
func (a *app) namesOnly() bool {
	return a.config.Images == "" && a.config.List == "" && a.config.Features == ""
}

// trainNames makes a model of names alone.
func (a *app) trainNames(settings model.Settings, asJSON bool) error {
	settings.Provenance = embed.Provenance{Dim: settings.Words.Texts.Cols}
	m, err := model.New(settings)
	if err != nil {
		return err
	}
	return a.saveNames(m, a.config.Out, asJSON)
}

// learnNames teaches a model the names of --texts, if there are any. It is done if there
// is nothing else to learn.
func (a *app) learnNames(ctx context.Context, m *model.Model, file string, asJSON bool) (done bool, err error) {
	words, err := a.words()
	if err != nil || words == nil {
		return false, err
	}
	if err := m.AddWords(ctx, words); err != nil {
		return false, err
	}
	m.ToolVersion = version
	if !a.namesOnly() {
		return false, nil
	}
	return true, a.saveNames(m, file, asJSON)
}

// saveNames saves a model that has learned nothing but names.
func (a *app) saveNames(m *model.Model, file string, asJSON bool) error {
	if err := a.save(m, file); err != nil {
		return err
	}
	a.sayAll(wordLines(m))
	if asJSON {
		return a.sayLearned(m, a.destination(file), model.Outcome{}, 0)
	}
	return nil
}

// wordLines say what names a model knows, and how much they count.
func wordLines(m *model.Model) []string {
	w := m.Predictor.Words()
	if w == nil {
		return nil
	}
	names := plural(len(w.Names), "class", "classes")
	if m.SampleCount() == 0 {
		return []string{"words      the names of " + names + ", and no images yet"}
	}
	T := 1.0
	if v := m.Predictor.Temperature; v != nil {
		T = v.T
	}
	lines := []string{fmt.Sprintf("words      the names of %s; each counts as %s, and its score %.2g times", names,
		plural(w.Count, "image", "images"), w.Weight/T)}
	if len(w.Doubted) > 0 {
		lines = append(lines, fmt.Sprintf("set aside  the names of %s, because the images contradict them: %s",
			plural(len(w.Doubted), "class", "classes"), strings.Join(w.Doubted[:min(10, len(w.Doubted))], ", ")))
	}
	return lines
}
