package chart

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

// textOf returns the text of a document, which must be XML.
func textOf(t *testing.T, name string, document []byte) string {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(document))
	var text strings.Builder
	for {
		token, err := d.Token()
		if err == io.EOF {
			return text.String()
		}
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		if data, ok := token.(xml.CharData); ok {
			text.Write(data)
		}
	}
}

// TestNamesAreXML: a figure is valid XML whatever its labels are, and those that XML knows are in it.
func TestNamesAreXML(t *testing.T) {
	for name, shown := range map[string]bool{
		"\x1b[31mred": false, "nul\x00": false, "\u007f": true, "\u009b": true, "\xff\xfe": false,
		"\ufffe\uffff": false, `<a href="x">&amp;`: true, "]]>": true, "--><!--": true,
		"<?xml?>": true, "\r\n\t": false, "\U0001f98a": true, `'"`: true,
	} {
		f := Strips(name, Axes{Title: name, X: name}, 3, []Strip{{Label: name, Note: name, Values: []float64{1, 2, 3}}})
		strips, err := f.Encode("svg")
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		var tree bytes.Buffer
		if err := Dendrogram(&tree, name, Branch{Below: []Branch{{Label: name}, {Label: "other"}}}); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		for _, document := range [][]byte{strips, tree.Bytes()} {
			if text := textOf(t, name, document); shown && !strings.Contains(text, name) {
				t.Errorf("%q is not in the figure: %q", name, text)
			}
		}
	}
}
