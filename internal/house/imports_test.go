package house

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/seed-90d10d51/pipeline/"

// allowed says which of the project's packages a package may import: images
// flow one way, classifiers see only embeddings, commands only wire. A rule
// for "classifier/*" covers every method that has none of its own. Test files
// may import anything.
var allowed = map[string][]string{
	"backbone":                          {"models", "preprocess", "internal/onnx", "internal/atomicfile"},
	"bench":                             {"dataset"},
	"bench/compare":                     {"bench", "dataset"},
	"classifier":                        {"internal/linalg", "internal/onnx"},
	"classifier/*":                      {"classifier", "classifier/moments", "classifier/pseudo", "internal/linalg", "internal/onnx"},
	"classifier/classifiertest":         {"classifier", "internal/linalg", "internal/linalg/native/nativetest", "internal/onnx", "internal/ort/orttest"},
	"classifier/examples":               {"classifier", "internal/linalg"},
	"classifier/gauss":                  {"classifier", "classifier/moments", "internal/linalg", "internal/onnx"},
	"classifier/gpc":                    {"classifier", "classifier/examples", "gp", "gp/*", "internal/linalg"},
	"classifier/gpr":                    {"classifier", "gp/regression", "internal/linalg"},
	"classifier/heads":                  {"classifier", "classifier/*", "internal/linalg", "gptree", "dkl"},
	"classifier/hppca":                  {"classifier", "classifier/lowrank", "classifier/moments", "internal/linalg"},
	"classifier/journal":                {"classifier", "internal/atomicfile", "internal/safetensors"},
	"classifier/lowrank":                {"classifier", "classifier/moments", "internal/linalg"},
	"classifier/moments":                {"classifier", "internal/linalg"},
	"classifier/online":                 {"classifier", "classifier/moments", "classifier/online/oem", "internal/linalg", "internal/onnx"},
	"classifier/online/oem":             {"internal/linalg"},
	"classifier/plda":                   {"classifier", "classifier/gauss", "classifier/moments", "classifier/pseudo", "internal/linalg", "internal/onnx"},
	"classifier/ppca":                   {"classifier", "classifier/lowrank", "classifier/moments", "classifier/pseudo", "internal/linalg", "internal/onnx"},
	"classifier/projected":              {"classifier", "classifier/pseudo", "dkl", "gptree", "internal/linalg", "internal/onnx"},
	"classifier/pseudo":                 {"classifier"},
	"classifier/shrunk":                 {"classifier", "classifier/gauss", "classifier/moments", "classifier/pseudo", "internal/linalg", "internal/onnx"},
	"classifier/vargp":                  {"classifier", "classifier/examples", "gp/vargp", "internal/linalg"},
	"configs":                           {},
	"dataset":                           {"internal/atomicfile"},
	"dataset/cub":                       {"dataset", "dataset/matlab"},
	"dataset/idx":                       {},
	"dataset/matlab":                    {},
	"demo":                              {},
	"dkl":                               {"dkl/bound", "gp/*", "gptree", "classifier", "internal/linalg", "internal/onnx"},
	"dkl/bound":                         {"gp/polyagamma", "gp/quadrature", "internal/linalg"},
	"dkl/checkpoint":                    {"dkl", "classifier", "classifier/journal", "internal/atomicfile", "internal/chart"},
	"embedding":                         {"dataset", "internal/atomicfile"},
	"experiment":                        {"classifier", "classifier/heads", "fscil", "internal/atomicfile", "internal/chart", "internal/linalg"},
	"experiment/*":                      {"experiment", "classifier", "classifier/*", "fscil", "dataset", "internal/chart", "internal/linalg"},
	"experiment/deepkernel":             {"experiment", "classifier", "classifier/*", "dkl", "dkl/checkpoint", "fscil", "metrics"},
	"experiment/experimenttest":         {"experiment", "classifier/heads", "fscil"},
	"experiment/gpregression":           {"experiment", "classifier", "classifier/*", "fscil", "gp/regression", "internal/chart"},
	"experiment/kinds":                  {"experiment", "experiment/*"},
	"experiment/vargp":                  {"experiment", "classifier", "dataset/idx", "fscil", "gp/vargp", "internal/chart", "internal/linalg"},
	"extractor":                         {"internal/onnx", "internal/ort"},
	"fscil":                             {"classifier", "classifier/heads", "dataset", "metrics", "internal/atomicfile"},
	"fscil/benchmark":                   {"internal/atomicfile"},
	"fscil/figure":                      {"fscil", "internal/chart"},
	"gp":                                {"internal/linalg", "gp/*"},
	"gp/*":                              {"internal/linalg"},
	"gp/regression":                     {"internal/linalg"},
	"gp/vargp":                          {"internal/linalg", "internal/tape"},
	"gptree":                            {"gp", "classifier", "internal/linalg", "gp/*", "classifier/examples", "classifier/pseudo"},
	"internal/atomicfile":               {},
	"internal/chart":                    {},
	"internal/config":                   {"classifier/heads", "dkl", "classifier/tempered", "configs", "dataset", "extractor", "fscil", "internal/linalg/native", "label", "preprocess", "rank", "experiment/kinds"},
	"internal/house":                    {},
	"internal/linalg":                   {},
	"internal/linalg/native":            {"internal/linalg", "internal/onnx", "internal/openblas", "internal/ort"},
	"internal/linalg/native/nativetest": {"internal/linalg", "internal/linalg/native", "internal/ort", "internal/ort/orttest"},
	"internal/onnx":                     {},
	"internal/openblas":                 {"internal/sharedlib"},
	"internal/ort":                      {"internal/sharedlib"},
	"internal/ort/orttest":              {"internal/ort", "internal/testenv"},
	"internal/safetensors":              {},
	"internal/shared":                   {"internal/testenv"},
	"internal/sharedlib":                {},
	"internal/tape":                     {"internal/linalg"},
	"internal/testenv":                  {},
	"internal/turbojpeg":                {"internal/sharedlib"},
	"label":                             {"classifier", "dataset", "embedding", "internal/atomicfile"},
	"metrics":                           {},
	"model":                             {"classifier", "classifier/heads", "classifier/projected", "dkl", "classifier/moments", "classifier/pseudo", "classifier/tempered", "preprocess", "internal/linalg", "internal/safetensors", "internal/atomicfile"},
	"models":                            {},
	"organise":                          {"dataset", "internal/atomicfile", "label"},
	"preprocess":                        {},
	"rank":                              {"classifier", "dataset", "embedding"},
	"report":                            {"metrics"},
	"scripts/setup/locate":              {"internal/ort"},
	"worker":                            {"dataset", "embedding"},
}

func TestImportDirection(t *testing.T) {
	for _, file := range goFiles(t) {
		pkg := filepath.ToSlash(filepath.Dir(file))
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(pkg, "cmd/") {
			continue
		}
		rule, ok := ruleFor(pkg)
		if !ok {
			t.Errorf("%s: package %s has no rule; add one to %s", file, pkg, "internal/house/imports_test.go")
			continue
		}
		for _, imported := range projectImports(t, file) {
			if !permits(rule, imported) {
				t.Errorf("%s imports %s, which %s may not", file, imported, pkg)
			}
		}
	}
}

func ruleFor(pkg string) ([]string, bool) {
	if rule, ok := allowed[pkg]; ok {
		return rule, true
	}
	rule, ok := allowed[filepath.ToSlash(filepath.Dir(pkg))+"/*"]
	return rule, ok
}

func permits(rule []string, pkg string) bool {
	return slices.ContainsFunc(rule, func(r string) bool {
		family, isFamily := strings.CutSuffix(r, "*")
		return r == pkg || isFamily && strings.HasPrefix(pkg, family)
	})
}

func projectImports(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var imports []string
	for _, spec := range parsed.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if pkg, ok := strings.CutPrefix(path, module); ok {
			imports = append(imports, pkg)
		}
	}
	return imports
}
