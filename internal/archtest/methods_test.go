package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/method"
)

// methodless are the folders that know what heads can do (classifier/abilities.go) and
// nothing of single methods. The texts for people may mention a method.
var methodless = []string{"cmd/", "model/", "label/", "teach/", "serve/"}

// TestNoMethodOutsideItsPackage: a new method needs its package and a row of package
// method. What depends on the method is an ability of its head, or a field of that row.
func TestNoMethodOutsideItsPackage(t *testing.T) {
	packages := methodPackages(t)
	n := 0
	for _, file := range goFiles(t) {
		in := func(folder string) bool { return strings.HasPrefix(file, folder) }
		if strings.HasSuffix(file, "_test.go") || !slices.ContainsFunc(methodless, in) {
			continue
		}
		n++
		for _, imported := range projectImports(t, file) {
			if slices.Contains(packages, imported) {
				t.Errorf("%s imports %s, the package of a method: ask for an ability", file, imported)
			}
		}
		for _, name := range methodNames(t, file) {
			t.Errorf("%s names the method %q: ask for an ability, or a field of its row", file, name)
		}
	}
	if n < 100 || len(packages) < 10 {
		t.Errorf("only %d files and %d packages of methods were found", n, len(packages))
	}
}

// methodPackages returns the packages that describe a method; classifier has its type.
func methodPackages(t *testing.T) []string {
	t.Helper()
	var packages []string
	for _, imported := range projectImports(t, "method/method.go") {
		if imported != "classifier" && slices.Contains(goFiles(t), imported+"/method.go") {
			packages = append(packages, imported)
		}
	}
	return packages
}

// methodNames returns the string literals of a file that are names of methods.
func methodNames(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, err := strconv.Unquote(lit.Value)
			called := func(m classifier.Method) bool { return m.Name == text }
			if err == nil && slices.ContainsFunc(method.Methods(), called) {
				names = append(names, text)
			}
		}
		return true
	})
	return names
}
