package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// parsed returns the number of elements of each name, and all text, of a
// well-formed document.
func parsed(t *testing.T, b []byte) (map[string]int, string) {
	t.Helper()
	count := map[string]int{}
	var text strings.Builder
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return count, text.String()
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch v := token.(type) {
		case xml.StartElement:
			count[v.Name.Local]++
		case xml.CharData:
			text.Write(v)
		}
	}
}

func dendrogramOf(t *testing.T, title string, b Branch) []byte {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, Dendrogram(&out, title, b))
	return out.Bytes()
}

// TestDendrogram: every leaf occurs once, names with markup are escaped,
// pictures are included, and leaves are one below the other.
func TestDendrogram(t *testing.T) {
	hostile := `</text><script>alert(1)</script> & "x"` + "\x00"
	tree := Branch{Below: []Branch{{Label: "ant", Picture: []byte("jpeg")},
		{Below: []Branch{{Label: hostile}, {Label: "cat"}, {Label: "ünï 漢字"}}}}}
	svg := dendrogramOf(t, "a < b", tree)
	count, text := parsed(t, svg)
	if count["text"] != 5 || count["image"] != 1 || count["path"] != 1 || count["script"] != 0 {
		t.Errorf("elements %v", count)
	}
	for _, want := range []string{"ant", "cat", "ünï 漢字", "a < b", `</text><script>alert(1)</script> & "x"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if !bytes.Equal(svg, dendrogramOf(t, "a < b", tree)) {
		t.Error("the same tree gives other bytes")
	}
	// ant has its line to the right end; the split of three spans them.
	if !strings.Contains(string(svg), "V") || strings.Count(string(svg), "M") < 6 {
		t.Errorf("lines: %s", svg)
	}
}

func TestDendrogramOfLittle(t *testing.T) {
	for name, b := range map[string]Branch{"nothing": {}, "one leaf": {Label: "only"},
		"a chain": {Below: []Branch{{Below: []Branch{{Label: "x"}}}}}} {
		if count, _ := parsed(t, dendrogramOf(t, name, b)); count["svg"] != 1 || count["text"] != 2 {
			t.Errorf("%s: %v", name, count)
		}
	}
}

// TestDendrogramOfADeepTree: a chain of 20 000 classes neither overflows the
// stack nor takes quadratic time.
func TestDendrogramOfADeepTree(t *testing.T) {
	b := Branch{Label: "last"}
	for range 20000 {
		b = Branch{Below: []Branch{{Label: "c"}, b}}
	}
	if count, _ := parsed(t, dendrogramOf(t, "deep", b)); count["text"] != 20002 {
		t.Errorf("%d labels", count["text"])
	}
}
