package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// optional are the interfaces that a head may or may not have. A wrapper, such
// as a temperature, has those of the head within only for those who ask As.
var optional = []string{"Forgetter", "SampleForgetter", "Saver", "StatisticsKeeper", "Exporter", "BackendUser", "Hierarchical"}

func TestCapabilitiesAreLookedUpWithAs(t *testing.T) {
	for _, file := range goFiles(t) {
		pkg := filepath.ToSlash(filepath.Dir(file))
		if strings.HasSuffix(file, "_test.go") || pkg == "classifier" || pkg == "classifier/temperature" || pkg == "classifier/classifiertest" {
			continue // the wrappers' own business, and tests of bare heads
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, filepath.Join(root, file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			assertion, ok := n.(*ast.TypeAssertExpr)
			if !ok {
				return true
			}
			name, ok := assertion.Type.(*ast.SelectorExpr)
			if !ok || !slices.Contains(optional, name.Sel.Name) {
				return true
			}
			if from, ok := name.X.(*ast.Ident); ok && from.Name == "classifier" {
				t.Errorf("%s: asserts classifier.%s; use classifier.As, which looks through wrappers", fset.Position(n.Pos()), name.Sel.Name)
			}
			return true
		})
	}
}
