// Package textencodertest has a small network of photos and texts for tests: both sides
// know colours.
package textencodertest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// Side is the side of the photos in pixels, and Dim the length of an embedding.
const (
	Side = 8
	Dim  = 4
)

// Words are those that the text side knows, with the embedding of each; other characters
// count for nothing. The embedding of a photo is its mean red, green and blue, from 0 to 1,
// and a fourth value that is constant.
var Words = map[string][Dim]float32{
	"red": {1, 0, 0, 0}, "green": {0, 1, 0, 0}, "blue": {0, 0, 1, 0}, "yellow": {1, 1, 0, 0}, "photo": {0, 0, 0, 0.01},
}

// Names of the files of a Pair.
const (
	Photo     = "vision_model.onnx"
	Text      = "text_model.onnx"
	Tokenizer = "tokenizer.json"
)

// Write writes the three files of the pair into a folder and returns the path of the
// network of photos.
func Write(tb testing.TB, dir string) string {
	tb.Helper()
	for name, data := range map[string][]byte{Photo: PhotoSide(tb), Text: TextSide(tb), Tokenizer: Vocabulary(tb)} {
		must.Do(tb, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	return filepath.Join(dir, Photo)
}

// PhotoSide returns the network of photos.
func PhotoSide(tb testing.TB) []byte {
	tb.Helper()
	g := onnx.NewGraph("t:")
	photos := g.Input("pixel_values", onnx.Float32, onnx.Free, 3, Side, Side)
	means := g.Op("Reshape", g.Op("GlobalAveragePool", photos), g.Int64s(-1, 3))
	widened := g.Op("MatMul", means, g.Float32s([]float32{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, 3, Dim))
	moved := g.Op("Add", widened, g.Float32s([]float32{0, 0, 0, 0.01}, Dim))
	g.Output("image_embeds", moved, onnx.Float32, onnx.Free, Dim)
	spec := `{"resize":"exact","size":8,"crop":8,"interpolation":"bilinear","mean":[0,0,0],"std":[1,1,1]}`
	return model(tb, g, map[string]string{onnx.MetadataPreprocess: spec})
}

// TextSide returns the network of texts: the sum of the embeddings of tokens.
func TextSide(tb testing.TB) []byte {
	tb.Helper()
	var table []float32
	for _, row := range vocabulary().rows {
		table = append(table, row[:]...)
	}
	g := onnx.NewGraph("t:")
	ids := g.Input("input_ids", onnx.Int64, onnx.Free, onnx.Free)
	rows := g.Op("Gather", g.Float32s(table, len(table)/Dim, Dim), ids)
	g.Output("text_embeds", g.Node("ReduceSum", []string{rows, g.Int64s(1)}, onnx.Int("keepdims", 0)), onnx.Float32,
		onnx.Free, Dim)
	return model(tb, g, nil)
}

func model(tb testing.TB, g *onnx.Graph, metadata map[string]string) []byte {
	tb.Helper()
	return must.Get(g.Model("textencodertest", metadata))(tb)
}

// A vocab has the tokens of the tokenizer and their embeddings.
type vocab struct {
	ids  map[string]int
	rows [][Dim]float32
}

func (v *vocab) add(token string, row [Dim]float32) {
	v.ids[token] = len(v.rows)
	v.rows = append(v.rows, row)
}

// vocabulary has the ASCII characters and the words.
func vocabulary() *vocab {
	v := &vocab{ids: map[string]int{}}
	v.add("<end>", [Dim]float32{0, 0, 0, 0.001})
	for c := ' ' + 1; c < 0x7F; c++ {
		v.add(string(c), [Dim]float32{})
	}
	for _, word := range slices.Sorted(maps.Keys(Words)) {
		v.add(word, Words[word])
	}
	return v
}

// Vocabulary returns the tokenizer.json.
func Vocabulary(tb testing.TB) []byte {
	tb.Helper()
	v := vocabulary()
	type object = map[string]any
	data := must.Get(json.Marshal(object{
		"normalizer": object{"type": "Sequence", "normalizers": []object{{"type": "Lowercase"},
			{"type": "Replace", "pattern": object{"Regex": "[.,!?]"}, "content": " "}}},
		"pre_tokenizer": object{"type": "WhitespaceSplit"},
		"post_processor": object{"type": "TemplateProcessing",
			"single": []object{{"Sequence": object{"id": "A", "type_id": 0}},
				{"SpecialToken": object{"id": "<end>", "type_id": 0}}},
			"special_tokens": object{"<end>": object{"id": "<end>", "ids": []int{0}}}},
		"model": object{"type": "BPE", "ignore_merges": true, "vocab": v.ids, "merges": []string{}},
	}))(tb)
	return data
}
