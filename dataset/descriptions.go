package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// A Description is a class and a text that describes it; "" stands for its name.
type Description struct{ Class, Text string }

// maxDescriptions bounds those of a file.
const maxDescriptions = 1 << 20

// ReadDescriptions reads the classes of a file: one per line, or a table whose header has
// the column class, perhaps text, which may have several rows per class. Lines and rows
// that are repeated count once. As lists, it may be in UTF-8 or UTF-16, with any ends of
// lines, separated by commas, semicolons or tabs.
func ReadDescriptions(file string) ([]Description, error) {
	all, err := readDescriptions(file)
	if err == nil && len(all) == 0 {
		err = errors.New("there are no classes in it")
	}
	if err != nil {
		return nil, fmt.Errorf("read classes %s: %w", file, err)
	}
	return all, nil
}

func readDescriptions(file string) ([]Description, error) {
	f, size, err := regularfile.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := openText(f, size)
	if err != nil {
		return nil, err
	}
	d := descriptions{seen: map[Description]bool{}}
	if separator, ok := describing(t); ok {
		err = d.readTable(t, separator)
	} else {
		err = eachLine(t, func(string) bool { return false }, func(number int, line string) (bool, error) {
			return true, d.add(number, Description{Class: strings.TrimSpace(line)})
		})
	}
	return d.all, readAs(t.encoding, err)
}

// describing returns the separator of a table, false for plain lines.
func describing(t *text) (separator rune, ok bool) {
	lines, err := headLines(t, func(string) bool { return false })
	if err != nil || len(lines) == 0 {
		return 0, false
	}
	for _, separator := range []rune{t.separator, ',', ';', '\t'} {
		if separator == 0 {
			continue
		}
		if rows, _ := cells(lines[:1], separator); len(rows) > 0 && columnOf(rows[0], "class") >= 0 {
			return separator, true
		}
	}
	return 0, false
}

func columnOf(header []string, name string) int {
	return slices.IndexFunc(header, func(cell string) bool { return strings.EqualFold(strings.TrimSpace(cell), name) })
}

type descriptions struct {
	all  []Description
	seen map[Description]bool
}

func (d *descriptions) readTable(t *text, separator rune) error {
	lines, err := t.lines()
	if err != nil {
		return err
	}
	r := newSeparated(lines, separator)
	r.FieldsPerRecord = 0 // as many as in the header
	header, err := r.Read()
	if err != nil {
		return err
	}
	class, words := columnOf(header, "class"), columnOf(header, "text")
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		number, _ := r.FieldPos(0)
		one := Description{strings.TrimSpace(field(row, class)), strings.TrimSpace(field(row, words))}
		if err := d.add(number+t.skipped(), one); err != nil {
			return err
		}
	}
}

func (d *descriptions) add(line int, one Description) error {
	switch {
	case one == Description{} || d.seen[one]:
		return nil
	case one.Class == "":
		return fmt.Errorf("line %d: the text %q has no class", line, shown(one.Text))
	case !utf8.ValidString(one.Class):
		return fmt.Errorf("line %d: %w", line, notUTF8(one.Class))
	case strings.ContainsFunc(one.Class+one.Text, isControl):
		return fmt.Errorf("line %d: the class %q or its text has a control character", line, shown(one.Class))
	case !utf8.ValidString(one.Text):
		return fmt.Errorf("line %d: %w", line, notUTF8(one.Text))
	case len(one.Class) > maxNameBytes || len(one.Text) > maxCellBytes:
		return fmt.Errorf("line %d: %w", line, cmp.Or(checkLength("class", one.Class, maxNameBytes),
			checkLength("text", one.Text, maxCellBytes)))
	case len(d.all) == maxDescriptions:
		return fmt.Errorf("more than %d classes and texts", maxDescriptions)
	}
	one.Class = spelled(one.Class)
	d.seen[one] = true
	d.all = append(d.all, one)
	return nil
}
