package models_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
	"github.com/seed-90d10d51/pipeline/onnx"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

var pythonBlock = regexp.MustCompile("(?ms)^```python\n(.*?)^```")

// TestReadme runs the programs of README.md: one writes a file with its weights inside,
// the other how to prepare photos for it, which the preprocessing accepts.
func TestReadme(t *testing.T) {
	python := testenv.Python(t, "onnx")
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	network, err := os.ReadFile("../extractor/testdata/nchw.onnx")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "net.onnx"), network, 0o644); err != nil {
		t.Fatal(err)
	}
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
	described, err := os.ReadFile(filepath.Join(dir, "net-described.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Parse(described)
	if err != nil {
		t.Fatal(err)
	}
	var spec preprocess.Spec
	if err := json.Unmarshal([]byte(m.Metadata[onnx.MetadataPreprocess]), &spec); err != nil {
		t.Fatal(err)
	}
	if err := spec.Validate(); err != nil || spec.Side() != 224 {
		t.Errorf("%+v: %v", spec, err)
	}
}
