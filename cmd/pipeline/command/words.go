package command

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
	"github.com/seed-90d10d51/pipeline/embed/wording"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/model"
)

// textsFlag adds --texts and --tokenizer.
func textsFlag(cmd *cobra.Command) {
	cmd.Flags().String("texts", "", "`file` of classes, one per line, or a table class,text; or a TEXTDIR of embed")
	bind(cmd.Flags(), "", "texts")
	tokenizerFlag(cmd)
}

func tokenizerFlag(cmd *cobra.Command) {
	cmd.Flags().String("tokenizer", "", "`file` tokenizer.json of the text side, if not beside it")
	config.Bind(cmd.Flags(), "tokenizer", "text.tokenizer")
}

// textsIn reports whether a path of --texts is a folder of embeddings.
func textsIn(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// words reads or computes the texts of the settings, for a model or, if it is nil, a new
// one. It returns nil without texts, and where they come from.
func (a *app) words(ctx context.Context, m *model.Model) (*gauss.Words, embed.Provenance, error) {
	var none embed.Provenance
	path := a.config.Texts
	if path == "" {
		return nil, none, nil
	}
	texts, err := a.texts(ctx, m)
	if err != nil {
		return nil, none, err
	}
	byClass, err := texts.ByClass()
	if err != nil {
		return nil, none, fmt.Errorf("texts %s: %w", path, err)
	}
	words, err := gauss.NewWords(byClass)
	if err != nil {
		return nil, none, fmt.Errorf("texts %s: %w", path, err)
	}
	return words, texts.Provenance, nil
}

// texts reads a folder of texts, or computes their embeddings from a file.
func (a *app) texts(ctx context.Context, m *model.Model) (featdir.Texts, error) {
	if textsIn(a.config.Texts) {
		texts, err := featdir.ReadTexts(a.config.Texts)
		if err == nil && m != nil {
			err = m.Provenance.Compatible(texts.Provenance, "in "+a.config.Texts)
		}
		return texts, err
	}
	described, err := dataset.ReadDescriptions(a.config.Texts)
	if err != nil {
		return featdir.Texts{}, err
	}
	photos, err := a.photoNetwork(m)
	if err != nil {
		return featdir.Texts{}, err
	}
	return a.describe(ctx, described, photos)
}

// describe computes the embeddings of what describes classes.
func (a *app) describe(ctx context.Context, described []dataset.Description,
	photos embed.Provenance) (texts featdir.Texts, err error) {
	side, err := wording.Open(a.config.Text, photos, a.options())
	if err != nil {
		return texts, err
	}
	defer closeInto(side, &err)
	return side.Describe(ctx, described, photos)
}

// photoNetwork returns what is known of the network of the photos that words are compared
// with: that of a model, of the features, or the one that a new model would have.
func (a *app) photoNetwork(m *model.Model) (embed.Provenance, error) {
	var known embed.Provenance
	switch {
	case m != nil:
		known = m.Provenance
	case a.config.Features != "":
		r, err := featdir.Open(a.config.Features)
		if err != nil {
			return known, err
		}
		known = r.Provenance()
		if err := r.Close(); err != nil {
			return known, err
		}
	}
	switch here := known.Backbone.SHA256 != ""; {
	case a.config.Backbone != "":
	case here:
		return known, nil
	case m != nil || a.config.Features != "":
		return known, usagef("it is not known which network computed the embeddings of the photos: name it with " +
			"--backbone, or give a folder of embeddings of texts with --texts TEXTDIR")
	}
	o := a.newOptions()
	dirs, err := o.BackboneDirs()
	if err != nil {
		return known, err
	}
	file, err := backbone.Resolve(o.Backbone, dirs)
	if err != nil {
		return known, err
	}
	named := embed.Provenance{
		Backbone: embed.Backbone{Name: file.Name, SHA256: file.SHA256, Path: file.Path}, Dim: known.Dim,
	}
	if err := named.Compatible(known, "in the photos' embeddings"); err != nil {
		return known, err
	}
	known.Backbone = named.Backbone
	return known, nil
}

// namesOnly reports whether a command has texts, but no images to learn from.
func (a *app) namesOnly() bool {
	return a.config.Images == "" && a.config.List == "" && a.config.Features == ""
}

// trainNames makes a model of names alone. If it is known which network the photos will
// have, the model is one of that network.
func (a *app) trainNames(settings model.Settings, from embed.Provenance) (err error) {
	settings.Provenance = from
	if from.Backbone.SHA256 != "" && from.ExtractorFingerprint == "" {
		e, err := embed.Open(a.newOptions())
		if err != nil {
			return err
		}
		defer closeInto(e, &err)
		settings.Provenance = e.Provenance()
		settings.Provenance.Text = from.Text
	}
	settings.Provenance.Dim = cmp.Or(settings.Provenance.Dim, settings.Words.Texts.Cols)
	m, err := model.New(settings)
	if err != nil {
		return err
	}
	return a.saveNames(m, a.config.Out)
}

// learnNames teaches a model the names of --texts, if there are any. It is done if there
// is nothing else to learn.
func (a *app) learnNames(ctx context.Context, m *model.Model, file string) (done bool, err error) {
	words, from, err := a.words(ctx, m)
	if err != nil || words == nil {
		return false, err
	}
	if err := m.AddWords(ctx, words); err != nil {
		return false, err
	}
	if from.Text != nil {
		m.Provenance.Text = from.Text
	}
	m.ToolVersion = version
	if !a.namesOnly() {
		return false, nil
	}
	return true, a.saveNames(m, file)
}

// saveNames saves a model that has learned nothing but names.
func (a *app) saveNames(m *model.Model, file string) error {
	if err := a.save(m, file); err != nil {
		return err
	}
	a.sayAll(wordLines(m))
	if a.json != "" {
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
