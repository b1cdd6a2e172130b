package method

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/gptree"
)

// Config holds the settings of every method, and what all heads of a run share.
// It is a value: changing a copy leaves the original unchanged. The zero value has the
// defaults.
type Config struct {
	classifier.Run
	// Checkpoint stores long training runs; nil means none.
	Checkpoint classifier.Checkpoint
	// sections holds the Config of each method's package, by key; one that is missing
	// is the default. The map is never changed, only replaced.
	sections map[string]classifier.Settings
}

// DefaultConfig returns the defaults of every method.
func DefaultConfig() Config {
	c := Config{sections: map[string]classifier.Settings{}}
	for _, m := range Methods() {
		c.sections[m.Key] = m.Default()
	}
	return c
}

// Get returns the settings under a key, which must be of type C; any other type
// is a programming error and panics.
func Get[C any](c Config, key string) C {
	if settings, ok := c.sections[key]; ok {
		return settings.Config.(C)
	}
	methods := Methods()
	i := slices.IndexFunc(methods, func(m classifier.Method) bool { return m.Key == key })
	return c.of(methods[i]).Config.(C)
}

// of returns the settings of a method.
func (c Config) of(m classifier.Method) classifier.Settings {
	if settings, ok := c.sections[m.Key]; ok {
		return settings
	}
	return m.Default()
}

// Change returns c with the settings under a key, of type C, changed.
func Change[C any](c Config, key string, change func(*C)) Config {
	settings := Get[C](c, key)
	change(&settings)
	return c.with(key, classifier.Settings{Config: settings})
}

func (c Config) with(key string, settings classifier.Settings) Config {
	sections := maps.Clone(c.sections)
	if sections == nil {
		sections = map[string]classifier.Settings{}
	}
	sections[key] = settings
	c.sections = sections
	return c
}

// Seeded returns c with the seed of all random draws of heads.
func (c Config) Seeded(seed uint64) Config {
	c.Seed = seed
	return c
}

// Settings returns the resolved settings for a head of method m.
func (c Config) Settings(m classifier.Method) classifier.Settings {
	return m.Resolve(c.of(m), c.Run)
}

// Tree returns the settings of the tree through which a projection is trained for
// heads of method m: those of m if it is a tree, else those of gptree.
func (c Config) Tree(m classifier.Method) gptree.Config {
	if tree, ok := c.Settings(m).Config.(gptree.Config); ok {
		return tree
	}
	tree := Get[gptree.Config](c, "gptree")
	tree.Seed = c.Seed
	return tree
}

// Validate returns an error that names the method's key and the field that is
// out of range.
func (c Config) Validate() error {
	for _, m := range Methods() {
		if err := m.Validate(c.of(m)); err != nil {
			return fmt.Errorf("%s.%w", m.Key, err)
		}
	}
	return nil
}

// Sections returns the settings as nested maps by key, as Decode reads them.
func (c Config) Sections() (map[string]any, error) {
	all := map[string]any{}
	for _, m := range Methods() {
		section, err := classifier.Section(c.of(m))
		if err != nil {
			return nil, err
		}
		all[m.Key] = section
	}
	return all, nil
}

// Decode returns c updated with the values of nested maps by key, which may be
// partial. The error names the key.
func (c Config) Decode(sections map[string]any) (Config, error) {
	methods := Methods()
	for _, key := range slices.Sorted(maps.Keys(sections)) {
		i := slices.IndexFunc(methods, func(m classifier.Method) bool { return m.Key == key })
		if i < 0 {
			return c, fmt.Errorf("no method has settings under %q", key)
		}
		section, ok := sections[key].(map[string]any)
		if !ok {
			return c, fmt.Errorf("%s: %v is not a section of settings", key, sections[key])
		}
		settings, err := methods[i].Decode(c.of(methods[i]), section)
		if err != nil {
			return c, fmt.Errorf("%s: %w", key, err)
		}
		c = c.with(key, settings)
	}
	return c, nil
}

// MarshalJSON writes the seed and all sections.
func (c Config) MarshalJSON() ([]byte, error) {
	all := map[string]any{"run": c.Run}
	for _, m := range Methods() {
		all[m.Key] = c.of(m)
	}
	return json.Marshal(all)
}
