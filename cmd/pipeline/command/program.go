package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/serve"
	"github.com/seed-90d10d51/pipeline/teach"
	"github.com/seed-90d10d51/pipeline/teach/project"
)

// A program does for the start page what the commands do. It implements serve.Program.
type program struct{ *app }

// Ready implements serve.Program.
func (p program) Ready() error {
	_, err := p.Options(context.Background()).Runtime()
	return err
}

// Networks implements serve.Program.
func (p program) Networks() ([]serve.Network, error) {
	entries, err := backbone.Catalogue()
	if err != nil {
		return nil, err
	}
	dirs, err := p.Options(context.Background()).BackboneDirs()
	if err != nil {
		return nil, err
	}
	here := []serve.Network{}
	var others []serve.Network
	for _, e := range entries {
		n := serve.Network{
			Name: e.Name, About: e.Description, Licence: e.Licence, Bytes: e.AllBytes(), Here: dirs.Pulled(e),
			Obtainable: e.Pullable(), Texts: e.Text != nil, Untried: e.Untried,
		}
		switch {
		case n.Here:
			here = append(here, n)
		case n.Obtainable:
			others = append(others, n)
		}
	}
	return append(here, others...), nil
}

// SetUp implements serve.Program.
func (p program) SetUp(ctx context.Context, task *serve.Task) error {
	s := setup{app: p.during(task, p.config, "")}
	return s.run(ctx)
}

// Obtain implements serve.Program.
func (p program) Obtain(ctx context.Context, name string, task *serve.Task) error {
	return p.during(task, p.config, "").pullBackbone(ctx, name)
}

// Train implements serve.Program.
func (p program) Train(ctx context.Context, of project.Project, b serve.Beginning, task *serve.Task) error {
	c := p.config
	c.Images, c.Texts, c.Out, c.Backbone = b.Examples, "", of.Model(), of.Network
	if b.With == serve.WithNames {
		// A table, so that no name is taken for the header of one.
		text := "class\n" + strings.Join(quoted(b.Names), "\n") + "\n"
		if err := atomicfile.WriteFile(of.Names(), []byte(text)); err != nil {
			return fmt.Errorf("names: %w", err)
		}
		c.Images, c.Texts = "", of.Names()
	}
	part := p.during(task, c, "")
	return part.settle(part.train(ctx, "", ""))
}

// quoted are cells of a table.
func quoted(names []string) (cells []string) {
	for _, name := range names {
		cells = append(cells, `"`+strings.ReplaceAll(name, `"`, `""`)+`"`)
	}
	return cells
}

// Open implements serve.Program. The network of a model is found by what the model says.
func (p program) Open(ctx context.Context, of project.Project, token string, e serve.Entrance, quit func(),
	_ *serve.Task) (serve.Site, error) {
	c := p.config
	c.Images, c.List, c.Features, c.Backbone = of.Images, "", "", ""
	c.Serve.BasePath, c.Serve.Hosts = serve.SitePath, nil
	if !of.Begun() {
		c.Backbone = of.Network
	}
	s, err := p.with(c, "").newSite(ctx, of.Model(), token)
	if err != nil {
		return nil, openElsewhere(ctx, of, err)
	}
	s.server.Start, s.server.Title, s.server.Entrance, s.server.Quit = "../", of.Name(), e, quit
	if err := s.open(0); err != nil {
		return nil, openElsewhere(ctx, of, errors.Join(err, s.Close()))
	}
	return s, nil
}

// openElsewhere adds to the error of a project that is in use where its page is, if it is this
// user's.
func openElsewhere(ctx context.Context, of project.Project, err error) error {
	if !errors.Is(err, teach.ErrInUse) {
		return err
	}
	found, _ := serve.Find(ctx, of.Model())
	if found == nil {
		return err
	}
	return fmt.Errorf("%s is open already at %s: go on there, or choose Quit there first", of.Name(), found.Page)
}

// Label implements serve.Program.
func (p program) Label(ctx context.Context, of project.Project, e serve.Export, task *serve.Task) error {
	c, report := p.config, ""
	c.Images, c.Out, c.Backbone = of.Images, e.Out, ""
	l := c.Label
	l.Format, l.Only, l.Organise, l.Split, l.Report = e.Formats, e.Only, e.Organise, e.Split, e.Report
	if l.Report {
		report = e.Out
	}
	if err := l.Validate(); err != nil {
		return err
	}
	c.Label = l
	part := p.during(task, c, report)
	return part.settle(part.label(ctx, of.Model()))
}

// settle makes what could not be read a line of the task, as it is no failure of it.
func (a *app) settle(err error) error {
	if isPartial(err) {
		a.say("%s", message(err))
		return nil
	}
	return err
}
