package method

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// longestName bounds the name of a variant, in bytes, because it names a
// folder.
const longestName = 80

// A Variant is a named method with some settings changed: one row of a table of
// results.
type Variant struct {
	Name string `mapstructure:"name" json:"name"`
	// Classifier is the method's name.
	Classifier string `mapstructure:"classifier" json:"classifier"`
	// Set holds the settings that differ from Config, by the keys of the method.
	Set map[string]any `mapstructure:"set" json:"set,omitempty"`
}

// Plain returns the variant of a method with unchanged settings.
func Plain(method string) Variant { return Variant{Name: method, Classifier: method} }

// Settings returns c with the settings of the variant. The error names the key.
func (v Variant) Settings(c Config) (Config, error) {
	if v.Classifier == Auto {
		if len(v.Set) > 0 {
			return c, errors.New("set: auto has no settings of its own; those of the methods that it compares are " +
				"under classifier")
		}
		return c, nil
	}
	m, err := Find(v.Classifier)
	if err != nil {
		return c, err
	}
	if len(v.Set) == 0 {
		return c, nil
	}
	if c, err = c.Decode(map[string]any{m.Key: v.Set}); err != nil {
		return c, fmt.Errorf("set: %w", err)
	}
	if err := c.Validate(); err != nil {
		return c, fmt.Errorf("set: %w", err)
	}
	return c, nil
}

// Validate checks the name, and whether the settings are valid in c.
func (v Variant) Validate(c Config) error {
	if v.Name == "" || len(v.Name) > longestName || v.Name != strings.TrimSpace(v.Name) ||
		strings.HasPrefix(v.Name, ".") {
		return fmt.Errorf("name: %q must have 1 to %d bytes, no surrounding spaces, and not start with a dot", v.Name,
			longestName)
	}
	if i := strings.IndexFunc(v.Name,
		func(r rune) bool { return strings.ContainsRune(`/\:*?"<>|`, r) || !unicode.IsPrint(r) }); i >= 0 {
		return fmt.Errorf("name: %q names a folder and cannot contain %q", v.Name, v.Name[i:i+1])
	}
	_, err := v.Settings(c)
	return err
}

// ValidateVariants checks each variant, and that their names are distinct.
func ValidateVariants(all []Variant, c Config) error {
	for i, v := range all {
		if err := v.Validate(c); err != nil {
			return fmt.Errorf("%d (%s): %w", i+1, v.Name, err)
		}
		if slices.ContainsFunc(all[:i], func(other Variant) bool { return strings.EqualFold(other.Name, v.Name) }) {
			return fmt.Errorf("%d: the name %q appears twice", i+1, v.Name)
		}
	}
	return nil
}
