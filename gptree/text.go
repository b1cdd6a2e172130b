package gptree

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// WriteText draws the tree for people, one node a line, left above right.
// names holds the classes in column order; nil stands for their numbers. A
// split shows its number and how many classes it has to the left and right.
func (t *Tree) WriteText(w io.Writer, names []string) error {
	if names != nil && len(names) != t.Classes() {
		return fmt.Errorf("draw tree: %d names for %d classes", len(names), t.Classes())
	}
	out := bufio.NewWriter(w)
	isRight := make([]bool, t.depth+1) // of the ancestor at each depth
	for i, n := range t.nodes {
		if n.Parent >= 0 {
			isRight[n.Depth] = t.nodes[n.Parent].Right == i
		}
		branches(out, isRight[:n.Depth+1])
		out.WriteString(t.caption(n, names) + "\n")
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("draw tree: %w", err)
	}
	return nil
}

// String is WriteText with numbers for names.
func (t *Tree) String() string {
	var text strings.Builder
	_ = t.WriteText(&text, nil) // a strings.Builder takes everything
	return text.String()
}

// branches draws the lines in front of a node; the bufio.Writer keeps the
// first error for Flush.
func branches(out *bufio.Writer, isRight []bool) {
	depth := len(isRight) - 1
	for d := 1; d < depth; d++ {
		out.WriteString(pick(isRight[d], "    ", "│   "))
	}
	if depth > 0 {
		out.WriteString(pick(isRight[depth], "└── ", "├── "))
	}
}

func (t *Tree) caption(n Node, names []string) string {
	switch {
	case n.Split >= 0:
		return fmt.Sprintf("split %d (%d|%d)", n.Split, t.size(n.Left), t.size(n.Right))
	case names == nil:
		return strconv.Itoa(n.Class)
	}
	return printable(names[n.Class])
}

// printable quotes a name that could break the drawing or the terminal.
func printable(name string) string {
	odd := func(r rune) bool { return !unicode.IsGraphic(r) || r == unicode.ReplacementChar }
	if name == "" || strings.ContainsFunc(name, odd) {
		return strconv.Quote(name)
	}
	return name
}

func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}
