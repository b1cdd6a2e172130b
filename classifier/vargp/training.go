package vargp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/gp/vargp"
)

// saveSteps is the minimum number of steps between two saves of a training run.
const saveSteps = 20

// UseCheckpoint implements classifier.Checkpointer: later sessions save their
// state while they train.
func (h *VARGP) UseCheckpoint(c classifier.Checkpoint) { h.checkpoint = c }

// follow makes a task save its state in the checkpoint, and resume from a saved
// state.
func (h *VARGP) follow(t *vargp.Task, model *vargp.Model) error {
	if h.checkpoint == nil {
		return nil
	}
	key, err := keyOf(h.cfg, model, t)
	if err != nil {
		return err
	}
	note := []any{"session", model.Tasks() + 1, "training", key[:8]}
	if s, ok := h.checkpoint.Load(key, key); ok {
		if t.Resume, err = checkpointOf(s); err != nil {
			h.checkpoint.Note("training starts from the beginning", append(note, "reason", err)...)
		} else {
			h.checkpoint.Note("training goes on", append(note, "epochs done", len(t.Resume.Trace.Epochs))...)
		}
	}
	perEpoch := (t.X.Rows + h.cfg.Batch - 1) / h.cfg.Batch
	t.SaveEvery = (saveSteps + perEpoch - 1) / perEpoch
	t.Save = func(c vargp.Checkpoint) error {
		e := c.Trace.Epochs[len(c.Trace.Epochs)-1]
		args := append(note, "epoch", e.Number, "of", e.Of, "nll", math.Round(e.NLL))
		if len(t.ValidY) > 0 {
			args = append(args, "held-out accuracy", e.Accuracy)
		}
		h.checkpoint.Note("trained", args...)
		s, err := stateOf(c)
		if err != nil {
			return err
		}
		return h.checkpoint.Save(key, key, s)
	}
	return nil
}

// keyOf returns a key that changes with everything that a training run depends
// on.
func keyOf(cfg Config, model *vargp.Model, t *vargp.Task) (string, error) {
	sum := sha256.New()
	err := json.NewEncoder(sum).Encode(struct {
		Config      Config
		Model       vargp.Snapshot
		Examples    [][]float64
		Labels      [][]int
		Temperature float64
	}{cfg, model.Snapshot(), [][]float64{t.X.Data, t.ValidX.Data}, [][]int{t.Y, t.ValidY}, t.Temperature})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// progress holds the parts of a checkpoint that are not vectors.
type progress struct {
	Steps int         `json:"steps"`
	Trace vargp.Trace `json:"trace"`
	Top   float64     `json:"top"`
}

func stateOf(c vargp.Checkpoint) (classifier.State, error) {
	tensors := map[string]classifier.Tensor{}
	for name, v := range map[string][]float64{"parameters": c.Parameters, "m": c.M, "v": c.V, "best": c.Best} {
		if v != nil {
			tensors[name] = classifier.Tensor{Shape: []int{len(v)}, F64: v}
		}
	}
	return classifier.NewState(progress{c.Steps, c.Trace, c.Top}, tensors)
}

// checkpointOf reads what stateOf wrote; gp/vargp validates it.
func checkpointOf(s classifier.State) (*vargp.Checkpoint, error) {
	var p progress
	if err := s.Decode(&p); err != nil {
		return nil, err
	}
	return &vargp.Checkpoint{
		Parameters: s.Tensors["parameters"].F64, M: s.Tensors["m"].F64, V: s.Tensors["v"].F64,
		Best:  s.Tensors["best"].F64,
		Steps: p.Steps, Trace: p.Trace, Top: p.Top,
	}, nil
}
