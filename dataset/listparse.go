package dataset

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxLineBytes bounds a line of a list or of samples.csv: paths have at most a
// few thousand bytes; a longer line means that the file is something else.
const maxLineBytes = 1 << 20

// A listRow is one line of a list, not yet checked against the disk.
type listRow struct {
	line     int
	sample   Sample
	labelled bool // the label was given, even if empty
	csv      bool
}

func parseList(r io.Reader) ([]listRow, error) {
	text, err := skipBOM(r)
	if err != nil {
		return nil, err
	}
	head, skipped, err := leadingComments(text)
	if err != nil {
		return nil, err
	}
	if columns := listColumns(head); columns != nil {
		return parseCSVList(text, skipped)
	}
	return parsePlainList(text, skipped)
}

// skipBOM drops a UTF-8 byte order mark and refuses UTF-16.
func skipBOM(r io.Reader) (*bufio.Reader, error) {
	text := bufio.NewReaderSize(r, 64<<10)
	head, _ := text.Peek(3)
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, err := text.Discard(3)
		return text, err
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return nil, errors.New("the text is UTF-16; save it as UTF-8")
	}
	return text, nil
}

// leadingComments consumes blank and comment lines and peeks at the first other
// line.
func leadingComments(text *bufio.Reader) (head string, lines int, err error) {
	for {
		peeked, err := peekLine(text)
		if len(peeked) == 0 || err != nil {
			return "", lines, err
		}
		line := strings.TrimRight(string(peeked), "\r\n")
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			return line, lines, nil
		}
		if _, err := text.ReadSlice('\n'); err == bufio.ErrBufferFull {
			if err := finishLine(text); err != nil {
				return "", lines, err
			}
		} else if err != nil && err != io.EOF {
			return "", lines, err
		}
		lines++
	}
}

// peekLine returns the next line, or as much of it as the buffer holds.
func peekLine(text *bufio.Reader) ([]byte, error) {
	for want := 256; ; want *= 4 {
		want = min(want, text.Size())
		b, err := text.Peek(want)
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			return b[:i+1], nil
		}
		if err == io.EOF || want == text.Size() {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func finishLine(text *bufio.Reader) error {
	for {
		_, err := text.ReadSlice('\n')
		if err == nil || err == io.EOF {
			return nil
		}
		if err != bufio.ErrBufferFull {
			return err
		}
	}
}

// listColumns splits a CSV header; nil if the line is not one.
func listColumns(head string) []string {
	fields, err := csv.NewReader(strings.NewReader(head)).Read()
	if err != nil || !slices.Contains(fields, "path") {
		return nil
	}
	return fields
}

func parseCSVList(text io.Reader, linesBefore int) ([]listRow, error) {
	table, err := newTable(text, '#')
	if err != nil {
		return nil, err
	}
	var rows []listRow
	for {
		sample, line, err := table.next()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		if sample.Path != "" {
			rows = append(rows, listRow{line: line + linesBefore, sample: sample, labelled: table.label >= 0, csv: true})
		}
	}
}

func parsePlainList(text io.Reader, line int) ([]listRow, error) {
	scan := bufio.NewScanner(text)
	scan.Buffer(nil, maxLineBytes)
	var rows []listRow
	for scan.Scan() {
		line++
		listed, label, labelled := strings.Cut(scan.Text(), "\t")
		if strings.TrimSpace(listed) == "" || strings.HasPrefix(listed, "#") {
			continue
		}
		rows = append(rows, listRow{line: line, sample: Sample{Path: listed, Label: label}, labelled: labelled})
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w (is this a text file?)", line+1, err)
	}
	return rows, nil
}
