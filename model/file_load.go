package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/internal/safetensors"
	"github.com/seed-90d10d51/pipeline/internal/suggest"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model/internal/container"
	"github.com/seed-90d10d51/pipeline/model/prior"
)

// previousSuffix is the file suffix of the previous version.
const previousSuffix = ".prev"

// heads makes the heads of a model.
type heads struct {
	// load restores the head of a method.
	load func(method string, s classifier.State) (classifier.Learner, error)
	// fresh returns an unfitted head of a method, given its configuration.
	fresh func(method string, config json.RawMessage) (classifier.Learner, error)
}

// Load reads a MODEL file and checks all of it. The error wraps ErrNotModel,
// ErrNewerVersion, ErrOlderVersion, ErrTooShort or ErrAltered as appropriate,
// and mentions MODEL.prev if that could help. The statistics side file is read
// only when an operation needs it; without it the model still predicts.
func Load(path string) (*Model, error) { return load(path, methods()) }

// methods makes the heads of all methods.
func methods() heads { return heads{method.Load, method.FromJSON} }

// with returns h for heads with a prior.
func (h heads) with(p *gauss.Prior) heads {
	return heads{
		load: func(method string, s classifier.State) (classifier.Learner, error) {
			head, err := h.load(method, s)
			return withPrior(method, head, err, p)
		},
		fresh: func(method string, config json.RawMessage) (classifier.Learner, error) {
			head, err := h.fresh(method, config)
			return withPrior(method, head, err, p)
		},
	}
}

// withPrior passes a prior to a head that was made without an error. The error
// wraps gauss.ErrPrior if the head cannot use one.
func withPrior(method string, head classifier.Learner, err error, p *gauss.Prior) (classifier.Learner, error) {
	if err != nil {
		return nil, err
	}
	user, ok := head.(gauss.PriorUser)
	if !ok {
		return nil, fmt.Errorf("%w: %s does not start from one; plda, plda+ and ppca-eb do", gauss.ErrPrior, method)
	}
	return head, user.UsePrior(p)
}

func load(path string, makes heads) (*Model, error) {
	path = resolve(path)
	f, size, err := regularfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("load model: %w%s", err, suggest.Hint(filepath.Base(path), filesBeside(path)))
	}
	if err != nil {
		return nil, fmt.Errorf("load model: %w", err)
	}
	defer f.Close()
	m, written, err := decode(f, size, makes)
	if err != nil {
		return nil, fmt.Errorf("load model %s: %w%s", path, err, hintPrevious(path, err))
	}
	m.statistics.model = path
	m.onDisk = version{path, written}
	return m, nil
}

// Clone returns a model equal to this one, which has been loaded or saved and not changed since: what one learns or
// forgets does not reach the other. It is what Load would return, without reading the file.
func (m *Model) Clone() (*Model, error) {
	c, err := m.encode(m.statistics.pointer)
	if err != nil {
		return nil, err
	}
	text, err := c.Bytes()
	if err != nil {
		return nil, err
	}
	makes := m.makes
	if makes.load == nil {
		makes = methods()
	}
	clone, _, err := decode(bytes.NewReader(text), int64(len(text)), makes)
	if err != nil {
		return nil, err
	}
	clone.statistics.model, clone.onDisk = m.statistics.model, m.onDisk
	return clone, nil
}

// resolve follows a symbolic link, so that side files are next to the real file
// and a rename replaces it, not the link.
func resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// filesBeside returns the names of some files in the folder that would have path, without
// journals and what belongs to them.
func filesBeside(path string) (names []string) {
	entries, _ := os.ReadDir(filepath.Dir(path)) // what there is helps, even if the rest cannot be read
	for _, e := range entries[:min(len(entries), 1000)] {
		if e.Type().IsRegular() && !strings.Contains(e.Name(), ".journal") {
			names = append(names, e.Name())
		}
	}
	return names
}

// hintPrevious returns a hint to the previous version, if it is undamaged.
func hintPrevious(path string, err error) string {
	if !errors.Is(err, ErrTooShort) && !errors.Is(err, ErrAltered) {
		return ""
	}
	if _, err := os.Stat(path + previousSuffix); err != nil {
		return ""
	}
	return fmt.Sprintf(" (the previous version is in %s)", path+previousSuffix)
}

// decode reads a MODEL. It accepts any bytes and returns a model or an error.
func decode(r io.ReaderAt, size int64, makes heads) (*Model, safetensors.Written, error) {
	f, written, err := container.Open(r, size, modelFormat)
	if err != nil {
		return nil, written, err
	}
	var d document
	if err := json.Unmarshal([]byte(f.Metadata()[container.DocumentKey]), &d); err != nil {
		return nil, written, fmt.Errorf("its description: %w", err)
	}
	if err := checkProgram(d.ToolVersion); err != nil {
		return nil, written, err
	}
	if err := d.check(); err != nil {
		return nil, written, fmt.Errorf("its description: %w", err)
	}
	m := &Model{
		Method: d.Method, Choice: d.Choice, HeadConfig: d.HeadConfig,
		Provenance: d.Provenance,
		Seed:       d.Seed, ToolVersion: d.ToolVersion, ClassFrom: d.ClassFrom,
		KeepStatistics: d.KeepStatistics, Traces: d.Traces,
		makes: makes, statistics: statistics{pointer: d.Statistics},
	}
	if m.Sessions, err = readSessions(f, d); err != nil {
		return nil, written, fmt.Errorf("its sessions: %w", err)
	}
	if d.Prior != nil {
		if m.Prior, err = prior.Decode(f, *d.Prior); err != nil {
			return nil, written, fmt.Errorf("its prior: %w", err)
		}
		makes = makes.with(m.Prior.Head())
	}
	if err := m.loadPredictor(f, d, makes); err != nil {
		return nil, written, err
	}
	return m, written, nil
}

func (m *Model) loadPredictor(f *safetensors.File, d document, makes heads) error {
	state := classifier.State{Settings: d.Predictor, Tensors: map[string]classifier.Tensor{}}
	for _, prefix := range []string{headPrefix, projectionPrefix, keptPrefix, noveltyPrefix} {
		tensors, err := container.Read(f, prefix)
		if err != nil {
			return err
		}
		for name, t := range tensors {
			state.Tensors[prefix+name] = t
		}
	}
	var err error
	m.Predictor, err = loadPredictor(state,
		func(s classifier.State) (classifier.Learner, error) { return makes.load(d.Method, s) },
		func() (classifier.Learner, error) { return makes.fresh(d.Method, d.HeadConfig) })
	if err != nil {
		return fmt.Errorf("its %s head: %w", d.Method, err)
	}
	sameDim := m.Dim() == d.Dim || len(d.Classes) == 0
	if !sameDim || !slices.Equal(m.Classes(), d.Classes) {
		return fmt.Errorf("its %s head has %d dimensions and %d classes, its description says %d and %d (or names "+
			"others)",
			d.Method, m.Dim(), len(m.Classes()), d.Dim, len(d.Classes))
	}
	if _, _, err := m.Predictor.probe(); err != nil {
		return fmt.Errorf("its %s head was not made by this program: %w", d.Method, err)
	}
	return nil
}

const (
	contentTensor = "samples.content"
	classTensor   = "samples.class"
)

func readSessions(f *safetensors.File, d document) ([]Session, error) {
	content, err := container.ReadHashes(f, contentTensor)
	if err != nil {
		return nil, err
	}
	class, err := f.Read(classTensor)
	if err != nil {
		return nil, err
	}
	n := len(class.I64)
	if class.I64 == nil || len(class.Shape) != 1 || len(content) != n {
		return nil, fmt.Errorf("%d hashes and classes of shape %v do not match", len(content), class.Shape)
	}
	samples := make([]SampleID, n)
	for i, c := range class.I64 {
		if c < 0 || c >= int64(len(d.Classes)) {
			return nil, fmt.Errorf("sample %d has class number %d of %d", i, c, len(d.Classes))
		}
		samples[i] = SampleID{Content: content[i], Class: d.Classes[c]}
	}
	return cut(samples, d.Sessions)
}

// cut divides the samples among the sessions.
func cut(samples []SampleID, entries []sessionEntry) ([]Session, error) {
	var sessions []Session
	for _, e := range entries {
		if e.Count > len(samples) {
			return nil, fmt.Errorf("session %d has %d samples, %d are left", e.Index, e.Count, len(samples))
		}
		sessions = append(sessions,
			Session{e.Index, e.NewClasses, samples[:e.Count:e.Count], e.FromStatistics, e.Refreshed})
		samples = samples[e.Count:]
	}
	if len(samples) > 0 {
		return nil, fmt.Errorf("%d samples belong to no session", len(samples))
	}
	return sessions, nil
}
