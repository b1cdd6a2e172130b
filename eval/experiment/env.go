package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/eval/fscil"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
	"github.com/seed-90d10d51/pipeline/method"
)

// An Env is where an experiment takes place: what it may use beside its own
// settings.
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
	// Note tells the user how far the work is; nil means in silence.
	Note func(message string, args ...any)
}

// Head returns an unfitted head of the env's settings on its backend.
func (s Env) Head(name string) (classifier.Learner, error) {
	return method.NewOn(s.Backend, name, s.Heads)
}

// A Material is embeddings bound to sessions.
type Material struct {
	// Benches has one for every run.
	Benches []*fscil.Bench
	// Fingerprint changes with every embedding, label and session.
	Fingerprint string
}

// An Inputs is what a part depends on: anything that becomes JSON.
type Inputs any

// part is a file in parts/.
type part struct {
	// Of is the SHA-256 of everything that the value depends on.
	Of    string          `json:"of"`
	Value json.RawMessage `json:"value"`
}

// Part returns what compute returns for the inputs. A value that an earlier
// run of the same program finished is read from the folder of results; else it
// is computed and kept there, under a name that is its own within the
// experiment and is also that of a file. The seed always counts as an input.
// A cancelled ctx ends it before anything is computed.
func Part[T any](ctx context.Context, s Env, name string, of Inputs, compute func() (T, error)) (T, error) {
	file := filepath.Join(s.Dir, "parts", name+".json")
	key, err := s.key(of)
	if err != nil {
		return *new(T), fmt.Errorf("part %s: %w", name, err)
	}
	if v, ok, err := readPart[T](file, key); ok || err != nil {
		return v, err
	}
	if err := ctx.Err(); err != nil {
		return *new(T), err
	}
	v, err := compute()
	if err != nil {
		return v, fmt.Errorf("part %s: %w", name, err)
	}
	if err := writePart(file, key, v); err != nil {
		return v, fmt.Errorf("part %s: %w", name, err)
	}
	s.note("finished", "part", name)
	return v, nil
}

func (s Env) note(message string, args ...any) {
	if s.Note != nil {
		s.Note(message, args...)
	}
}

func (s Env) key(of Inputs) (string, error) {
	text, err := json.Marshal(struct {
		Version, Backend string
		Seed             uint64
		Of               Inputs
	}{s.Version, s.BackendName, s.Seed, of})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// readPart says whether there is a value of that key. A damaged file counts as
// none: it is written again.
func readPart[T any](file, key string) (v T, ok bool, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return v, false, nil
	}
	if err != nil {
		return v, false, err
	}
	var p part
	if json.Unmarshal(text, &p) != nil || p.Of != key {
		return v, false, nil
	}
	var read T
	if json.Unmarshal(p.Value, &read) != nil {
		return v, false, nil
	}
	return read, true, nil
}

func writePart(file, key string, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return err
	}
	text, err := json.Marshal(part{key, value})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return atomicfile.WriteFile(file, append(text, '\n'))
}

// An InputError says that the user must give or change an input.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }
