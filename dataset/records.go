package dataset

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/parquetfile"
)

const (
	// maxLineBytes bounds a line of a list or of samples.csv: paths have at most a
	// few thousand bytes; a longer line means that the file is something else.
	maxLineBytes = 1 << 20
	// headRows is the number of records that columns are guessed from.
	headRows = 50
)

// records are the rows of a list in any format. They are read twice: first some,
// to find the columns, then all.
type records struct {
	// header names the columns; nil if the list has no header.
	header []string
	// literal paths are the bytes of file names, not the text of a table.
	literal bool
	// unit is what the numbers of records count: "line" or "row".
	unit string
	// each calls use with every record, until use returns false. Only the cells
	// of the given columns need be filled (nil: all); they are valid until use
	// returns.
	each func(columns []int, use func(number int, cells []string) bool) error
	// first returns the first n records, if that can be done better than with each.
	first func(n int) ([][]string, error)
}

// head returns the first records.
func (r records) head() (rows [][]string, err error) {
	if r.first != nil {
		return r.first(headRows)
	}
	err = r.each(nil, func(_ int, cells []string) bool {
		row := make([]string, len(cells))
		for i := range cells {
			row[i] = field(cells, i)
		}
		rows = append(rows, row)
		return len(rows) < headRows
	})
	return rows, err
}

// openRecords finds out the format of a list: Parquet, JSON lines, a table of
// separated cells with or without a header, or plain lines, each a path, or a
// path, a tab and a label.
func openRecords(file io.ReaderAt, size int64, g guesser) (records, error) {
	if parquetfile.Is(file) {
		return openParquet(file, size)
	}
	text := func() (*bufio.Reader, error) {
		plain, err := skipBOM(io.NewSectionReader(file, 0, size))
		if err != nil {
			return nil, err
		}
		return bufio.NewReaderSize(newLineLimiter(plain), 64<<10), nil
	}
	plain := records{literal: true, unit: "line", each: func(_ []int, use func(int, []string) bool) error {
		return eachLine(text, func(number int, line string) (bool, error) {
			path, label, labelled := strings.Cut(line, "\t")
			if !labelled {
				return use(number, []string{path}), nil
			}
			return use(number, []string{path, label}), nil
		})
	}}
	var lines []string
	err := eachLine(text, func(_ int, line string) (bool, error) {
		lines = append(lines, line)
		return len(lines) < headRows, nil
	})
	if err != nil || len(lines) == 0 {
		return plain, err
	}
	if isObject(lines[0]) {
		return openJSON(text)
	}
	switch d := g.dialect(lines); {
	case d.separator == 0:
		return plain, nil
	case d.separator == ' ':
		return records{unit: "line", each: func(_ []int, use func(int, []string) bool) error {
			return eachLine(text,
				func(number int, line string) (bool, error) { return use(number, d.words(line)), nil })
		}}, nil
	default:
		return openSeparated(text, d)
	}
}

// skipBOM drops a UTF-8 byte order mark and refuses UTF-16, and the files of
// spreadsheet programs: zip archives (xlsx, ods) and OLE files (xls).
func skipBOM(r io.Reader) (*bufio.Reader, error) {
	text := bufio.NewReaderSize(r, 64<<10)
	head, _ := text.Peek(4)
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, err := text.Discard(3)
		return text, err
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")), isUTF16(head):
		return nil, errors.New("the text is UTF-16; save it as UTF-8 (in Excel: CSV UTF-8; in a shell: iconv -f " +
			"UTF-16 -t UTF-8)")
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0")):
		return nil, errors.New("this is a workbook (Excel, LibreOffice) or an archive, not text; save the sheet as " +
			"CSV UTF-8")
	}
	return text, nil
}

// isUTF16 recognises two Latin letters without a byte order mark.
func isUTF16(head []byte) bool {
	if len(head) < 4 {
		return false
	}
	little := head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0
	big := head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0
	return little || big
}

// eachLine calls use with every line that is neither blank nor a comment.
func eachLine(text func() (*bufio.Reader, error), use func(number int, line string) (more bool, err error)) error {
	r, err := text()
	if err != nil {
		return err
	}
	for number := 1; ; number++ {
		line, err := r.ReadString('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("line %d: %w", number, err)
		}
		last := err == io.EOF
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		path, _, _ := strings.Cut(line, "\t")
		if strings.TrimSpace(path) != "" && !strings.HasPrefix(line, "#") {
			if more, err := use(number, line); err != nil || !more {
				return err
			}
		}
		if last {
			return nil
		}
	}
}

// newSeparated returns a reader of separated cells. Quotes are literal in files
// separated by tabs, unless they enclose a cell.
func newSeparated(r io.Reader, separator rune) *csv.Reader {
	c := csv.NewReader(r)
	c.Comma, c.Comment, c.ReuseRecord, c.TrimLeadingSpace, c.LazyQuotes = separator, '#', true, separator != '\t',
		separator == '\t'
	return c
}

// openSeparated reads a table of separated cells. All records have the number of
// cells of the first.
func openSeparated(text func() (*bufio.Reader, error), d dialect) (records, error) {
	r := records{unit: "line"}
	r.each = func(_ []int, use func(int, []string) bool) error {
		plain, err := text()
		if err != nil {
			return err
		}
		c := newSeparated(plain, d.separator)
		for first := true; ; first = false {
			record, err := c.Read()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			number, _ := c.FieldPos(0)
			switch {
			case first && d.header:
				if r.header == nil {
					r.header = slices.Clone(record)
				}
			case !use(number, record):
				return nil
			}
		}
	}
	err := r.each(nil, func(int, []string) bool { return false }) // for the header
	return r, err
}

// isObject reports whether a line is a JSON object.
func isObject(line string) bool {
	return strings.HasPrefix(strings.TrimSpace(line), "{") && json.Valid([]byte(line))
}

// openJSON reads JSON lines. The columns are the keys in the first objects.
func openJSON(text func() (*bufio.Reader, error)) (records, error) {
	each := func(use func(number int, object map[string]any) bool) error {
		return eachLine(text, func(number int, line string) (bool, error) {
			var object map[string]any
			d := json.NewDecoder(strings.NewReader(line))
			d.UseNumber()
			if err := d.Decode(&object); err != nil || d.Decode(new(any)) != io.EOF {
				return false, fmt.Errorf("line %d is not one JSON object", number)
			}
			return use(number, object), nil
		})
	}
	keys, n := map[string]bool{}, 0
	err := each(func(_ int, object map[string]any) bool {
		for key := range object {
			keys[key] = true
		}
		n++
		return n < headRows
	})
	if err != nil {
		return records{}, err
	}
	r := records{header: slices.Sorted(maps.Keys(keys)), unit: "line"}
	r.each = func(_ []int, use func(int, []string) bool) error {
		cells := make([]string, len(r.header))
		return each(func(number int, object map[string]any) bool {
			for i, key := range r.header {
				cells[i] = jsonText(object[key])
			}
			return use(number, cells)
		})
	}
	return r, nil
}

// jsonText is the text of a JSON string, number or boolean, and "" for anything
// else.
func jsonText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number, bool:
		return fmt.Sprint(v)
	}
	return ""
}
