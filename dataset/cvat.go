package dataset

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
)

// openCVAT reads the images of CVAT's XML with the labels of their tags, or of their
// shapes where there is no tag.
func openCVAT(t *text) (records, error) {
	type shape struct {
		Label string `xml:"label,attr"`
	}
	var images []struct {
		name   string
		labels []string
	}
	d := xml.NewDecoder(t.raw())
	known := false
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return records{}, fmt.Errorf("not CVAT's XML: %w", err)
		}
		start, ok := token.(xml.StartElement)
		switch {
		case !ok:
		case start.Name.Local == "annotations":
			known = true
		case known && start.Name.Local == "image":
			var image struct {
				Name   string  `xml:"name,attr"`
				Tags   []shape `xml:"tag"`
				Shapes []shape `xml:",any"`
			}
			if err := d.DecodeElement(&image, &start); err != nil {
				return records{}, fmt.Errorf("not CVAT's XML: %w", err)
			}
			if len(image.Tags) == 0 {
				image.Tags = image.Shapes
			}
			var labels []string
			for _, tag := range image.Tags {
				if tag.Label != "" {
					labels = append(labels, tag.Label)
				}
			}
			slices.Sort(labels)
			labels = slices.Compact(labels)
			images = append(images, struct {
				name   string
				labels []string
			}{image.Name, labels})
		}
	}
	if !known {
		return records{}, fmt.Errorf("this XML is not CVAT's: it has no element annotations")
	}
	return made([]string{"path", "label"}, t.size, func(add func(cells ...string) bool) {
		for _, image := range images {
			if !add(image.name, severalCell(image.labels)) {
				return
			}
		}
	}), nil
}
