package dataset

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-90d10d51/pipeline/internal/phrase"
	"github.com/seed-90d10d51/pipeline/internal/suggest"
)

// A ColumnError reports that a column of a list is missing or cannot be guessed.
type ColumnError struct{ err error }

func (e *ColumnError) Error() string { return e.err.Error() }

// Unwrap returns what is wrong.
func (e *ColumnError) Unwrap() error { return e.err }

// A guesser finds the format and the columns of a list, as far as the options
// leave them open, from its first records and the files on disk.
type guesser struct {
	opts ListOptions
	// exists reports whether a cell with a suffix is the path of a file.
	exists func(cell, suffix string) bool
	// dir is the folder of the list, "" if it is in none; root is that of the photos.
	dir, root string
}

// A dialect is the form of a text list.
type dialect struct {
	separator rune // 0: plain lines; ' ': words
	header    bool
	// fields means that each word is a cell; otherwise the first cell ends where
	// the name of an image ends.
	fields bool
}

// Names that columns often have, as normalised by plainName.
var (
	pathNames = []string{"path", "file", "filename", "filepath", "image", "imageid", "imagefile", "imagefilename",
		"imagename", "imagepath", "img", "imgname", "imgpath", "photo", "photopath", "picture", "relativepath",
		"relpath"}
	labelNames = []string{"label", "labelname", "labels", "class", "classname", "category", "categoryname", "choice",
		"choices", "species", "tag", "target", "truth"}
	// timeNames are those of the time when a photo was taken.
	timeNames = []string{"capturedat", "datetaken", "datetime", "datetimeoriginal", "taken", "takenat", "time",
		"timestamp"}
	// otherNames are never guessed to be labels.
	otherNames = append([]string{"", "error", "id", "index", "session", "split", "unnamed0"}, timeNames...)
)

// suffixes are tried for paths without one.
var suffixes = []string{".jpg", ".jpeg", ".png", ".JPG", ".JPEG", ".PNG", ".webp", ".tif", ".tiff", ".bmp", ".gif",
	".heic", ".HEIC", ".avif"}

// plainName returns the lower-case letters and digits of a column's name.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// isImageName looks at the end of a name alone: a line may have many places where a name could end.
func isImageName(name string) bool {
	const longest = 16 // extensions have fewer bytes
	end := name[max(0, len(name)-longest):]
	return pictured(kindByExtension(strings.ToLower(filepath.Ext(end))))
}

func (g guesser) isPath(cell string) bool { return isImageName(cell) || g.exists(cell, "") }

// dialect looks at the first lines of a text list. What could be plain lines is
// plain lines: names of files may contain separators.
func (g guesser) dialect(lines []string) dialect {
	tables := map[rune][][]string{}
	for _, separator := range "\t,;|" {
		rows, even := cells(lines, separator)
		if len(rows) > 0 && g.named(rows[0]) {
			return dialect{separator: separator, header: true}
		}
		if even && len(rows[0]) > 1 {
			tables[separator] = rows
		}
	}
	if slices.ContainsFunc(lines, func(line string) bool { return g.exists(line, "") }) {
		return dialect{}
	}
	for _, separator := range "\t,;|" {
		rows := tables[separator]
		switch {
		case rows == nil:
		case len(rows) > 1 && !g.havePaths(rows[:1]) && g.havePaths(rows[1:]):
			return dialect{separator: separator, header: true}
		case separator == '\t' && len(rows[0]) == 2 && g.isPath(rows[0][0]): // plain lines with labels
		case g.havePaths(rows) || g.numbered():
			return dialect{separator: separator}
		}
	}
	words := dialect{separator: ' ', fields: g.numbered()}
	if slices.ContainsFunc(lines, func(line string) bool { return len(words.words(line)) < 2 }) {
		words = dialect{}
	}
	// Nothing in an even table names a file: it has a header rather than none,
	// so that the user is asked for the column of paths.
	for _, separator := range ",;|\t" {
		if rows := tables[separator]; words.separator == 0 && len(rows) > 1 && (separator != '\t' || len(rows[0]) > 2) {
			return dialect{separator: separator, header: true}
		}
	}
	return words
}

// named reports whether the names in a record are those of columns.
func (g guesser) named(record []string) bool {
	for _, name := range []string{"path", g.opts.PathColumn, g.opts.LabelColumn} {
		if _, err := strconv.Atoi(name); err != nil && name != "" && slices.Contains(record, name) {
			return true
		}
	}
	if isObservations(record) {
		return true
	}
	return !slices.ContainsFunc(record, g.isPath) && slices.ContainsFunc(record, func(cell string) bool {
		name := plainName(cell)
		return slices.Contains(pathNames, name) || len(record) > 1 && slices.Contains(labelNames, name)
	})
}

// numbered reports whether the user gave the number of a column.
func (g guesser) numbered() bool {
	_, err := strconv.Atoi(cmp.Or(g.opts.PathColumn, g.opts.LabelColumn))
	return err == nil
}

// words splits a line at spaces.
func (d dialect) words(line string) []string {
	if d.fields {
		return strings.Fields(line)
	}
	for i, r := range line {
		if r != ' ' || !isImageName(line[:i]) {
			continue
		}
		if label := strings.TrimSpace(line[i:]); label != "" && !isImageName(label) {
			return []string{line[:i], label}
		}
	}
	return []string{line}
}

// havePaths reports whether a column names images.
func (g guesser) havePaths(rows [][]string) bool {
	return len(mostly(rows, isImageName)) > 0 || len(g.existing(rows)) > 0
}

// mostly returns the columns in which more than half of the cells are as wanted.
func mostly(rows [][]string, wanted func(cell string) bool) (columns []int) {
	for i := range rows[0] {
		n := 0
		for _, row := range rows {
			if i < len(row) && wanted(row[i]) {
				n++
			}
		}
		if 2*n > len(rows) {
			columns = append(columns, i)
		}
	}
	return columns
}

// columns finds the columns of a list.
func (g guesser) columns(r records) (columns, error) {
	c := columns{path: 0, label: -1, split: slices.Index(r.header, "split"), session: slices.Index(r.header, "session"),
		taken: -1, several: -1, by: slices.Index(r.header, "by"), ranked: slices.Index(r.header, "top_k"),
		suffix: g.opts.PathSuffix, from: g.opts.ClassFrom}
	if err := checkWidth(len(r.header)); err != nil {
		return c, err
	}
	if times := usualColumns(r.header, timeNames); len(times) == 1 {
		c.taken = times[0]
	}
	rows, err := r.head()
	if err != nil || len(rows) == 0 {
		return c, err
	}
	names := r.header
	if names == nil {
		for i := range slices.MaxFunc(rows, func(a, b []string) int { return len(a) - len(b) }) {
			names = append(names, strconv.Itoa(i+1))
		}
	}
	if err := checkWidth(len(names)); err != nil {
		return c, err
	}
	if r.literal && g.opts.PathColumn == "" && g.opts.LabelColumn == "" {
		if len(names) > 1 {
			c.label = 1
		}
		if g.opts.PathSuffix == "" {
			c.suffix = g.suffix(rows, 0)
		}
		if c.suffix != g.opts.PathSuffix {
			c.guessed = "the paths end in " + c.suffix
		}
		return c, nil
	}
	if c.path, err = g.pathColumn(names, rows); err != nil {
		return c, err
	}
	if c.suffix == "" {
		c.suffix = g.suffix(rows, c.path)
	}
	if c.label, err = g.labelColumn(names, c.path); err != nil {
		return c, err
	}
	if c.label >= 0 && names[c.label] == "label" {
		c.several = slices.Index(r.header, "labels")
	}
	c.guessed = g.say(r, names, c)
	return c, nil
}

// say describes what is neither documented nor given by the user.
func (g guesser) say(r records, names []string, c columns) string {
	var parts []string
	if r.encoding != "" {
		parts = append(parts, "text in "+r.encoding)
	}
	if r.header == nil {
		parts = append(parts, "no header")
	}
	if r.joined != "" {
		parts = append(parts, r.joined)
	}
	if name := names[c.path]; g.opts.PathColumn == "" && name != "path" {
		parts = append(parts, fmt.Sprintf("paths in column %q", name))
	}
	switch {
	case g.opts.LabelColumn != "":
	case c.label < 0 && len(names) > 1:
		parts = append(parts, "no column of labels: classes are folders")
	case c.label >= 0 && names[c.label] != "label":
		parts = append(parts, fmt.Sprintf("labels in column %q", names[c.label]))
	}
	if c.suffix != g.opts.PathSuffix {
		parts = append(parts, "paths end in "+c.suffix)
	}
	return strings.Join(parts, ", ")
}

// pathColumn returns the column path; else the one whose cells name the most
// files; else the only one with names of images, or with a usual name.
func (g guesser) pathColumn(names []string, rows [][]string) (int, error) {
	if g.opts.PathColumn != "" {
		return named(names, g.opts.PathColumn, "path-column")
	}
	if i := slices.Index(names, "path"); i >= 0 {
		return i, nil
	}
	usual := usualColumns(names, pathNames)
	for _, found := range [][]int{g.existing(rows), mostly(rows, isImageName), usual} {
		if len(found) > 1 {
			found = slices.DeleteFunc(found, func(i int) bool { return !slices.Contains(usual, i) })
		}
		if len(found) == 1 {
			return found[0], nil
		}
	}
	return 0, &ColumnError{phrase.New("which column has the paths? Name one of %s with {path-column}", list(names))}
}

// existing returns the columns whose cells name the most files, of which there
// is at least one.
func (g guesser) existing(rows [][]string) (columns []int) {
	if len(rows[0]) > mostColumns {
		return nil
	}
	const mostLooked = 30_000 // cells, of which each may mean many files
	enough := mostLooked / (len(rows[0])*(1+len(suffixes)) + 1)
	rows = rows[:min(len(rows), max(1, enough))]
	most := 1
	for i := range rows[0] {
		n := g.count(rows, i, "")
		if suffix := g.suffix(rows, i); n == 0 && suffix != "" {
			n = g.count(rows, i, suffix)
		}
		if n > most {
			most, columns = n, nil
		}
		if n == most {
			columns = append(columns, i)
		}
	}
	return columns
}

// count returns the number of cells of a column that name a file.
func (g guesser) count(rows [][]string, column int, suffix string) (n int) {
	for _, row := range rows {
		if column < len(row) && row[column] != "" && g.exists(row[column], suffix) {
			n++
		}
	}
	return n
}

// suffix returns the suffix that paths of a column lack, if there is only one
// with which any of them exists.
func (g guesser) suffix(rows [][]string, column int) string {
	if slices.ContainsFunc(rows, func(row []string) bool { return column < len(row) && g.isPath(row[column]) }) {
		return ""
	}
	found := ""
	for _, suffix := range suffixes {
		switch {
		case g.count(rows, column, suffix) == 0:
		case found != "":
			return ""
		default:
			found = suffix
		}
	}
	return found
}

// labelColumn returns the column label; else the only one with a usual name;
// else the only one that is left. -1 means none.
func (g guesser) labelColumn(names []string, path int) (int, error) {
	if g.opts.LabelColumn != "" {
		return named(names, g.opts.LabelColumn, "label-from")
	}
	if i := slices.Index(names, "label"); i >= 0 {
		return i, nil
	}
	isPath := func(i int) bool { return i == path }
	usual := slices.DeleteFunc(usualColumns(names, labelNames), isPath)
	if len(usual) == 1 {
		return usual[0], nil
	}
	if g.opts.ClassFrom != "" { // the user wants folders
		return -1, nil
	}
	others := usualColumns(names, otherNames)
	var left []int
	for i := range names {
		if i != path && !slices.Contains(others, i) {
			left = append(left, i)
		}
	}
	switch {
	case len(left) == 1:
		return left[0], nil
	case len(left) == 0, g.opts.LabelsOptional:
		return -1, nil
	}
	return 0, &ColumnError{phrase.New("which column has the labels? Name one of %s with {label-from}, or take "+
		"classes from folders with {class-from}", list(names))}
}

// named returns the column with a name, or with a number counted from 1.
func named(names []string, name, setting string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	if i := slices.IndexFunc(names, func(other string) bool { return strings.EqualFold(other, name) }); i >= 0 {
		return i, nil
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(names) {
		return n - 1, nil
	}
	hint := "."
	if _, err := strconv.Atoi(name); err != nil {
		hint = suggest.Sentence(name, names)
	}
	return 0, &ColumnError{phrase.New("{"+setting+"} %s: no such column%s The columns are %s", name, hint, list(names))}
}

// list quotes the first names.
func list(names []string) string {
	const most = 40
	quoted := make([]string, min(len(names), most))
	for i := range quoted {
		quoted[i] = strconv.Quote(names[i])
	}
	text := strings.Join(quoted, ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}
