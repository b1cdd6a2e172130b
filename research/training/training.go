package training

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"

	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/research/grid"
	"github.com/seed-90d10d51/pipeline/research/table"
)

const saved = "checkpoint"

// A Job says where training stores its checkpoint and its course.
type Job struct {
	Folder *checkpoint.Folder
	// Keyed gives every training its own sub-folder, named after its key, so
	// that several can share a folder.
	Keyed bool
}

// Env returns functions that train projections and save their states in a folder, so
// that trainings can be resumed. Those that serve a comparison have sub-folders, and
// so have all if keyed. Restart ignores earlier states.
func Env(dir string, keyed, restart bool, say func(message string, args ...any)) dkl.TrainEnv {
	job := Job{Folder: &checkpoint.Folder{Dir: dir, Restart: restart, Say: say}, Keyed: keyed}
	tries := Job{Folder: &checkpoint.Folder{Dir: filepath.Join(dir, compared), Restart: restart}, Keyed: true}
	return dkl.TrainEnv{Train: job.Train, Say: say, Try: func(ctx context.Context, t *dkl.Trainer) error {
		err := tries.Train(ctx, t)
		if err == nil {
			say("trained a projection on part of the images, to compare", "epochs", len(t.History()))
		}
		return err
	}}
}

// compared is the sub-folder of trainings that serve a comparison.
const compared = "compared"

// Finish removes the states that Env saved in a folder, once what they were trained for
// is saved; the course of the training stays. Without such a folder it does nothing.
func Finish(dir string) error {
	f := checkpoint.Folder{Dir: dir}
	return errors.Join(f.Remove(saved), atomicfile.RemoveAll(filepath.Join(dir, compared)))
}

// Train runs a trainer to its end, resuming from its checkpoint. When ctx is
// cancelled, the unfinished epoch is lost, and the user is told where the others are.
func (j Job) Train(ctx context.Context, t *dkl.Trainer) error {
	if err := j.train(ctx, t); err != nil {
		return fmt.Errorf("train the projection: %w", err)
	}
	return nil
}

func (j Job) train(ctx context.Context, t *dkl.Trainer) error {
	key, err := t.Key()
	if err != nil {
		return err
	}
	name := saved
	if j.Keyed {
		name = path.Join(key[:16], name)
	}
	file := j.Folder.File(name)
	dir := filepath.Dir(file)
	_, _ = atomicfile.RemoveStale(dir) // leftovers do no harm
	if s, ok := j.Folder.Load(name, key); ok {
		if err := t.Restore(s); err != nil {
			j.Folder.Note("training starts from the beginning", "checkpoint", file, "reason", err)
		} else {
			j.Folder.Note("training goes on", "epochs done", len(t.History()))
		}
	}
	for done := false; !done; {
		if done = t.Done(); !done {
			e, err := t.Epoch(ctx)
			if done := len(t.History()); ctx.Err() != nil && done > 0 {
				j.Folder.Note("training stopped; the same command goes on from its checkpoint", "checkpoint", file,
					"epochs done", done)
			}
			if err != nil {
				return err
			}
			args := []any{"epoch", e.Epoch, "phase", e.Phase, "loss", fmt.Sprintf("%.4f", e.Loss)}
			if e.Accuracy != nil {
				args = append(args, "held-out accuracy", fmt.Sprintf("%.2f %%", 100**e.Accuracy), "nll",
					fmt.Sprintf("%.4f", *e.NLL))
			}
			j.Folder.Note("trained", args...)
		}
		s, err := t.Save()
		if err != nil {
			return err
		}
		if err := j.Folder.Save(name, key, s); err != nil {
			return err
		}
		if err := writeCourse(dir, t.History()); err != nil {
			return err
		}
	}
	return draw(dir, t.History())
}

func writeCourse(dir string, history []dkl.Epoch) error {
	number := func(v *float64) string {
		if v == nil {
			return table.None
		}
		return strconv.FormatFloat(*v, 'g', 8, 64)
	}
	t := table.Table{Header: []string{"epoch", "phase", "rate", "loss", "accuracy", "nll"}}
	for _, e := range history {
		t.Rows = append(t.Rows, []string{strconv.Itoa(e.Epoch), e.Phase, number(&e.Rate), number(&e.Loss),
			number(e.Accuracy), number(e.NLL)})
	}
	text, err := t.CSV()
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(dir, "training.csv"), text)
}

// draw writes the figures: one line for each phase.
func draw(dir string, history []dkl.Epoch) error {
	if len(history) < 2 {
		return nil
	}
	var epochs grid.Grid
	for _, e := range history {
		v := grid.Values{"loss": e.Loss}
		if e.Accuracy != nil {
			v["accuracy"] = *e.Accuracy
		}
		epochs.Add(grid.At("phase", e.Phase, "epoch", e.Epoch), v)
	}
	for _, f := range []struct {
		name, title, y, of string
		scale              float64
	}{
		{"loss", "training", "mean loss", "loss", 1},
		{"training", "held-out base examples", "accuracy (%)", "accuracy", 100},
	} {
		if epochs.Values(nil, f.of) == nil {
			continue
		}
		axes := chart.Axes{Title: "Deep kernel learning · " + f.title, X: "epoch", Y: f.y}
		lines := grid.Lines{X: "epoch", Y: f.of, Scale: f.scale, By: []string{"phase"}, Bare: true}
		if err := epochs.Figure(f.name, axes, lines).Write(dir); err != nil {
			return err
		}
	}
	return nil
}
