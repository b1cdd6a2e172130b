package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
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
		parsed := must.Get(parser.ParseFile(fset, filepath.Join(root, file), nil, 0))(t)
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

// A link is the target of [text](target), up to a title.
var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```")
	literal = regexp.MustCompile("`[^`\n]*`")
	html    = regexp.MustCompile(`<[a-z]+ id="([^"]+)"`)
)

// TestLinksInDocuments: every link of a Markdown file that does not leave the
// repository leads to a file, and to a heading in it if it names one.
func TestLinksInDocuments(t *testing.T) {
	for _, file := range files(t, ".md") {
		text := document(t, filepath.Join(root, file))
		for _, m := range link.FindAllStringSubmatch(literal.ReplaceAllString(text, ""), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			to := filepath.Join(root, filepath.Dir(file), target)
			if target == "" {
				to = filepath.Join(root, file)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s: %v", file, target, err)
			} else if anchor != "" && !slices.Contains(anchors(document(t, to)), anchor) {
				t.Errorf("%s links to %s, which has no heading of that name", file, m[1])
			}
		}
	}
}

// TestBookHasEveryPage: the contents of the book name every page of docs, apart from
// those in folders, which have contents of their own.
func TestBookHasEveryPage(t *testing.T) {
	contents := document(t, filepath.Join(root, "docs", "README.md"))
	for _, file := range files(t, ".md") {
		if name := filepath.Base(file); filepath.Dir(file) == "docs" && name != "README.md" &&
			!strings.Contains(contents, "]("+name+")") {
			t.Errorf("docs/README.md, the contents of the book, does not name %s", name)
		}
	}
}

// document reads a Markdown file without its fenced blocks.
func document(t *testing.T, file string) string {
	t.Helper()
	text := must.Get(os.ReadFile(file))(t)
	return fenced.ReplaceAllString(string(text), "")
}

// anchors returns the names of the headings of a document, as GitHub and the book
// make them: in lower case, without punctuation, with hyphens for spaces.
func anchors(text string) (names []string) {
	times := map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		plain := regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`).ReplaceAllString(m[1], "$1")
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, plain)
		if n := times[name]; n > 0 {
			names = append(names, fmt.Sprintf("%s-%d", name, n))
		} else {
			names = append(names, name)
		}
		times[name]++
	}
	for _, m := range html.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

func TestOnlyOnePlaceSkipsForWantOfShared(t *testing.T) {
	words := "needs " + "../shared"
	for _, file := range goFiles(t) {
		text := must.Get(os.ReadFile(filepath.Join(root, file)))(t)
		if strings.Contains(string(text), words) && !strings.HasPrefix(file, "internal/testing/shared/") {
			t.Errorf("%s skips by itself; call shared.Path, which fails in CI", file)
		}
	}
}

func goFiles(t *testing.T) []string { return files(t, ".go") }

// files lists the project's files with an extension, relative to the root; what make and
// experiments write goes into out.
func files(t *testing.T, ending string) []string {
	t.Helper()
	var found []string
	must.Do(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path == filepath.Join(root, "out") {
			return fs.SkipDir
		}
		if d.IsDir() && path != root && name != ".github" &&
			(strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata") {
			return fs.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(name, ending) {
			rel, err := filepath.Rel(root, path)
			found = append(found, filepath.ToSlash(rel))
			return err
		}
		return nil
	}))
	return found
}
