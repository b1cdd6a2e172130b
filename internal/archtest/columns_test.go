package archtest

import (
	"go/scanner"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

const (
	maxColumns = 120
	tabColumns = 4
)

var (
	address   = regexp.MustCompile(`https?://\S+`)
	generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
)

// notebook is the source of a notebook, in which a paragraph or a command is one line.
const notebook = "scripts/notebook/walkthrough.py"

// TestLinesFit: no line of Go, JavaScript or Python has more columns than a person reads.
// What is quoted as it is may be longer: generated files, testdata, the inside of a raw
// string of several lines, the output of an example, and an address.
func TestLinesFit(t *testing.T) {
	total := 0
	for _, ending := range []string{".go", ".js", ".py"} {
		for _, file := range files(t, ending) {
			text := read(t, file)
			if generated.MatchString(text) || file == notebook {
				continue
			}
			quoted := map[int]bool{}
			if ending == ".go" {
				quoted = rawLines(text)
			}
			first, n, output := 0, 0, false
			for i, line := range strings.Split(text, "\n") {
				comment := strings.HasPrefix(line, "\t//")
				output = comment && (output || strings.HasPrefix(line, "\t// Output:"))
				if output || quoted[i+1] || columns(address.ReplaceAllString(line, "")) <= maxColumns {
					continue
				}
				if n++; n == 1 {
					first = i + 1
				}
			}
			if n > 0 {
				t.Errorf("%s:%d: the first of %d lines of more than %d columns", file, first, n, maxColumns)
			}
			total += n
		}
	}
	if total > 0 {
		t.Errorf("%d lines have more than %d columns", total, maxColumns)
	}
}

// columns returns the width of a line.
func columns(line string) (n int) {
	for _, r := range line {
		if r == '\t' {
			n += tabColumns
		} else {
			n++
		}
	}
	return n
}

// rawLines returns the lines of Go code that raw strings of several lines touch.
func rawLines(text string) map[int]bool {
	lines := map[int]bool{}
	var s scanner.Scanner
	source := token.NewFileSet()
	file := source.AddFile("", -1, len(text))
	s.Init(file, []byte(text), nil, 0)
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return lines
		}
		if tok == token.STRING && strings.HasPrefix(literal, "`") {
			first := file.Line(pos)
			last := first + strings.Count(literal, "\n")
			for line := first; line <= last && last > first; line++ {
				lines[line] = true
			}
		}
	}
}
