// Package config is the one description of everything a user can set. Values
// come, later winning, from the defaults, a YAML file, PIPELINE_… environment
// variables, flags and --set key=value. configs/reference.yaml documents every
// key. Unknown keys are errors that name the nearest right one.
package config
