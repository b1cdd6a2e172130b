package models_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
	"github.com/seed-90d10d51/pipeline/onnx"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

var pythonBlock = regexp.MustCompile("(?ms)^```python\n(.*?)^```")

// TestReadme runs the programs of README.md: one writes a file with its weights inside,
// the other how to prepare photos for it, which the preprocessing accepts.
func TestReadme(t *testing.T) {
	python := testenv.Python(t, "onnx")
	text := must.Get(os.ReadFile("README.md"))(t)
	network := must.Get(os.ReadFile("../extractor/testdata/nchw.onnx"))(t)
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "net.onnx"), network, 0o644))
	for _, block := range pythonBlock.FindAllStringSubmatch(string(text), -1) {
		program := exec.Command(python, "-c", block[1])
		program.Dir = dir
		if out, err := program.CombinedOutput(); err != nil {
			t.Errorf("%v: %s\n%s", err, out, block[1])
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "net-one-file.onnx")); err != nil {
		t.Error(err)
	}
	described := must.Get(os.ReadFile(filepath.Join(dir, "net-described.onnx")))(t)
	m := must.Get(onnx.Parse(described))(t)
	var spec preprocess.Spec
	must.Do(t, json.Unmarshal([]byte(m.Metadata[onnx.MetadataPreprocess]), &spec))
	if err := spec.Validate(); err != nil || spec.Side() != 224 {
		t.Errorf("%+v: %v", spec, err)
	}
}
