package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	root             = "../.."
	maxFunctionLines = 80
	maxFileLines     = 400
)

func TestFunctionsAndFilesStaySmall(t *testing.T) {
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, filepath.Join(root, file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if n := fset.File(parsed.FileStart).LineCount(); n > maxFileLines {
			t.Errorf("%s has %d lines, more than %d", file, n, maxFileLines)
		}
		for _, decl := range parsed.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := fset.Position(f.End()).Line - fset.Position(f.Pos()).Line + 1; n > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, more than %d", file, f.Name.Name, n, maxFunctionLines)
			}
		}
	}
}

// A link is the target of [text](target), up to a fragment or a title.
var link = regexp.MustCompile(`\]\(([^)#\s]+)`)

func TestLinksInDocumentsExist(t *testing.T) {
	for _, file := range files(t, ".md") {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			target := m[1]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(file), target)); err != nil {
				t.Errorf("%s links to %s: %v", file, target, err)
			}
		}
	}
}

func TestOnlyOnePlaceSkipsForWantOfShared(t *testing.T) {
	words := "needs " + "../shared"
	for _, file := range goFiles(t) {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), words) && !strings.HasPrefix(file, "internal/shared/") {
			t.Errorf("%s skips by itself; call shared.Path, which fails in CI", file)
		}
	}
}

func goFiles(t *testing.T) []string { return files(t, ".go") }

// files lists the project's files with an extension, relative to the root.
func files(t *testing.T, ending string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && name != ".github" && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata") {
			return fs.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(name, ending) {
			rel, err := filepath.Rel(root, path)
			found = append(found, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
