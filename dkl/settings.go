package dkl

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/gptree"
)

// Settings are those of training a projection, as a model saves them.
type Settings struct {
	Training Training `json:"training"`
	// Tree selects the tree and the kernel of the training.
	Tree gptree.Config `json:"gptree"`
}

// Validate returns an error that names the field that is out of range.
func (s Settings) Validate() error {
	if err := s.Training.Validate(); err != nil {
		return fmt.Errorf("dkl.%w", err)
	}
	if err := s.Tree.Validate(); err != nil {
		return fmt.Errorf("gptree.%w", err)
	}
	return nil
}

// HandsOver reports whether a head may start from what a projection was trained with.
func (s Settings) HandsOver(head classifier.Learner) bool {
	_, ok := head.(*gptree.GPTree)
	return ok && s.Training.HandOver
}

// Teach trains a head on the base session z behind the projection. A gptree starts
// from the inducing inputs and the kernel that the projection was trained with, if
// there is any, if configured and if its tree is built in the same way.
func (s Settings) Teach(ctx context.Context, head classifier.Learner, t Trained, z blas32.General, y []string) error {
	if t.Start == nil || !s.HandsOver(head) {
		return head.Learn(ctx, z, y)
	}
	tree := head.(*gptree.GPTree)
	own, trained := tree.Settings(), s.Tree
	if own.Base != gptree.BaseVI || own.Tree != trained.Tree || own.Kernel != trained.Kernel ||
		own.Normalize != trained.Normalize {
		return tree.Learn(ctx, z, y)
	}
	return tree.LearnFrom(ctx, *t.Start, z, y)
}
