package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// openers are the functions that read, or wait for, whatever has a name: a pipe, a device,
// a folder, a file of any size.
var openers = map[string]bool{
	"os.Open": true, "os.OpenFile": true, "os.ReadFile": true, "os.DirFS": true, "os.OpenInRoot": true,
	"http.ServeFile": true, "http.Dir": true, "zip.OpenReader": true, "syscall.Open": true, "unix.Open": true,
}

// mayOpen says why files outside of package regularfile call one.
var mayOpen = map[string]string{
	"internal/atomicfile/":              "opens folders, and files that it has just made",
	"embedding/cache/file.go":           "makes files that must not exist",
	"label/export/folder.go":            "makes files that must not exist",
	"label/organise/copy.go":            "makes a file that must not exist",
	"scripts/":                          "tools for contributors",
	"internal/testing/testenv/":         "tests",
	"cmd/pipeline/command/commandtest/": "tests",
	"internal/regularfile/":             "",
}

// TestFilesAreOpenedInOnePlace: what people name is opened by package regularfile, which
// refuses what is not a regular file and reads no more than is expected.
func TestFilesAreOpenedInOnePlace(t *testing.T) {
	used := map[string]bool{}
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		calls := callsOf(t, file, openers)
		exempt := false
		for prefix := range mayOpen {
			if strings.HasPrefix(file, prefix) {
				exempt = true
				used[prefix] = used[prefix] || len(calls) > 0
			}
		}
		if !exempt && len(calls) > 0 {
			t.Errorf("%s calls %s: use package regularfile", file, strings.Join(calls, ", "))
		}
	}
	for prefix := range mayOpen {
		if !used[prefix] {
			t.Errorf("%s opens nothing: remove it from mayOpen", prefix)
		}
	}
}

// callsOf returns the functions of packages among the given ones that a file uses.
func callsOf(t *testing.T, file string, functions map[string]bool) (calls []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := s.X.(*ast.Ident); ok && functions[pkg.Name+"."+s.Sel.Name] {
				calls = append(calls, pkg.Name+"."+s.Sel.Name)
			}
		}
		return true
	})
	return calls
}

// renamers are the functions that give a name away, which Windows refuses while a file is
// open.
var renamers = map[string]bool{"os.Rename": true, "os.Remove": true, "os.RemoveAll": true, "syscall.Unlink": true,
	"unix.Renameat2": true, "unix.Unlink": true, "windows.MoveFileEx": true}

// TestNamesAreGivenAwayInOnePlace: files are renamed, replaced and removed by package
// atomicfile, whose functions panic in tests if a file is open.
func TestNamesAreGivenAwayInOnePlace(t *testing.T) {
	found := false
	for _, file := range goFiles(t) {
		calls := callsOf(t, file, renamers)
		switch {
		case len(calls) == 0 || strings.HasSuffix(file, "_test.go"), strings.HasPrefix(file, "scripts/"),
			strings.HasPrefix(file, "cmd/pipeline/command/commandtest/"):
		case strings.HasPrefix(file, "internal/atomicfile/"):
			found = true
		default:
			t.Errorf("%s calls %s: use package atomicfile", file, strings.Join(calls, ", "))
		}
	}
	if !found {
		t.Error("package atomicfile renames nothing")
	}
}
