package dkl

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/gptree"
)

// checkpoint holds the settings of a saved trainer.
type checkpoint struct {
	Training    Training      `json:"training"`
	GPTree      gptree.Config `json:"gptree"`
	Fingerprint string        `json:"examples_sha256"`
	History     []Epoch       `json:"history"`
	Best        best          `json:"best"`
	// Tree, Inducing and Kernel belong to phase 2.
	Tree     *gptree.Tree `json:"tree,omitempty"`
	Inducing []int        `json:"inducing,omitempty"` // of every leaf
}

// Save returns the state from which training can continue: the tensors "vector",
// "velocity" and "best", in phase 2 also "eta" and "precision" (see package
// bound).
func (t *Trainer) Save() (classifier.State, error) {
	c := checkpoint{
		Training: t.cfg, GPTree: t.tree, Fingerprint: t.fingerprint,
		History: append([]Epoch{}, t.history...), Best: t.best,
	}
	vectors := map[string][]float64{"vector": t.vector(), "velocity": t.sgd.velocity}
	if t.best.vector != nil {
		vectors["best"] = t.best.vector
	}
	if t.two != nil {
		c.Tree, c.Inducing = t.two.tree, t.two.counts
		vectors["eta"], vectors["precision"] = t.two.nodes.State()
	}
	tensors := make(map[string]classifier.Tensor)
	for name, v := range vectors {
		tensors[name] = classifier.Tensor{Shape: []int{len(v)}, F64: append([]float64{}, v...)}
	}
	return classifier.NewState(c, tensors)
}

// Key returns a hash of the settings and the examples, 64 hexadecimal digits:
// trainers with the same key go through the same states.
func (t *Trainer) Key() (string, error) {
	text, err := json.Marshal(checkpoint{Training: t.cfg, GPTree: t.tree, Fingerprint: t.fingerprint})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// Restore continues from a state returned by Save, bit for bit. If the state
// belongs to other settings or examples or is damaged, it returns an error and
// changes nothing.
func (t *Trainer) Restore(s classifier.State) error {
	next := *t
	next.two = nil
	var err error
	if next.one, err = newEntropy(t.initial, len(t.data.classes), t.products); err == nil {
		err = next.optimise(next.one.vector)
	}
	if err == nil {
		err = next.restore(s)
	}
	if err != nil {
		return fmt.Errorf("dkl: checkpoint: %w", err)
	}
	*t = next
	return nil
}

func (t *Trainer) restore(s classifier.State) error {
	var c checkpoint
	if err := s.Decode(&c); err != nil {
		return err
	}
	if !reflect.DeepEqual(c.Training, t.cfg) || c.GPTree != t.tree {
		return fmt.Errorf("it belongs to other settings")
	}
	if c.Fingerprint != t.fingerprint {
		return fmt.Errorf("it belongs to other examples")
	}
	if err := c.check(t.cfg); err != nil {
		return err
	}
	if c.Tree != nil {
		if err := t.restoreTree(c, s); err != nil {
			return err
		}
	}
	return t.restoreVectors(c, s)
}

// check validates what does not depend on the examples.
func (c checkpoint) check(t Training) error {
	n := len(c.History)
	if n > t.Epochs || (c.Tree != nil) != (n > t.Pretrain) {
		return fmt.Errorf("%d epochs, and whether there is a tree, do not match the settings", n)
	}
	for i, e := range c.History {
		if e.Epoch != i+1 {
			return fmt.Errorf("epoch %d in place of epoch %d", e.Epoch, i+1)
		}
	}
	if c.Best.Epoch < 0 || c.Best.Epoch > n || (c.Best.Epoch == 0) != (n == 0) {
		return fmt.Errorf("best epoch %d of %d", c.Best.Epoch, n)
	}
	return nil
}

// restoreTree restores phase 2, except for its vector.
func (t *Trainer) restoreTree(c checkpoint, s classifier.State) error {
	if c.Tree.Classes() != len(t.data.classes) || len(c.Inducing) != c.Tree.Classes() {
		return fmt.Errorf("a tree of %d classes with inducing inputs of %d, want %d", c.Tree.Classes(), len(c.Inducing),
			len(t.data.classes))
	}
	start := gptree.Start{Classes: t.data.classes, Tree: c.Tree, Inducing: make([][][]float32, len(c.Inducing)),
		Lengthscale: 1, Outputscale: 1}
	_, class := c.Tree.Spans()
	for leaf, n := range c.Inducing {
		if n < 1 || n > t.cfg.Inducing {
			return fmt.Errorf("%d inducing inputs for a class, want 1 … %d", n, t.cfg.Inducing)
		}
		for range n {
			start.Inducing[class[leaf]] = append(start.Inducing[class[leaf]], make([]float32, t.initial.Dim()))
		}
	}
	var err error
	if t.two, err = newObjective(t.initial, start, t.kernel(), t.data.sizes(), t.products); err != nil {
		return err
	}
	if err := t.optimise(t.two.vector); err != nil {
		return err
	}
	eta, err := s.Float64("eta", len(s.Tensors["eta"].F64))
	if err != nil {
		return err
	}
	precision, err := s.Float64("precision", len(s.Tensors["precision"].F64))
	if err != nil {
		return err
	}
	return t.two.nodes.Restore(eta, precision)
}

func (t *Trainer) restoreVectors(c checkpoint, s classifier.State) error {
	vector := t.vector()
	for name, to := range map[string][]float64{"vector": vector, "velocity": t.sgd.velocity} {
		v, err := s.Float64(name, len(vector))
		if err != nil {
			return err
		}
		copy(to, v)
	}
	t.history, t.best = c.History, best{}
	if c.Best.Epoch == 0 {
		return nil
	}
	t.best = c.Best
	var err error
	t.best.vector, err = s.Float64("best", len(vector))
	return err
}
