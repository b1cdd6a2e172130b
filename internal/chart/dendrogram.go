package chart

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"unicode/utf8"
)

// A Branch is either a leaf with a label or a split.
type Branch struct {
	Label string
	// Picture is a JPEG next to the label; it may be missing.
	Picture []byte
	Below   []Branch
}

// Sizes of a dendrogram, in pixels.
const (
	edge         = 24
	titleHeight  = 34
	textHeight   = 18 // of a leaf without a picture
	pictureSide  = 40
	rowGap       = 4
	longestWidth = 720 // of the longest path
	widestStep   = 80
	letterWidth  = 7.5
)

// Dendrogram writes an SVG of a tree, with the root at the left and the leaves
// one below the other at the right, in the order of the branches. Time and
// memory are linear in the number of nodes.
func Dendrogram(w io.Writer, title string, root Branch) error {
	d := dendrogram{row: textHeight}
	d.measure(root, 0)
	if d.pictures {
		d.row = pictureSide + rowGap
	}
	d.step = min(widestStep, longestWidth/float64(max(d.depth, 1)))
	d.draw(root, 0)
	_, err := w.Write(d.document(title))
	return err
}

type dendrogram struct {
	depth    int
	widest   int // characters of the longest label
	pictures bool
	row      float64
	step     float64
	leaves   int
	lines    bytes.Buffer
	labels   bytes.Buffer
}

// measure determines the depth, the longest label and whether there are
// pictures.
func (d *dendrogram) measure(b Branch, depth int) {
	d.depth = max(d.depth, depth)
	if len(b.Below) == 0 {
		d.widest = max(d.widest, utf8.RuneCountInString(b.Label))
		d.pictures = d.pictures || len(b.Picture) > 0
	}
	for _, c := range b.Below {
		d.measure(c, depth+1)
	}
}

// draw returns the height at which the branch leaves its parent.
func (d *dendrogram) draw(b Branch, depth int) float64 {
	x := edge + float64(depth)*d.step
	if len(b.Below) == 0 {
		return d.leaf(b, x)
	}
	heights := make([]float64, len(b.Below))
	for i, c := range b.Below {
		heights[i] = d.draw(c, depth+1)
		fmt.Fprintf(&d.lines, "M%.1f %.1fh%.1f", x, heights[i], d.step)
	}
	first, last := heights[0], heights[len(heights)-1]
	fmt.Fprintf(&d.lines, "M%.1f %.1fV%.1f", x, first, last)
	return (first + last) / 2
}

func (d *dendrogram) leaf(b Branch, x float64) float64 {
	y := titleHeight + edge + (float64(d.leaves)+0.5)*d.row
	d.leaves++
	end := edge + float64(d.depth)*d.step
	if end > x {
		fmt.Fprintf(&d.lines, "M%.1f %.1fH%.1f", x, y, end)
	}
	if len(b.Picture) > 0 {
		fmt.Fprintf(&d.labels, `<image x="%.1f" y="%.1f" width="%d" height="%d" href="data:image/jpeg;base64,%s"/>`+
			"\n",
			end+6, y-pictureSide/2, pictureSide, pictureSide, base64.StdEncoding.EncodeToString(b.Picture))
	}
	fmt.Fprintf(&d.labels, `<text x="%.1f" y="%.1f">%s</text>`+"\n", d.textAt(), y+4, escaped(b.Label))
	return y
}

// textAt returns the x coordinate of the labels.
func (d *dendrogram) textAt() float64 {
	x := edge + float64(d.depth)*d.step + 8
	if d.pictures {
		x += pictureSide + 4
	}
	return x
}

func (d *dendrogram) document(title string) []byte {
	width := max(d.textAt()+letterWidth*float64(d.widest), letterWidth*1.2*float64(utf8.RuneCountInString(title))+
		edge) + edge
	height := titleHeight + 2*edge + d.row*float64(d.leaves)
	var out bytes.Buffer
	fmt.Fprintf(&out,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" `+
			"font-family=\"sans-serif\" font-size=\"13\">\n", width, height, width, height)
	fmt.Fprintf(&out, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", escaped(title))
	fmt.Fprintf(&out, `<text x="%d" y="%d" font-size="16" font-weight="bold">%s</text>`+"\n", edge, edge+8,
		escaped(title))
	fmt.Fprintf(&out, `<path d="%s" fill="none" stroke="#0072b2" stroke-width="1.5"/>`+"\n", d.lines.String())
	out.Write(d.labels.Bytes())
	out.WriteString("</svg>\n")
	return out.Bytes()
}

// escaped returns text escaped for XML; characters that XML does not allow
// become U+FFFD.
func escaped(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a Buffer never fails
	return b.String()
}
