// Package config defines, loads and validates all settings. Values come from the
// defaults, a YAML file, PIPELINE_… environment variables, flags and
// --set key=value; later sources override earlier ones. configs/reference.yaml
// documents every key. An unknown key is an error that names the nearest known
// one.
package config
