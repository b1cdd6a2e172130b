package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/embedding/wording"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/model"
)

// texts are those that describe classes, in the file or folder path.
type texts struct {
	*run
	path     string
	from     Source // of the photos that they are compared with
	newModel embedding.Options
}

func (r *run) texts(path string, from Source) texts {
	return texts{r, path, from, r.embed}
}

// words reads or computes the texts of the settings, for a model or, if it is nil, a new
// one. It returns nil without texts, and where they come from.
func (t texts) words(ctx context.Context, m *model.Model) (*gauss.Words, embedding.Provenance, error) {
	var none embedding.Provenance
	path := t.path
	if path == "" {
		return nil, none, nil
	}
	read, err := t.read(ctx, m)
	if err != nil {
		return nil, none, err
	}
	byClass, err := read.ByClass()
	if err != nil {
		return nil, none, fmt.Errorf("texts %s: %w", path, err)
	}
	words, err := gauss.NewWords(byClass)
	if err != nil {
		return nil, none, fmt.Errorf("texts %s: %w", path, err)
	}
	return words, read.Provenance, nil
}

// read reads a folder of texts, or computes their embeddings from a file.
func (t texts) read(ctx context.Context, m *model.Model) (featdir.Texts, error) {
	if dataset.IsFolder(t.path) {
		texts, err := featdir.ReadTexts(t.path)
		if err == nil && m != nil {
			err = m.Provenance.Compatible(texts.Provenance, "in "+t.path)
		}
		return texts, err
	}
	described, err := dataset.ReadDescriptions(t.path)
	if err != nil {
		return featdir.Texts{}, err
	}
	photos, err := t.photoNetwork(m)
	if err != nil {
		return featdir.Texts{}, err
	}
	return t.describe(ctx, described, photos)
}

// describe computes the embeddings of what describes classes.
func (r *run) describe(ctx context.Context, described []dataset.Description,
	photos embedding.Provenance) (texts featdir.Texts, err error) {
	side, err := wording.Open(r.settings.Text, photos, r.embed)
	if err != nil {
		return texts, err
	}
	defer closeInto(side, &err)
	return side.Describe(ctx, described, photos)
}

// photoNetwork returns what is known of the network of the photos that words are compared
// with: that of a model, of the features, or the one that a new model would have.
func (t texts) photoNetwork(m *model.Model) (embedding.Provenance, error) {
	var known embedding.Provenance
	switch {
	case m != nil:
		known = m.Provenance
	case t.from.Features != "":
		r, err := featdir.Open(t.from.Features)
		if err != nil {
			return known, err
		}
		known = r.Provenance()
		if err := r.Close(); err != nil {
			return known, err
		}
	}
	switch here := known.Backbone.SHA256 != ""; {
	case t.settings.Network != "":
	case here:
		return known, nil
	case m != nil || t.from.Features != "":
		return known, misuse("it is not known which network computed the embeddings of the photos: name it with " +
			"{backbone}, or give a folder of embeddings of texts with {texts} TEXTDIR")
	}
	o := t.newModel
	dirs, err := o.BackboneDirs()
	if err != nil {
		return known, err
	}
	file, err := backbone.Resolve(o.Backbone, dirs)
	if err != nil {
		return known, err
	}
	named := embedding.Provenance{
		Backbone: embedding.Backbone{Name: file.Name, SHA256: file.SHA256, Path: file.Path}, Dim: known.Dim,
	}
	if err := named.Compatible(known, "in the photos' embeddings"); err != nil {
		return known, err
	}
	known.Backbone = named.Backbone
	return known, nil
}

// trainNames makes a model of names alone. If it is known which network the photos will
// have, the model is one of that network.
func (r *run) trainNames(settings model.Settings, from embedding.Provenance, q TrainRequest) (l *Learned, err error) {
	settings.Provenance = from
	if from.Backbone.SHA256 != "" && from.ExtractorFingerprint == "" {
		e, err := embedding.Open(r.embed)
		if err != nil {
			return nil, err
		}
		defer closeInto(e, &err)
		settings.Provenance = e.Provenance()
		settings.Provenance.Text = from.Text
	}
	settings.Provenance.Dim = cmp.Or(settings.Provenance.Dim, settings.Words.Texts.Cols)
	m, err := model.New(settings)
	if err != nil {
		return nil, err
	}
	return namesSaved(m, q.Out)
}

// learnNames teaches a model the names of the texts, if there are any. It returns a result if there
// is nothing else to learn.
func (r *run) learnNames(ctx context.Context, m *model.Model, q LearnRequest) (*Learned, error) {
	words, from, err := r.texts(q.Texts, q.From).words(ctx, m)
	if err != nil || words == nil {
		return nil, err
	}
	if err := m.AddWords(ctx, words); err != nil {
		return nil, err
	}
	if from.Text != nil {
		m.Provenance.Text = from.Text
	}
	m.ToolVersion = r.version
	if !q.From.empty() {
		return nil, nil
	}
	return namesSaved(m, q.to())
}

// namesSaved saves a model that has learned nothing but names.
func namesSaved(m *model.Model, file string) (*Learned, error) {
	if err := save(m, file); err != nil {
		return nil, err
	}
	return &Learned{Model: m, File: file, lines: wordLines(m)}, nil
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
