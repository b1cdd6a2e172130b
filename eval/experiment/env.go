package experiment

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/eval/fscil"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
	"github.com/seed-90d10d51/pipeline/method"
)

// An Env is what an experiment may use besides its own settings.
type Env struct {
	// Dir is the folder of results.
	Dir string
	// Seed is that of everything random.
	Seed uint64
	// Version of the program: parts of another one are not used.
	Version string
	// Heads are the settings of the classifiers.
	Heads method.Config
	// Features is the feature folder that the user gave, or "".
	Features string
	// Open binds a feature folder to the sessions that the settings ask for.
	Open func(features string) (Material, error)
	// Backend is the backend of large products; nil is gonum.
	Backend linalg.Backend
	// BackendName names the Backend: parts made with another one are not used.
	BackendName string
	// Restart computes everything again, whatever earlier runs finished.
	Restart bool
	// Note tells the user how far the work is; nil means silence.
	Note func(message string, args ...any)
}

// Head returns an unfitted head with the settings of e on its backend.
func (e Env) Head(name string) (classifier.Learner, error) {
	return method.NewOn(e.Backend, name, e.Heads)
}

// A Material is embeddings bound to sessions.
type Material struct {
	// Benches has one for every run.
	Benches []*fscil.Bench
	// Fingerprint changes with every embedding, label and session.
	Fingerprint string
}

// Material opens the feature folder that the user gave.
func (e Env) Material() (Material, error) {
	if e.Features == "" {
		return Material{}, Inputf("no embeddings: give a feature folder with --features")
	}
	return e.Open(e.Features)
}

// An Inputs is what a part depends on: anything that becomes JSON.
type Inputs any

// Folder returns a folder of checkpoints below that of the parts; "" is that of
// the parts itself.
func (e Env) Folder(name string) *checkpoint.Folder {
	return &checkpoint.Folder{Dir: filepath.Join(e.Dir, "parts", name), Restart: e.Restart, Say: e.Note}
}

// Draft returns what a part with those inputs has reached while it is computed:
// a value that is saved from time to time, and removed at the end.
func Draft[T any](e Env, name string, of Inputs) (checkpoint.Part[T], error) {
	return part[T](e, name+".draft", of)
}

// part returns the place of a value in the folder of results. Other versions
// and backends count as other inputs, and so does another seed.
func part[T any](e Env, name string, of Inputs) (checkpoint.Part[T], error) {
	key, err := checkpoint.Key(e.Version, e.BackendName, e.Seed, of)
	if err != nil {
		return checkpoint.Part[T]{}, fmt.Errorf("part %s: %w", name, err)
	}
	return checkpoint.Part[T]{Folder: e.Folder(""), Name: name, Key: key}, nil
}

// Part returns what compute returns for the inputs. A value that an earlier run
// of the same program finished is read from the folder of results; otherwise it
// is computed and kept there, under a name that is unique within the experiment
// and is also that of a file. A cancelled ctx ends it before anything is
// computed.
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
		err = p.Save(v)
	}
	if err != nil {
		return v, fmt.Errorf("part %s: %w", name, err)
	}
	p.Folder.Note("finished", "part", name)
	return v, nil
}

// An InputError says that the user must give or change an input.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }

// Inputf returns an InputError with that message.
func Inputf(format string, args ...any) error { return &InputError{Err: fmt.Errorf(format, args...)} }

// Stream returns the random numbers of a seed and a name.
func Stream(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = io.WriteString(h, name) // a hash never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
