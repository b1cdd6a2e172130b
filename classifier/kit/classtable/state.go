package classtable

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// settings has the same form for all methods.
type settings struct {
	Method string          `json:"method"`
	Config json.RawMessage `json:"config"`
	classifier.Learned
	// Shared holds the JSON of what the classes share; its tensors are stored
	// separately.
	Shared json.RawMessage `json:"shared,omitempty"`
}

// Save implements classifier.Saver. Statistics are not part of it.
func (h *Head[S, C]) Save() (classifier.State, error) {
	set := settings{Method: h.method.Name}
	if !h.model.Fitted() {
		return h.state(set, nil)
	}
	set.Learned = classifier.Learned{Dim: h.model.Dim, Classes: h.Classes()}
	var err error
	if set.Shared, err = json.Marshal(h.model.Shared); err != nil {
		return classifier.State{}, h.named("save", err)
	}
	m := h.model
	tensors := classifier.EncodeClasses(m.Classes.Values(), "",
		func(c *classifier.Codec, class *C) { h.method.Fields(c, m, class) })
	if h.method.Encode != nil {
		maps.Copy(tensors, h.method.Encode(m))
	}
	return h.state(set, tensors)
}

// state returns settings, completed with the configuration, and tensors.
func (h *Head[S, C]) state(set settings, tensors map[string]classifier.Tensor) (classifier.State, error) {
	var err error
	if set.Config, err = json.Marshal(h.method.Config); err != nil {
		return classifier.State{}, h.named("save", err)
	}
	s, err := classifier.NewState(set, tensors)
	return s, h.named("save", err)
}

// A restorer is a type that embeds Head.
type restorer interface {
	restore(s classifier.State, set settings) error
}

// Load returns the head that Save described, without statistics. unfitted
// creates it from its configuration; the state must belong to the named method.
func Load[F any, H restorer](name string, s classifier.State, unfitted func(F) (H, error)) (H, error) {
	return classifier.LoadHead(name, s, func(set settings) (h H, err error) {
		switch set.Method {
		case name:
		case "":
			return h, errors.New("the head was saved by another version of this program: train it again")
		default:
			return h, fmt.Errorf("the head belongs to method %s", set.Method)
		}
		var cfg F
		if err := json.Unmarshal(set.Config, &cfg); err != nil {
			return h, fmt.Errorf("settings: config: %w", err)
		}
		return unfitted(cfg)
	}, H.restore)
}

func (h *Head[S, C]) restore(s classifier.State, set settings) error {
	return h.Update(func(m *Model[S, C]) error {
		if err := json.Unmarshal(set.Shared, &m.Shared); err != nil {
			return fmt.Errorf("settings: shared: %w", err)
		}
		m.Dim = set.Dim
		if h.method.Decode != nil {
			if err := h.method.Decode(m, s, len(set.Classes)); err != nil {
				return err
			}
		}
		classes, err := classifier.DecodeClasses(s, len(set.Classes), "",
			func(c *classifier.Codec, class *C) { h.method.Fields(c, m, class) })
		if err != nil {
			return err
		}
		m.Classes = classifier.NewTable(set.Classes, classes)
		return nil
	})
}
