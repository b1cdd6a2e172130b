package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

// File is the name of the checkpoint in its folder.
const File = "checkpoint.safetensors"

// format is what the file says that it is.
const format = "pipeline-dkl-checkpoint"

// A Folder is where training leaves its state.
type Folder struct {
	Dir string
	// Keyed gives every training a sub-folder of its own, named after its key,
	// so that several with one folder do not overwrite each other.
	Keyed bool
	// Anew starts from the beginning whatever is there.
	Anew bool
	// Note tells the user how far the work is; nil means in silence.
	Note func(message string, args ...any)
}

// Train takes a trainer to its end, from where an earlier run stopped. When ctx
// is cancelled, the epoch that was begun is lost.
func (f Folder) Train(ctx context.Context, t *dkl.Trainer) error {
	if err := f.train(ctx, t); err != nil {
		return fmt.Errorf("train the projection: %w", err)
	}
	return nil
}

func (f Folder) train(ctx context.Context, t *dkl.Trainer) error {
	dir, err := f.folder(t)
	if err != nil {
		return err
	}
	_, _ = atomicfile.RemoveStale(dir) // leftovers do no harm
	if err := f.goOn(filepath.Join(dir, File), t); err != nil {
		return err
	}
	for !t.Done() {
		e, err := t.Epoch(ctx)
		if err != nil {
			return err
		}
		f.tell(e)
		if err := f.keep(dir, t); err != nil {
			return err
		}
	}
	if err := f.keep(dir, t); err != nil {
		return err
	}
	return draw(dir, t.History())
}

func (f Folder) folder(t *dkl.Trainer) (string, error) {
	dir := f.Dir
	if f.Keyed {
		key, err := t.Key()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(dir, key[:16])
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// goOn restores the state of an earlier run, if it is of this training.
func (f Folder) goOn(file string, t *dkl.Trainer) error {
	if f.Anew {
		return nil
	}
	s, err := Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = t.Restore(s)
	}
	if err != nil {
		f.note("training starts from the beginning", "checkpoint", file, "reason", err)
		return nil
	}
	f.note("training goes on", "epochs done", len(t.History()))
	return nil
}

func (f Folder) note(message string, args ...any) {
	if f.Note != nil {
		f.Note(message, args...)
	}
}

func (f Folder) tell(e dkl.Epoch) {
	args := []any{"epoch", e.Epoch, "phase", e.Phase, "loss", fmt.Sprintf("%.4f", e.Loss)}
	if e.Accuracy != nil {
		args = append(args, "held-out accuracy", fmt.Sprintf("%.2f %%", 100**e.Accuracy), "nll", fmt.Sprintf("%.4f", *e.NLL))
	}
	f.note("trained", args...)
}

// keep writes the state and the table.
func (f Folder) keep(dir string, t *dkl.Trainer) error {
	s, err := t.Save()
	if err != nil {
		return err
	}
	if err := Write(filepath.Join(dir, File), s); err != nil {
		return err
	}
	text, err := table(t.History())
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(dir, "training.csv"), text)
}

// Write writes a trainer's state under its name, all or nothing.
func Write(file string, s classifier.State) error { return checkpoint.Write(file, format, s) }

// Read reads what Write wrote. A damaged file is an error.
func Read(file string) (classifier.State, error) { return checkpoint.Read(file, format) }
