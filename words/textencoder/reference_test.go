package textencoder_test

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
	"github.com/seed-90d10d51/pipeline/words/textencoder"
	"github.com/seed-90d10d51/pipeline/words/tokenizer"
)

// TestLikePython: embeddings are those that onnx's reference evaluator computes from the
// ids of Python's tokenizers, with full padding; networks that need none run without.
func TestLikePython(t *testing.T) {
	python := testenv.Python(t, "onnx", "tokenizers")
	rt := orttest.Open(t)
	dir := t.TempDir()
	if out, err := exec.Command(python, "testdata/reference.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var want struct {
		Texts  []string
		Length int
		Rows   map[string][][]float64
	}
	must.Do(t, json.Unmarshal(read(t, filepath.Join(dir, "results.json")), &want))
	tok := must.Get(tokenizer.Parse(read(t, filepath.Join(dir, "tokenizer.json"))))(t)
	padded := map[string]bool{"all": true, "fixed": true}
	for kind, rows := range want.Rows {
		t.Run(kind, func(t *testing.T) {
			e := must.Get(textencoder.Open(rt, read(t, filepath.Join(dir, kind+".onnx")), kind, tok,
				textencoder.Config{Length: want.Length}))(t)
			defer func() {
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			}()
			if e.Padded() != padded[kind] || e.Length() != want.Length || e.Dim() != len(rows[0]) {
				t.Errorf("padded %v, length %d, d %d", e.Padded(), e.Length(), e.Dim())
			}
			got := must.Get(e.Embed(t.Context(), want.Texts))(t)
			for i, row := range rows {
				for j, v := range row {
					if math.Abs(float64(got[i][j])-v) > tolerance(kind) {
						t.Errorf("%.20q, value %d: %g, want %g", want.Texts[i], j, got[i][j], v)
					}
				}
			}
		})
	}
}

func tolerance(kind string) float64 {
	if kind == "half" {
		return 1e-3
	}
	return 1e-5
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(file))(t)
}
