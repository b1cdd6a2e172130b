package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/remark"
	"github.com/seed-90d10d51/pipeline/teach"
	"github.com/seed-90d10d51/pipeline/teach/project"
)

// What a model may begin with.
const (
	withFolders = "folders"
	withNames   = "names"
	withNothing = "nothing"
)

// A beginning is what the model of a new project learns at first.
type beginning struct {
	// With is withFolders of Examples, withNames, or withNothing.
	With     string   `json:"with"`
	Examples string   `json:"examples"`
	Names    []string `json:"names"`
}

// results says what to write of all photos, in the words of label.Config.
type results struct {
	Formats  []string `json:"formats"`
	Out      string   `json:"out"`
	Only     string   `json:"only"`
	Organise string   `json:"organise"`
	Split    string   `json:"split"`
	Report   bool     `json:"report"`
}

// of returns the photos of a folder, read as the request says.
func (q DeskRequest) of(images string) pipeline.Source {
	return pipeline.Source{Images: images, Scan: q.Scan, Boxes: q.Boxes}
}

// heard returns the application with a task as its listener, and a network for new models.
func (d *Desk) heard(t *task, network string) *pipeline.Studio {
	return d.studio.With(pipeline.WithNetwork(network), pipeline.WithListener(t),
		pipeline.WithLogger(remark.New(slog.LevelInfo, t.Say)))
}

// tell tells a task what was done. What could not be read is a line of it, and no failure.
func (t *task) tell(done interface{ Lines() []string }, err error) error {
	_, partial := err.(*pipeline.PartialError) // one that is joined to others is a failure
	if err != nil && !partial {
		return err
	}
	for _, line := range done.Lines() {
		t.Say(line)
	}
	if partial {
		t.Say("warning: " + err.Error())
	}
	return nil
}

// train makes the model of a project.
func (d *Desk) train(ctx context.Context, of project.Project, b beginning, t *task) error {
	from, texts := d.of(b.Examples), ""
	if b.With == withNames {
		// A table, so that no name is taken for the header of one.
		text := "class\n" + strings.Join(quoted(b.Names), "\n") + "\n"
		if err := atomicfile.WriteFile(of.Names(), []byte(text)); err != nil {
			return fmt.Errorf("names: %w", err)
		}
		from, texts = d.of(""), of.Names()
	}
	_, learned, err := d.heard(t, of.Network).Train(ctx, from, func(q *pipeline.TrainRequest) {
		q.Texts, q.Out, q.Classifier, q.Seed = texts, of.Model(), d.Classifier, d.Seed
	})
	return t.tell(learned, err)
}

// quoted are cells of a table.
func quoted(names []string) (cells []string) {
	for _, name := range names {
		cells = append(cells, `"`+strings.ReplaceAll(name, `"`, `""`)+`"`)
	}
	return cells
}

// teach opens the page of a project. The network of a model is found by what the model says.
func (d *Desk) teach(ctx context.Context, of project.Project) (*Page, error) {
	network := ""
	if !of.Begun() {
		network = of.Network
	}
	p, err := prepare(ctx, d.studio.With(pipeline.WithNetwork(network)), PageRequest{
		TeachRequest: pipeline.TeachRequest{
			Model: of.Model(), From: d.of(of.Images), Events: d.Label.Events, Classifier: d.Classifier, Seed: d.Seed,
		},
		Config:    Config{Token: d.token, BasePath: sitePath},
		FileTimes: d.Label.FileTimes,
	})
	if err != nil {
		return nil, openElsewhere(ctx, of, err)
	}
	p.Start, p.Title, p.Quit = "../", of.Name(), d.stop
	p.Entrance = Entrance{Page: d.page + strings.TrimPrefix(sitePath, "/") + "/?token=" + d.token, Admit: d.admit}
	if err := p.begin(0); err != nil {
		return nil, openElsewhere(ctx, of, errors.Join(err, p.Close()))
	}
	return p, nil
}

// openElsewhere adds to the error of a project that is in use where its page is, if it is this
// user's.
func openElsewhere(ctx context.Context, of project.Project, err error) error {
	if !errors.Is(err, teach.ErrInUse) {
		return err
	}
	found, _ := find(ctx, of.Model())
	if found == nil {
		return err
	}
	return fmt.Errorf("%s is open already at %s: go on there, or choose Quit there first", of.Name(), found.Page)
}

// label labels all photos of a project with the model as it was saved last.
func (d *Desk) label(ctx context.Context, of project.Project, e results, t *task) error {
	q := pipeline.LabelRequest{
		Model: of.Model(), From: d.of(of.Images), Out: e.Out, Settings: d.Label, OldShare: d.Classifier.OldShare,
		Seed: d.Seed,
	}
	q.Settings.Format, q.Settings.Only, q.Settings.Organise, q.Settings.Split = e.Formats, e.Only, e.Organise, e.Split
	if q.Settings.Report = e.Report; e.Report {
		q.Report = e.Out
	}
	if err := q.Settings.Validate(); err != nil {
		return err
	}
	labelled, err := d.heard(t, "").Label(ctx, q)
	return t.tell(labelled, err)
}
