package embedding

import (
	"context"
	"errors"
	"fmt"
)

// settle makes explicit what the settings leave to the names and shapes of the outputs, and
// says it.
func (e *Embedder) settle() (*Embedder, error) {
	s, err := e.extractor.Settle()
	if err != nil {
		return nil, &SettingsError{errors.Join(fmt.Errorf("backbone %s: %w", e.file.Name, err), e.Close())}
	}
	if e.reading += s.Why; s.Config == e.settings {
		return e, nil
	}
	spec := e.spec // which has been chosen, and said
	settled, err := e.options.open(e.file, &spec, s.Config)
	if err = errors.Join(err, e.Close()); err != nil {
		return nil, err
	}
	settled.reading = e.reading
	log := settled.options.Log
	log.Info("how the output of the backbone is read: "+s.Why, "backbone", e.file.Name)
	if s.Config.Output != e.settings.Output { // which has a shape of its own
		settled.reading += "; "
		return settled.settle()
	}
	same, other, err := settled.Crops(context.Background())
	if err == nil && !(same > other) {
		log.Warn("two crops of one picture are no nearer to each other than two pictures, so the output may be "+
			"read wrongly: see pipeline backbones inspect, and set extractor.output, extractor.pool or extractor.map",
			"backbone", e.file.Name)
	}
	return settled, nil
}

// Reading says how the output of the backbone becomes an embedding, and why; "" if that
// is recorded in a model.
func (e *Embedder) Reading() string { return e.reading }
