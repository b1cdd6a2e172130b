package label

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/model/account"
)

// mostSheetRows is how many rows a sheet has below its header, by the format.
const mostSheetRows = excelize.TotalRows - 1

// labelsSheet is the sheet of the rows; the others have the classes and the account of the photos.
const labelsSheet = "labels"

// A workbook is labels.xlsx, for people: names as somebody typed them, and why a photo has no label.
// Text is text in it, whatever it begins with. The rows go to a temporary file, the sheets of the
// account into the last part, since only then it is known.
type workbook struct {
	file    *excelize.File
	rows    *excelize.StreamWriter
	out     io.Writer
	more    []column
	account *account.Account // nil before the last row
	n       int
	bold    int // a style
	percent int
}

func newWorkbook(out io.Writer, more []column) (*workbook, error) {
	t := &workbook{file: excelize.NewFile(), out: out, more: more, n: 1}
	if err := t.begin(); err != nil {
		t.discard()
		return nil, fmt.Errorf("make a workbook: %w", err)
	}
	return t, nil
}

// begin writes the header of the rows, which stays in view.
func (t *workbook) begin() (err error) {
	if t.bold, err = t.file.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}}); err != nil {
		return err
	}
	if t.percent, err = t.file.NewStyle(&excelize.Style{NumFmt: 10}); err != nil { // 0.00%
		return err
	}
	if err := t.file.SetSheetName("Sheet1", labelsSheet); err != nil {
		return err
	}
	if t.rows, err = t.file.NewStreamWriter(labelsSheet); err != nil {
		return err
	}
	if err := t.rows.SetColWidth(1, 2, 30); err != nil {
		return err
	}
	err = t.rows.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"})
	if err != nil {
		return err
	}
	header := []any{"path", "label", "remark", "probability", "margin", "entropy", "novelty", "rejected", "top_k",
		"p_new", "by"}
	for _, c := range t.more {
		header = append(header, c.name)
	}
	for i, name := range header {
		header[i] = excelize.Cell{StyleID: t.bold, Value: name}
	}
	return t.rows.SetRow("A1", header)
}

func (t *workbook) write(r Row) error {
	ranked := make([]string, len(r.TopK))
	for i, p := range r.TopK {
		ranked[i] = fmt.Sprintf("%s %.1f %%", typed(p.Label), 100*p.Probability)
	}
	cells := []any{r.Path, typedAll(r.Label, "; "), r.remark(), t.share(r.Probability), t.share(r.Margin),
		r.Entropy.value(), float64(r.Novelty), r.Rejected, strings.Join(ranked, "; "), t.share(r.New), string(r.By)}
	for _, c := range t.more {
		if c.share != nil {
			cells = append(cells, t.share(c.share(r)))
		} else {
			cells = append(cells, typed(c.text(r)))
		}
	}
	t.n++
	cell, err := excelize.CoordinatesToCellName(1, t.n)
	if err != nil {
		return err
	}
	return t.rows.SetRow(cell, cells)
}

// remark says why a photo has not one label, "" if it has.
func (r Row) remark() string {
	switch labels := len(dataset.SplitLabels(r.Label)); {
	case r.Rejected:
		return "unknown"
	case labels > 1:
		return "of several things"
	case labels == 1:
		return ""
	case r.By == Later:
		return "for later"
	}
	return "not usable"
}

// typed returns the name of a class as somebody typed it, if it can be shown.
func typed(name string) string {
	if plain := dataset.UnescapePath(name); utf8.ValidString(plain) && !strings.ContainsFunc(plain, unicode.IsControl) {
		return plain
	}
	return name
}

// typedAll returns the names in a cell as somebody typed them.
func typedAll(cell, separator string) string {
	names := dataset.SplitLabels(cell)
	for i, name := range names {
		names[i] = typed(name)
	}
	return strings.Join(names, separator)
}

// value is the number of a cell, which is empty without one.
func (x *number) value() any {
	if x == nil {
		return nil
	}
	return float64(*x)
}

// share is a cell of a share, shown in per cent.
func (t *workbook) share(x *number) any {
	if x == nil {
		return nil
	}
	return excelize.Cell{StyleID: t.percent, Value: float64(*x)}
}

// close writes the workbook.
func (t *workbook) close() error {
	defer t.discard()
	if err := t.rows.Flush(); err != nil {
		return err
	}
	if t.account != nil {
		if err := errors.Join(t.classes(*t.account), t.counts(*t.account)); err != nil {
			return err
		}
	}
	return t.file.Write(t.out)
}

// discard removes the temporary file.
func (t *workbook) discard() { _ = t.file.Close() }

// classes writes the sheet of the classes.
func (t *workbook) classes(a account.Account) error {
	rows := [][]any{{"class", "decided", "labelled", "expected", "taken_for", "times", "of"}}
	for _, c := range a.Classes {
		row := []any{typed(c.Class), c.Decided, c.Labelled, t.fraction(c.Expected), nil, nil, nil}
		if c.TakenFor != nil {
			row[4], row[5], row[6] = typed(*c.TakenFor), c.Times, c.Of
		}
		rows = append(rows, row)
	}
	return t.sheet("classes", rows)
}

// counts writes the sheet of the account.
func (t *workbook) counts(a account.Account) error {
	rows := [][]any{{"what", "value", "low", "high", "remark"}, {"photos", a.Photos}}
	for _, part := range a.Parts() {
		rows = append(rows, []any{part.What, part.N})
	}
	if e := a.Expected; e != nil {
		rows = append(rows, []any{"labels by the model expected right", t.fraction(e.Accuracy), t.fraction(e.Low),
			t.fraction(e.High), a.Labels()})
	}
	if m := a.Measured; m != nil {
		rows = append(rows, []any{"measured right", t.fraction(&m.Accuracy), t.fraction(&m.Low), t.fraction(&m.High),
			m.String()})
	}
	if w := a.Wrong; w != nil && w.Of >= account.FewLabels {
		rows = append(rows, []any{"labels that look wrong", w.Expected, w.Low, w.High, w.String()})
	}
	return t.sheet("account", rows)
}

// fraction is share of a number that may be missing.
func (t *workbook) fraction(x *float64) any {
	if x == nil {
		return nil
	}
	return t.share(new(rounded(*x)))
}

// sheet adds a small sheet.
func (t *workbook) sheet(name string, rows [][]any) error {
	if _, err := t.file.NewSheet(name); err != nil {
		return err
	}
	for i, row := range rows {
		for j, value := range row {
			cell, err := excelize.CoordinatesToCellName(j+1, i+1)
			if err != nil {
				return err
			}
			style := 0
			if i == 0 {
				style = t.bold
			}
			if c, styled := value.(excelize.Cell); styled {
				value, style = c.Value, c.StyleID
			}
			if err := t.file.SetCellValue(name, cell, value); err != nil {
				return err
			}
			if err := t.file.SetCellStyle(name, cell, cell, style); err != nil {
				return err
			}
		}
	}
	return t.file.SetColWidth(name, "A", "A", 30)
}
