// Package models embeds the built-in backbone and the catalogue of others.
//
// It is for this module's own packages.
package models

import _ "embed"

//go:embed efficientnet-lite0.onnx
var efficientNetLite0 string

//go:embed catalogue.yaml
var catalogueYAML string

// EfficientNetLite0 returns a copy of the network of new models, an ONNX file.
func EfficientNetLite0() []byte { return []byte(efficientNetLite0) }

// Catalogue returns catalogue.yaml; package backbone parses it.
func Catalogue() []byte { return []byte(catalogueYAML) }
