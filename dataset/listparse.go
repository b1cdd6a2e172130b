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
	plain, err := skipBOM(r)
	if err != nil {
		return nil, err
	}
	text := bufio.NewReader(newLineLimiter(plain))
	for skipped := 0; ; skipped++ {
		line, err := text.ReadString('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("line %d: %w", skipped+1, err)
		}
		if err == nil && (strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#")) {
			continue
		}
		rest := io.MultiReader(strings.NewReader(line), text)
		if isHeader(line) {
			return parseCSVList(rest, skipped)
		}
		return parsePlainList(rest, skipped)
	}
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

// isHeader reports whether a line is the header of a CSV list.
func isHeader(line string) bool {
	fields, err := csv.NewReader(strings.NewReader(line)).Read()
	return err == nil && slices.Contains(fields, "path")
}

func parseCSVList(text io.Reader, linesBefore int) (rows []listRow, err error) {
	table, err := newTable(text, '#')
	if err != nil {
		return nil, err
	}
	err = table.each(func(sample Sample, line int) {
		if sample.Path != "" {
			rows = append(rows, listRow{line: line + linesBefore, sample: sample, labelled: table.label >= 0, csv: true})
		}
	})
	return rows, err
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
