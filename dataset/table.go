package dataset

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A table reads samples.csv: columns by name, in any order, the others ignored.
type table struct {
	csv                         *csv.Reader
	path, label, split, session int // column numbers, -1 when absent
}

// newTable reads the header line.
func newTable(r io.Reader) (*table, error) {
	reader := csv.NewReader(newLineLimiter(r))
	reader.ReuseRecord = true
	header, err := reader.Read()
	if err == io.EOF {
		return nil, errors.New("the file is empty; the first line must name the columns: path,label")
	}
	if err != nil {
		return nil, err
	}
	t := &table{csv: reader}
	for _, column := range []struct {
		name  string
		index *int
	}{{"path", &t.path}, {"label", &t.label}, {"split", &t.split}, {"session", &t.session}} {
		*column.index = slices.Index(header, column.name)
	}
	if t.path < 0 {
		return nil, fmt.Errorf("no column \"path\" in the header %q", strings.Join(header, ","))
	}
	return t, nil
}

// each calls use with every row.
func (t *table) each(use func(s Sample)) error {
	for {
		record, err := t.csv.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		use(Sample{
			Path:    field(record, t.path),
			Label:   field(record, t.label),
			Split:   field(record, t.split),
			Session: field(record, t.session),
		})
	}
}

// field copies one cell, so that a row does not hold its whole line in memory.
func field(record []string, i int) string {
	if i < 0 || i >= len(record) {
		return ""
	}
	return strings.Clone(record[i])
}

// A lineLimiter fails on a line longer than maxLineBytes instead of letting the
// CSV reader collect it, so that a binary file costs no memory.
type lineLimiter struct {
	r      *bufio.Reader
	length int
}

func newLineLimiter(r io.Reader) *lineLimiter { return &lineLimiter{r: bufio.NewReader(r)} }

func (l *lineLimiter) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for _, c := range p[:n] {
		l.length++
		if c == '\n' {
			l.length = 0
		}
		if l.length > maxLineBytes {
			return 0, fmt.Errorf("a line longer than %d bytes (is this a text file?)", maxLineBytes)
		}
	}
	return n, err
}

// ReadSamples reads the samples.csv of a feature folder: a column path, and
// perhaps label, split and session, in any order. If escaped, paths and labels
// are decoded with UnescapePath.
func ReadSamples(r io.Reader, escaped bool) (samples []Sample, err error) {
	text := bufio.NewReader(r)
	if head, _ := text.Peek(3); string(head) == "\xef\xbb\xbf" {
		_, _ = text.Discard(3) // they are in the buffer
	}
	t, err := newTable(text)
	if err != nil {
		return nil, err
	}
	err = t.each(func(s Sample) {
		if escaped {
			s.Path, s.Label = UnescapePath(s.Path), UnescapePath(s.Label)
		}
		samples = append(samples, s)
	})
	return samples, err
}
