package dataset

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
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
	// safe cells are written as SafeCell does.
	safe bool
	// several reports that a photo may have several records, each of a thing in it.
	several bool
	// media reports that paths may be identifiers of media of a Camera Trap Data Package.
	media bool
	// events reports that they are of events of such a package: behind the cells of the header are
	// the deployment, the start and the end.
	events bool
	// joined says which columns the paths and labels are put together of, "" for one of each.
	joined string
	// encoding names that of the text, if it is not UTF-8.
	encoding string
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

// mostColumns is the most columns of a table, which is more than those with an embedding
// have. Each costs time in every row, even of a row without cells.
const mostColumns = 1 << 13

func checkWidth(columns int) error {
	if columns > mostColumns {
		return fmt.Errorf("it has %d columns, and may have %d; leave out those that are neither paths nor labels",
			columns, mostColumns)
	}
	return nil
}

// openRecords finds out the format of a list: Parquet, JSON (lines, an array, COCO), CVAT's
// XML, a table of separated cells with or without a header, or plain lines, each a path,
// or a path, a tab and a label.
func openRecords(file io.ReaderAt, size int64, g guesser) (records, error) {
	if isParquet(file) {
		return openParquet(file, size)
	}
	t, err := openText(file, size)
	if err != nil {
		return records{}, err
	}
	r, err := openTextRecords(t, g)
	r.encoding = t.encoding
	return r, readAs(t.encoding, err)
}

func openTextRecords(t *text, g guesser) (records, error) {
	switch t.start() {
	case '[':
		if r, err := openJSONArray(t, g); err == nil || !g.exists(firstLine(t), "") {
			return r, err
		}
	case '{':
		if r, ok, err := openCOCO(t); ok {
			return r, err
		}
		if r, ok := openFiftyOne(t, g); ok {
			return r, nil
		}
		if r, ok := openJSONMap(t, g); ok {
			return r, nil
		}
	case '<':
		return openCVAT(t)
	}
	lines, err := headLines(t, isComment)
	if err == nil && len(lines) == 0 { // all begin like comments
		lines, err = headLines(t, func(string) bool { return false })
	}
	if err != nil || len(lines) == 0 {
		return plainLines(t, g), err
	}
	if isObject(lines[0]) {
		return openJSON(t)
	}
	if strings.HasPrefix(lines[0], `{"`) && !g.exists(lines[0], "") {
		return records{}, fmt.Errorf("line 1 is not one JSON object: %w (NaN, which Python writes, is no JSON)",
			json.Unmarshal([]byte(lines[0]), new(any)))
	}
	d := dialect{separator: t.separator}
	if d.separator == 0 {
		d = g.dialect(lines)
	} else {
		rows, _ := cells(lines, d.separator)
		d.header = len(rows) > 0 && !g.havePaths(rows[:1])
	}
	switch d.separator {
	case 0:
		return plainLines(t, g), nil
	case ' ':
		return records{unit: "line", each: func(_ []int, use func(int, []string) bool) error {
			return eachLine(t, g.isComment,
				func(number int, line string) (bool, error) { return use(number, d.words(line)), nil })
		}}, nil
	default:
		return openSeparated(t, d)
	}
}

func plainLines(t *text, g guesser) records {
	return records{literal: true, unit: "line", each: func(_ []int, use func(int, []string) bool) error {
		return eachLine(t, g.isComment, func(number int, line string) (bool, error) {
			path, label, labelled := strings.Cut(line, "\t")
			if !labelled {
				return use(number, []string{path}), nil
			}
			return use(number, []string{path, label}), nil
		})
	}}
}

// headLines returns the first lines.
func headLines(t *text, comment func(line string) bool) (lines []string, err error) {
	err = eachLine(t, comment, func(_ int, line string) (bool, error) {
		lines = append(lines, line)
		return len(lines) < headRows, nil
	})
	return lines, err
}

func firstLine(t *text) string {
	lines, _ := headLines(t, isComment)
	return append(lines, "")[0]
}

// isComment reports whether a line is a comment, in lists in which # begins one.
func isComment(line string) bool { return strings.HasPrefix(line, "#") }

// isComment reports whether a line of a plain list is a comment rather than the path of a
// file whose name begins with #.
func (g guesser) isComment(line string) bool {
	path, _, _ := strings.Cut(line, "\t")
	return isComment(line) && !g.exists(path, "")
}

// eachLine calls use with every line that is neither blank nor a comment.
func eachLine(t *text, comment func(line string) bool, use func(number int, line string) (more bool, err error)) error {
	r, err := t.lines()
	if err != nil {
		return err
	}
	for number := 1 + t.skipped(); ; number++ {
		line, err := r.ReadString('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("line %d: %w", number, err)
		}
		last := err == io.EOF
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		path, _, _ := strings.Cut(line, "\t")
		if strings.TrimSpace(path) != "" && !comment(line) {
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
	c.Comma, c.ReuseRecord, c.TrimLeadingSpace, c.LazyQuotes = separator, true, separator != '\t', separator == '\t'
	c.FieldsPerRecord = -1
	return c
}

// cells splits the first lines, and reports whether all have equally many cells.
func cells(lines []string, separator rune) (rows [][]string, even bool) {
	c := newSeparated(strings.NewReader(strings.Join(lines, "\n")), separator)
	c.ReuseRecord, c.FieldsPerRecord = false, -1
	for {
		row, err := c.Read()
		if err != nil { // perhaps the last line is only the beginning of a record
			break
		}
		rows = append(rows, row)
	}
	return rows, len(rows) > 0 &&
		!slices.ContainsFunc(rows, func(row []string) bool { return len(row) != len(rows[0]) })
}

// openSeparated reads a table of separated cells. All records have the number of
// cells of the first; a line with another number that begins with # is a comment, any
// other with # is a row, because names may begin so.
func openSeparated(t *text, d dialect) (records, error) {
	r := records{unit: "line", safe: true}
	cells := 0 // of the first record
	r.each = func(_ []int, use func(int, []string) bool) error {
		plain, err := t.lines()
		if err != nil {
			return err
		}
		c := newSeparated(plain, d.separator)
		for first := true; ; {
			record, err := c.Read()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return inLine(err, t.skipped())
			}
			number, _ := c.FieldPos(0)
			number += t.skipped()
			if cells == 0 && !isComment(record[0]) {
				cells = len(record)
			}
			switch {
			case len(record) != cells && isComment(record[0]):
				continue
			case len(record) != cells:
				return fmt.Errorf("line %d: wrong number of fields: %d, and the first line has %d", number, len(record),
					cells)
			case first && d.header:
				if r.header == nil {
					r.header = slices.Clone(record)
				}
			case !use(number, record):
				return nil
			}
			first = false
		}
	}
	err := r.each(nil, func(int, []string) bool { return false }) // for the header
	if isObservations(r.header) {
		return observations(r, err)
	}
	return r, err
}

// inLine corrects the line of an error of a table for lines before it.
func inLine(err error, before int) error {
	if parse := (*csv.ParseError)(nil); errors.As(err, &parse) {
		parse.StartLine, parse.Line = parse.StartLine+before, parse.Line+before
	}
	if errors.Is(err, csv.ErrBareQuote) || errors.Is(err, csv.ErrQuote) {
		return fmt.Errorf(`%w; put a cell with quotes into quotes, and double those inside: "5"" pot.jpg"`, err)
	}
	return err
}
