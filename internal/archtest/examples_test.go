package archtest

import (
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// own is what the page of a package says that programs have no use for.
const own = "for this module's own packages"

// TestPublicPackagesHaveAnExample: the page of each package that another program can import
// begins with an example that runs, written as in that program, or says that it is not meant
// for others.
func TestPublicPackagesHaveAnExample(t *testing.T) {
	public := publicPackages(t)
	if len(public) < 20 {
		t.Fatalf("there are only %d public packages: look at the rule that finds them", len(public))
	}
	for folder, about := range public {
		if strings.Contains(strings.Join(strings.Fields(about), " "), own) {
			continue
		}
		file := folder + "/example_test.go"
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ParseComments)
		switch {
		case os.IsNotExist(err):
			t.Errorf("%s is missing: write an Example, or say in the comment of the package that it is %s", file, own)
			continue
		case err != nil:
			t.Error(err)
			continue
		case !strings.HasSuffix(parsed.Name.Name, "_test"):
			t.Errorf("%s is in package %s, not as another program would write it", file, parsed.Name.Name)
		}
		if !slices.ContainsFunc(doc.Examples(parsed), ofPackage) {
			t.Errorf("%s has no Example with an // Output", file)
		}
		for _, imported := range projectImports(t, file) {
			if strings.HasPrefix(imported, "internal/") {
				t.Errorf("%s imports %s, which no other program can", file, imported)
			}
		}
	}
}

// ofPackage reports whether an example is that of a package, and runs.
func ofPackage(e *doc.Example) bool {
	return (e.Name == "" || strings.HasPrefix(e.Name, "_")) && (e.Output != "" || e.EmptyOutput)
}

// publicPackages returns the folders of the packages that another program can import, but
// those of tests and of the papers' tables, with the comment of each.
func publicPackages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, file := range goFiles(t) {
		folder := filepath.ToSlash(filepath.Dir(file))
		parts := strings.Split(folder, "/")
		if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(folder, "test") || parts[0] == "cmd" ||
			parts[0] == "research" || slices.Contains(parts, "internal") {
			continue
		}
		parsed := must.Get(parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil,
			parser.PackageClauseOnly|parser.ParseComments))(t)
		if parsed.Name.Name != "main" {
			all[folder] += parsed.Doc.Text()
		}
	}
	return all
}
