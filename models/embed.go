// Package models embeds the built-in backbone and the catalogue of other
// backbones.
package models

import _ "embed"

//go:embed default.onnx
var defaultONNX string

//go:embed catalogue.yaml
var catalogueYAML string

// Default returns a copy of the built-in backbone, an ONNX file.
func Default() []byte { return []byte(defaultONNX) }

// Catalogue returns catalogue.yaml; package backbone parses it.
func Catalogue() []byte { return []byte(catalogueYAML) }
