package extractor

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// An Extractor is a backbone ready to run. It is safe for concurrent use; one
// goroutine per core gives the best throughput.
type Extractor struct {
	rt     *ort.Runtime
	name   string
	cfg    Config
	plan   plan
	meta   map[string]string
	sha256 string
	dim    int
	slots  slots
	sizes  sizes

	running sync.RWMutex // Extract reads, Close writes
	session *ort.Session // nil after Close
}

// Open prepares a model from its bytes, which must not change afterwards, and
// runs it once on a black image to check that it works. The name is for
// messages. Errors describe what is wrong with the file or the configuration
// and what to do. Cost: 0.1–1 s.
func Open(rt *ort.Runtime, modelBytes []byte, name string, cfg Config) (*Extractor, error) {
	if rt == nil {
		return nil, fmt.Errorf("backbone %s: %w: %s", name, ort.ErrNoLibrary, ort.Remedy)
	}
	cfg = cfg.Resolved()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	e, err := open(rt, modelBytes, name, cfg)
	if err != nil {
		return nil, fmt.Errorf("backbone %s: %w", name, err)
	}
	return e, nil
}

func open(rt *ort.Runtime, modelBytes []byte, name string, cfg Config) (*Extractor, error) {
	m, err := onnx.Parse(modelBytes)
	if err != nil {
		return nil, err
	}
	p, err := makePlan(m, cfg)
	if err != nil {
		return nil, err
	}
	session, err := rt.NewSession(p.model, []string{p.feed}, []string{p.output}, ort.Provider(cfg.Provider))
	if err != nil {
		return nil, err
	}
	p.model = nil // the session has its own copy
	sum := sha256.Sum256(modelBytes)
	e := &Extractor{rt: rt, name: name, cfg: cfg, plan: p, meta: m.Metadata, sha256: hex.EncodeToString(sum[:]),
		session: session, sizes: newSizes()}
	e.slots.shapes = map[shape][]int64{}
	if err := e.probe(); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// probe runs the model once and sets d.
func (e *Extractor) probe() error {
	s, err := e.take(shape{e.plan.batch, cmp.Or(e.plan.side, defaultSide)})
	if err != nil {
		if e.plan.side == 0 {
			return fmt.Errorf("does not run at %d pixels a side, and does not fix its side: set extractor.side: %w",
				defaultSide, err)
		}
		return err
	}
	e.dim = s.reduction.channels
	e.slots.put(s)
	return nil
}

// Dim returns the length d of an embedding.
func (e *Extractor) Dim() int { return e.dim }

// Side returns the input side in pixels, or 0 if the model takes any.
func (e *Extractor) Side() int { return e.plan.side }

// Batch returns the maximum number of photos per Extract: the batch size, to which
// each run of the model is padded, or 4 for a model of one side that leaves it free.
func (e *Extractor) Batch() int {
	if e.plan.free {
		return most
	}
	return e.plan.batch
}

// Output returns the name of the tensor that embeddings are read from.
func (e *Extractor) Output() string { return e.plan.tensor }

// Fingerprint returns the hex SHA-256 of everything in the extractor that
// changes an embedding, to the last bit: the model, what is read from it and
// how, the provider, the batch size and ONNX Runtime's major.minor version.
// Pixels have their own fingerprint (package preprocess).
func (e *Extractor) Fingerprint() string {
	b, err := json.Marshal(struct {
		Format, Model, Input, Output, Layout, Pool, Provider, Runtime string
		Token, Batch                                                  int
		Map                                                           string `json:",omitempty"`
	}{
		Format: "extractor/1", Model: e.sha256, Input: e.plan.input, Output: e.plan.tensor,
		Layout: e.plan.layout, Pool: e.cfg.Pool, Provider: e.cfg.Provider, Runtime: e.rt.MajorMinor(),
		Token: e.cfg.Token, Batch: e.plan.batch, Map: e.cfg.Map,
	})
	if err != nil { // strings and integers always marshal
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Close waits for running calls and frees the model. Later calls of Extract
// fail.
func (e *Extractor) Close() error {
	e.running.Lock()
	defer e.running.Unlock()
	if e.session == nil {
		return nil
	}
	err := errors.Join(e.slots.close(), e.session.Close())
	e.session = nil
	return err
}
