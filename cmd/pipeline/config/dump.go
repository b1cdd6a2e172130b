package config

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"go.yaml.in/yaml/v3"
)

// YAML returns all settings as a file that Load reads back, sorted by key.
func (c Config) YAML() ([]byte, error) {
	tree, err := nested(c)
	if err != nil {
		return nil, fmt.Errorf("write settings: %w", err)
	}
	return yaml.Marshal(tree)
}

// nested converts a section and its sub-sections into nested maps by key.
func nested(section any) (map[string]any, error) {
	var tree map[string]any
	if err := mapstructure.Decode(section, &tree); err != nil {
		return nil, err
	}
	lower := make(map[string]any, len(tree))
	for k, x := range tree {
		if reflect.ValueOf(x).Kind() == reflect.Struct {
			sub, err := nested(x)
			if err != nil {
				return nil, err
			}
			x = sub
		}
		lower[strings.ToLower(k)] = x
	}
	return lower, nil
}
