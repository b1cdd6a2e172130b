package ort

import (
	"fmt"
	"slices"
	"strings"

	onnxruntime "github.com/yalue/onnxruntime_go"
)

// A Provider is the hardware backend that a session runs on.
type Provider string

// The supported providers. Every library has CPU; the others need a library
// built with them.
const (
	CPU      Provider = "cpu"
	CUDA     Provider = "cuda"
	CoreML   Provider = "coreml"
	OpenVINO Provider = "openvino"
)

// Providers lists the names that ParseProvider accepts.
func Providers() []string {
	return []string{string(CPU), string(CUDA), string(CoreML), string(OpenVINO)}
}

// ParseProvider returns the provider with a name from a configuration.
func ParseProvider(name string) (Provider, error) {
	if slices.Contains(Providers(), name) {
		return Provider(name), nil
	}
	return "", fmt.Errorf("provider %q: not one of %s", name, strings.Join(Providers(), ", "))
}

// enable adds the provider to the session's options; operators that it lacks
// fall back to the CPU.
func (p Provider) enable(o *onnxruntime.SessionOptions) error {
	switch p {
	case CPU:
		return nil
	case CUDA:
		return enableCUDA(o)
	case CoreML:
		return o.AppendExecutionProviderCoreMLV2(nil)
	case OpenVINO:
		return o.AppendExecutionProviderOpenVINO(nil)
	}
	_, err := ParseProvider(string(p))
	return err
}

func enableCUDA(o *onnxruntime.SessionOptions) error {
	cuda, err := onnxruntime.NewCUDAProviderOptions()
	if err != nil {
		return err
	}
	defer cuda.Destroy()
	return o.AppendExecutionProviderCUDA(cuda)
}
