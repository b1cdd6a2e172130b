package organise

import (
	"encoding/xml"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestSidecarsAreXML: a sidecar is valid XML whatever the classes are called, and has all names that XML
// knows.
func TestSidecarsAreXML(t *testing.T) {
	names := []string{
		"\x1b[31mred", "nul\x00", "\u009b", "\xff", "\ufffe", `<rdf:li>"&amp;`, "]]>", "--><!--", "<?xpacket?>",
		"tab\t", "new\nline", "\U0001f98a",
	}
	text := must.Get(sidecar(names))(t)
	if !written(text) {
		t.Error("it is not known again")
	}
	var packet struct {
		Subjects []string `xml:"RDF>Description>subject>Bag>li"`
	}
	if err := xml.Unmarshal(text, &packet); err != nil || len(packet.Subjects) != len(names) {
		t.Fatalf("%v, %q", err, packet.Subjects)
	}
	for i, name := range names {
		known := utf8.ValidString(name) && !strings.ContainsAny(name, "\x1b\x00\ufffe")
		if known && !slices.Contains(packet.Subjects, name) {
			t.Errorf("%q is written as %q", name, packet.Subjects[i])
		}
	}
}
