package backbone

import (
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

const specJSON = `{"resize":"shorter","size":92,"crop":84,"interpolation":"bicubic",` +
	`"mean":[0.5,0.5,0.5],"std":[0.25,0.25,0.25],"orientation":true}`

// tinyONNX returns the smallest model that onnx.Parse accepts: one Identity. An
// empty metadata value is left out.
func tinyONNX(name, preprocessJSON string) []byte {
	node := message(1, []byte("input"), 2, []byte("features"), 4, []byte("Identity"))
	graph := message(1, node, 2, []byte(name), 11, message(1, []byte("input")), 12, message(1, []byte("features")))
	model := protowire.AppendTag(nil, 1, protowire.VarintType)
	model = protowire.AppendVarint(model, 8)
	model = append(model, message(7, graph)...)
	if preprocessJSON != "" {
		model = append(model, message(14, message(1, []byte("pipeline.preprocess"), 2, []byte(preprocessJSON)))...)
	}
	return model
}

// message encodes pairs of field number and bytes.
func message(pairs ...any) []byte {
	var b []byte
	for i := 0; i < len(pairs); i += 2 {
		b = protowire.AppendTag(b, protowire.Number(pairs[i].(int)), protowire.BytesType)
		b = protowire.AppendBytes(b, pairs[i+1].([]byte))
	}
	return b
}

func writeFile(t *testing.T, path string, data []byte) string {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, os.WriteFile(path, data, 0o644))
	return path
}
