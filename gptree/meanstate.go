package gptree

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// meanPrefix precedes the names of the head's tensors.
const meanPrefix = "mean."

// save adds the head to the state of a tree.
func (m *mean) save(set *settings, tensors map[string]classifier.Tensor) error {
	saver, ok := m.head.(classifier.Saver)
	if !ok {
		return fmt.Errorf("the head of the mean cannot be saved")
	}
	s, err := saver.Save()
	set.Mean, set.Temperature = s.Settings, m.temperature
	for name, t := range s.Tensors {
		tensors[meanPrefix+name] = t
	}
	return err
}

// loadMean restores the mean, and the head that has learned only the sessions fitted
// by VI.
func (h *GPTree) loadMean(s classifier.State, set settings) (*mean, error) {
	if h.cfg.Mean == MeanZero {
		return nil, nil
	}
	own := classifier.State{Settings: set.Mean, Tensors: make(map[string]classifier.Tensor)}
	for name, t := range s.Tensors {
		if name, ok := strings.CutPrefix(name, meanPrefix); ok {
			own.Tensors[name] = t
		}
	}
	head, err := h.cfg.Mean.method().Load(own)
	if err != nil {
		return nil, err
	}
	if head.Dim() != set.Dim ||
		!slices.Equal(slices.Sorted(slices.Values(head.Classes())), slices.Sorted(slices.Values(set.Classes))) {
		return nil, fmt.Errorf("the mean has %d classes of dimension %d, the tree %d of %d", len(head.Classes()),
			head.Dim(), len(set.Classes), set.Dim)
	}
	if !(set.Temperature > 0 && set.Temperature < math.MaxFloat32) {
		return nil, fmt.Errorf("temperature %g", set.Temperature)
	}
	h.temperature = set.Temperature
	if len(h.fitted) > 0 {
		if h.base, err = h.withoutStored(head); err != nil {
			return nil, err
		}
	}
	return &mean{head, h.temperature}, nil
}

// withoutStored returns the head without the classes whose examples are stored: it
// learns them again whenever they change.
func (h *GPTree) withoutStored(head classifier.Learner) (classifier.Learner, error) {
	var base classifier.Learner
	for c, name := range h.All.Classes {
		if h.isVariational(c) {
			continue
		}
		if base == nil {
			var err error
			if base, err = h.meanHeads().copyOf(head, nil); err != nil {
				return nil, err
			}
		}
		f, ok := base.(classifier.Forgetter)
		if !ok {
			return nil, fmt.Errorf("the head of the mean cannot forget")
		}
		if err := f.Forget(name); err != nil {
			return nil, err
		}
	}
	if base == nil {
		return head, nil
	}
	return base, nil
}
