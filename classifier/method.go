package classifier

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/go-viper/mapstructure/v2"
)

// A Method is one row of the registry (package method): the name of a head,
// what it can do, and how it is configured, made and loaded. The package of the
// method describes it with Define.
type Method struct {
	Name    string
	Summary string
	// Key is the name of its section in a configuration.
	Key string
	// Novelty describes what its novelty score measures.
	Novelty string
	// Extend describes how an old class gains examples, Forget how the head
	// forgets classes and single examples without learning the rest again.
	Extend, Forget string
	// Statistics reports whether exact statistics are kept in a side file.
	Statistics bool

	// Default returns the default settings.
	Default func() Settings
	// Decode returns settings updated with the values of a section, by the keys
	// of the method. The error names the key.
	Decode func(settings Settings, section map[string]any) (Settings, error)
	// Parse returns the settings that MarshalJSON wrote.
	Parse func(text []byte) (Settings, error)
	// Validate returns an error that names the setting that is out of range.
	Validate func(settings Settings) error
	// Resolve returns the settings for a head of this run.
	Resolve func(settings Settings, r Run) Settings
	// Random reports whether a head with these settings draws anything, so that its
	// results depend on the seed of the run.
	Random func(settings Settings) bool
	// Refreshes reports whether a head with these settings is to be refreshed
	// (Refresher) after every change.
	Refreshes func(settings Settings) bool
	// New returns an unfitted head with resolved settings.
	New func(settings Settings) (Learner, error)
	// Load returns the head that its Save described.
	Load func(State) (Learner, error)
	// MaxPerClass returns the maximum number of examples of a class that the head
	// stores, 0 for a head that stores none.
	MaxPerClass func(settings Settings) int
}

// Settings are those of one method: the Config of its package, of a type that only
// the package knows. They pass between a configuration and the functions of a
// Method. The zero value has the defaults.
type Settings struct{ Config any }

// MarshalJSON writes the Config.
func (s Settings) MarshalJSON() ([]byte, error) { return json.Marshal(s.Config) }

// A Run holds what all heads of a run share, whatever their method.
type Run struct {
	// Seed decides every draw.
	Seed uint64 `json:"seed"`
	// WithoutStatistics leaves out the statistics that a head needs to add
	// examples to an old class or to forget single ones.
	WithoutStatistics bool `json:"without_statistics,omitempty"`
}

// A Definition describes a method with its own types: C holds its settings, H
// is its head.
type Definition[C interface{ Validate() error }, H Learner] struct {
	Default C
	// Seed returns where the settings hold the seed, nil if nothing is drawn with
	// them; it is nil for a head that never draws.
	Seed func(*C) *uint64
	// Resolve applies what else a run decides to the settings; nil leaves them
	// unchanged.
	Resolve func(*C, Run)
	New     func(C) (H, error)
	Load    func(State) (H, error)
	// Refreshes is nil for a head that has nothing to refresh.
	Refreshes func(C) bool
	// MaxPerClass is nil for a head that stores no examples.
	MaxPerClass func(C) int
}

// Define completes a Method from its definition.
func Define[C interface{ Validate() error }, H Learner](m Method, d Definition[C, H]) Method {
	m.Default = func() Settings { return Settings{d.Default} }
	m.Validate = func(settings Settings) error { return d.settings(settings).Validate() }
	m.Decode = func(settings Settings, section map[string]any) (Settings, error) {
		all, err := Section(Settings{d.settings(settings)})
		if err != nil {
			return Settings{}, err
		}
		maps.Copy(all, section)
		out := d.Default // keeps the fields that are not keys of a section
		decoder, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{Result: &out, ErrorUnused: true,
			ZeroFields: true})
		if err != nil {
			return Settings{}, err
		}
		err = decoder.Decode(all)
		return Settings{out}, err
	}
	m.Parse = func(text []byte) (Settings, error) {
		var out C
		err := json.Unmarshal(text, &out)
		return Settings{out}, err
	}
	m.Resolve = func(settings Settings, r Run) Settings {
		c := d.settings(settings)
		if d.Resolve != nil {
			d.Resolve(&c, r)
		}
		if seed := d.seed(&c); seed != nil {
			*seed = r.Seed
		}
		return Settings{c}
	}
	m.Random = func(settings Settings) bool {
		c := d.settings(settings)
		return d.seed(&c) != nil
	}
	m.Refreshes = func(settings Settings) bool { return d.Refreshes != nil && d.Refreshes(d.settings(settings)) }
	m.New = func(settings Settings) (Learner, error) { return learner(d.New(d.settings(settings))) }
	m.Load = func(s State) (Learner, error) { return learner(d.Load(s)) }
	m.MaxPerClass = func(settings Settings) int {
		if d.MaxPerClass == nil {
			return 0
		}
		return d.MaxPerClass(d.settings(settings))
	}
	return m
}

// settings returns the Config of settings. One of another method is a programming error and panics.
func (d Definition[C, H]) settings(of Settings) C {
	if of.Config == nil {
		return d.Default
	}
	return of.Config.(C)
}

// seed returns where settings hold the seed, nil if nothing is drawn with them.
func (d Definition[C, H]) seed(c *C) *uint64 {
	if d.Seed == nil {
		return nil
	}
	return d.Seed(c)
}

// Section returns settings as the section of a configuration, by key.
func Section(settings Settings) (map[string]any, error) {
	var section map[string]any
	if err := mapstructure.Decode(settings.Config, &section); err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	return section, nil
}

// learner turns a nil head of a concrete type into a nil Learner.
func learner[H Learner](head H, err error) (Learner, error) {
	if err != nil {
		return nil, err
	}
	return head, nil
}
