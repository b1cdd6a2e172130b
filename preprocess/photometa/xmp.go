package photometa

import (
	"bytes"
	"encoding/xml"
	"io"
	"strconv"
	"strings"
)

const tiffNamespace = "http://ns.adobe.com/tiff/1.0/"

// mostXMP bounds what is parsed of a packet; packets of megabytes hold thumbnails and
// histories, after the properties of the picture.
const mostXMP = 4 << 20

// xmpOrientation finds tiff:Orientation, an attribute or an element, under any prefix.
func xmpOrientation(packet []byte) int {
	if !bytes.Contains(packet, []byte(tiffNamespace)) {
		return 0
	}
	d := xml.NewDecoder(bytes.NewReader(packet[:min(len(packet), mostXMP)]))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	prefixes := map[string]bool{"tiff": true}
	inside := false
	for {
		token, err := d.RawToken()
		if err != nil {
			return 0
		}
		switch token := token.(type) {
		case xml.StartElement:
			if o := ofAttributes(token.Attr, prefixes); o != 0 {
				return o
			}
			inside = isOrientation(token.Name, prefixes)
		case xml.CharData:
			if o := digit(string(token)); inside && o != 0 {
				return o
			}
		case xml.EndElement:
			inside = false
		}
	}
}

// ofAttributes returns the orientation among the attributes of an element, and notes the
// prefixes that they give to the namespace of TIFF.
func ofAttributes(all []xml.Attr, prefixes map[string]bool) int {
	for _, a := range all {
		if a.Name.Space == "xmlns" && a.Value == tiffNamespace {
			prefixes[a.Name.Local] = true
		}
	}
	for _, a := range all {
		if o := digit(a.Value); o != 0 && isOrientation(a.Name, prefixes) {
			return o
		}
	}
	return 0
}

func isOrientation(name xml.Name, prefixes map[string]bool) bool {
	return name.Local == "Orientation" && prefixes[name.Space]
}

func digit(text string) int {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return 0
	}
	return oneOfEight(n)
}
