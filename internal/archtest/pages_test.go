package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```")

// pythonRuns has the pages whose blocks of Python run in a test of the same name.
var pythonRuns = map[string]string{
	"deploy/python/README.md": "TestPythonModule",
	"docs/formats-model.md":   "TestONNXClientInPython",
	"docs/python.md":          "TestPythonDocs",
	"docs/serve.md":           "TestServeDocs",
	"models/README.md":        "TestReadme",
}

// goRuns has the pages whose programs a test builds and runs.
var goRuns = map[string]string{"docs/library.md": "TestPrograms"}

// TestProgramsInPages: every block of Go in a Markdown file is a program that a test runs, or one that compiles
// outside of this module's folders, as a reader's does, and whose functions, apart from main, are those of an
// Example; blocks of Python run in a test.
func TestProgramsInPages(t *testing.T) {
	tests := functions(t, ".", "Test")
	examples := ""
	for _, file := range files(t, "_test.go") {
		if text := read(t, file); strings.Contains(text, "\nfunc Example") {
			examples += text
		}
	}
	n := 0
	for _, file := range files(t, ".md") {
		text := read(t, file)
		if strings.Contains(text, "\n```python\n") && !tests[pythonRuns[file]] {
			t.Errorf("%s: no test runs its blocks of Python; write one and name it here", file)
		}
		for _, block := range goBlock.FindAllStringSubmatch(text, -1) {
			n++
			if !strings.HasPrefix(block[1], "package main\n") {
				t.Errorf("%s: a block of Go is no whole program, so nothing checks it:\n%s", file, block[1])
				continue
			}
			if tests[goRuns[file]] {
				continue
			}
			program := filepath.Join(t.TempDir(), "main.go")
			must.Do(t, os.WriteFile(program, []byte(block[1]), 0o644))
			for _, f := range programFunctions(t, block[1]) {
				if !strings.Contains(examples, "\n"+f+"\n") {
					t.Errorf("%s: a function of a program is in no file of examples, so nothing runs it:\n%s", file, f)
				}
			}
			vet := exec.Command("go", "vet", program)
			vet.Dir = root // whose go.mod says which releases of other modules
			if out, err := vet.CombinedOutput(); err != nil {
				t.Errorf("%s: a program does not compile: %v\n%s", file, err, out)
			}
		}
	}
	if n == 0 {
		t.Error("no page has a program: look at the rule that finds them")
	}
}

// programFunctions returns the functions of a program, without main, as they are written.
func programFunctions(t *testing.T, program string) (text []string) {
	t.Helper()
	fset := token.NewFileSet()
	parsed := must.Get(parser.ParseFile(fset, "", program, parser.SkipObjectResolution))(t)
	for _, decl := range parsed.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Name.Name != "main" {
			text = append(text, program[fset.Position(f.Pos()).Offset:fset.Position(f.End()).Offset])
		}
	}
	return text
}

// codeInDoc is the first block of code in the comment of a package.
var codeInDoc = regexp.MustCompile(`(?m)^//\n((?://\t.*\n)+)`)

// TestPackagePagesBeginWithAnExample: the packages of docs/library.md show on their page,
// before anything else, how they are used, in lines that an Example runs.
func TestPackagePagesBeginWithAnExample(t *testing.T) {
	library := read(t, "label/library_test.go")
	ran := map[string]bool{}
	for line := range strings.Lines(library) {
		ran[strings.TrimSpace(line)] = true
	}
	for _, name := range []string{"dataset", "embedding", "model", "label", "method", "classifier"} {
		doc := read(t, name+"/doc.go")
		block := codeInDoc.FindStringSubmatchIndex(doc)
		if heading := strings.Index(doc, "\n// # "); block == nil || heading >= 0 && heading < block[0] {
			t.Errorf("%s/doc.go does not begin with an example", name)
			continue
		}
		for line := range strings.Lines(doc[block[2]:block[3]]) {
			if code := strings.TrimSpace(strings.TrimPrefix(line, "//")); !ran[code] {
				t.Errorf("%s/doc.go: no example runs %q", name, code)
			}
		}
	}
}
