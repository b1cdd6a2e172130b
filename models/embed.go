// Package models embeds the built-in backbones, the prior of the default one and the catalogue of others.
//
// It is for this module's own packages.
package models

import _ "embed"

//go:embed efficientnet-lite0.onnx
var efficientNetLite0 string

//go:embed default.onnx
var defaultONNX string

//go:embed default-0.1.onnx
var default01ONNX string

//go:embed default.prior
var defaultPrior string

//go:embed catalogue.yaml
var catalogueYAML string

// EfficientNetLite0 returns a copy of the network of new models, an ONNX file.
func EfficientNetLite0() []byte { return []byte(efficientNetLite0) }

// Default returns a copy of the built-in backbone, an ONNX file.
func Default() []byte { return []byte(defaultONNX) }

// Default01 is Default as it was in version 0.1, for models that were trained with it.
func Default01() []byte { return []byte(default01ONNX) }

// DefaultPrior returns a copy of the prior of the built-in backbone, a PRIOR file.
func DefaultPrior() []byte { return []byte(defaultPrior) }

// Catalogue returns catalogue.yaml; package backbone parses it.
func Catalogue() []byte { return []byte(catalogueYAML) }
