package experiment

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/research/fscil"
	"github.com/seed-90d10d51/pipeline/research/grid"
)

// An Env is what an experiment uses besides its own settings.
type Env struct {
	// Dir is the results folder.
	Dir string
	// Seed is the seed of everything random.
	Seed uint64
	// Version is the program's version; parts written by another version are
	// not used.
	Version string
	// Heads are the settings of the classifiers.
	Heads method.Config
	// Features is the feature folder the user gave, or "".
	Features string
	// Open binds a feature folder to the sessions in the settings.
	Open func(features string) (Material, error)
	// Backend computes large matrix products; nil means gonum.
	Backend linalg.Backend
	// BackendName names the Backend; parts computed with another one are not
	// used.
	BackendName string
	// Restart recomputes everything, ignoring the parts of earlier runs.
	Restart bool
	// Note reports progress to the user; nil means silence.
	Note func(message string, args ...any)
}

// Head returns an unfitted head with the settings and backend of e.
func (e Env) Head(name string) (classifier.Learner, error) {
	return method.NewOn(e.Backend, name, e.Heads)
}

// A Material holds embeddings bound to sessions.
type Material struct {
	// Benches has one bench per run.
	Benches []*fscil.Bench
	// Fingerprint changes with every embedding, label and session.
	Fingerprint string
}

// Material opens the feature folder the user gave.
func (e Env) Material() (Material, error) {
	if e.Features == "" {
		return Material{}, Inputf("no embeddings: give a feature folder with --features")
	}
	return e.Open(e.Features)
}

// An Inputs is what a part depends on: anything that marshals to JSON.
type Inputs any

// partsFolder is the folder of finished parts, below that of the results.
const partsFolder = "parts"

// Folder returns a checkpoint folder below the parts folder; "" is the parts
// folder itself.
func (e Env) Folder(name string) *checkpoint.Folder {
	return &checkpoint.Folder{Dir: filepath.Join(e.Dir, partsFolder, name), Restart: e.Restart, Say: e.Note}
}

// Draft returns the intermediate state of a part with those inputs: a value
// that is saved from time to time while the part is computed, and removed at
// the end.
func Draft[T any](e Env, name string, of Inputs) (checkpoint.Part[T], error) {
	return part[T](e, name+".draft", of)
}

// part returns the place of a value in the results folder. The program's
// version, the backend and the seed count as inputs.
func part[T any](e Env, name string, of Inputs) (checkpoint.Part[T], error) {
	key, err := checkpoint.Key(e.Version, e.BackendName, e.Seed, of)
	if err != nil {
		return checkpoint.Part[T]{}, fmt.Errorf("part %s: %w", name, err)
	}
	return checkpoint.Part[T]{Folder: e.Folder(""), Name: name, Key: key}, nil
}

// Part returns what compute returns for the inputs. A value finished by an
// earlier run of the same program is read from the results folder; otherwise it
// is computed and stored there. name must be unique within the experiment and
// is also the file's name. If ctx is cancelled, nothing is computed or stored: once
// it is, products may come from another library, with other last bits.
func Part[T any](ctx context.Context, e Env, name string, of Inputs, compute func() (T, error)) (v T, err error) {
	p, err := part[T](e, name, of)
	if err != nil {
		return v, err
	}
	if kept := p.Load(); kept != nil {
		return *kept, nil
	}
	if err := ctx.Err(); err != nil {
		return v, err
	}
	if v, err = compute(); err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = p.Save(v)
	}
	if err != nil {
		return v, fmt.Errorf("part %s: %w", name, err)
	}
	p.Folder.Note("finished", "part", name)
	return v, nil
}

// A Task measures some cells of a grid, once.
type Task struct {
	// Name is unique within the experiment, Of what the cells depend on.
	Name    string
	Of      Inputs
	Measure func(context.Context) (grid.Grid, error)
}

// Measure does all tasks, each as a Part, and returns their cells. Of tasks with the same
// name it does the first.
func (e Env) Measure(ctx context.Context, tasks ...Task) (grid.Grid, error) {
	var all grid.Grid
	done := map[string]bool{}
	for _, t := range tasks {
		if done[t.Name] {
			continue
		}
		done[t.Name] = true
		cells, err := Part(ctx, e, t.Name, []any{"cells", t.Of}, func() (grid.Grid, error) { return t.Measure(ctx) })
		if err != nil {
			return nil, err
		}
		all.Join(cells)
	}
	return all, nil
}

// An InputError reports that the user must provide or change an input.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }

// Inputf returns an InputError with a formatted message.
func Inputf(format string, args ...any) error { return &InputError{Err: fmt.Errorf(format, args...)} }
