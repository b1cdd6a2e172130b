package archtest

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

const (
	module = "github.com/seed-90d10d51/pipeline/"
	// application is the room of the root package.
	application = "pipeline"
)

// layers lists the top-level folders from the ground up. A package imports
// packages of its own folder and of folders on lower layers, never of folders
// on its own layer or above: so no import runs upward, and no folders import
// each other in a cycle. Test files may import anything.
var layers = [][]string{
	{"internal"},
	{"configs", "models", "preprocess", "onnx"},
	{"linalg", "words"},
	{"dataset", "gp"},
	{"extractor", "classifier"},
	{"embedding", "gptree"},
	{"dkl", "bench"},
	{"method"},
	{"model"},
	{"label"},
	{"teach", "research"},
	{application},
	{"serve"},
	{"cmd", "scripts"},
}

// forbidden lists folders that a folder must not import although they are on a
// lower layer: classifiers see only embeddings, not how they are made, and the
// code that turns pixels into embeddings knows no classifier.
var forbidden = map[string][]string{
	"classifier": {"preprocess", "dataset", "extractor"},
	"gp":         {"preprocess", "dataset", "extractor"},
	"gptree":     {"preprocess", "dataset", "extractor", "embedding"},
	"dkl":        {"preprocess", "dataset", "extractor", "embedding"},
	"method":     {"preprocess", "dataset", "extractor", "embedding"},
	"embedding":  {"classifier", "gp"},
}

func TestNoImportRunsUpward(t *testing.T) {
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		folder := roomOf(file)
		layer := layerOf(folder)
		if layer < 0 {
			t.Errorf("%s: the folder %s is on no layer; add it in internal/archtest/imports_test.go", file, folder)
			continue
		}
		for _, imported := range projectImports(t, file) {
			other, _, _ := strings.Cut(imported, "/")
			switch below := layerOf(other); {
			case other == folder:
			case below >= layer:
				t.Errorf("%s imports %s, which lies on layer %d, not below layer %d of %s", file, imported, below,
					layer, folder)
			case slices.Contains(forbidden[folder], other):
				t.Errorf("%s imports %s, which %s must not know", file, imported, folder)
			}
		}
	}
}

// roomOf returns the top-level folder of a file, or the application.
func roomOf(file string) string {
	folder, _, inside := strings.Cut(file, "/")
	if !inside {
		return application
	}
	return folder
}

func layerOf(folder string) int {
	return slices.IndexFunc(layers, func(folders []string) bool { return slices.Contains(folders, folder) })
}

func projectImports(t *testing.T, file string) []string {
	t.Helper()
	parsed := must.Get(parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly))(t)
	var imports []string
	for _, spec := range parsed.Imports {
		path := must.Get(strconv.Unquote(spec.Path.Value))(t)
		switch pkg, ok := strings.CutPrefix(path, module); {
		case ok:
			imports = append(imports, pkg)
		case path+"/" == module:
			imports = append(imports, application)
		}
	}
	return imports
}
