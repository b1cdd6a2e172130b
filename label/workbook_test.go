package label

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/model/account"
)

// typedNames are classes as people call them; none is a formula, an escape or anything else in a workbook.
var typedNames = []string{"=1+1", "-", "+plus", "@home", "a;b", "%3B", "10 %", " x ", "new\nline", "café",
	"<&>", `"q"`, "'quoted", "007", "TRUE", "1e5"}

// TestWorkbook: a workbook has the names as they were typed, why a photo has no label, and the account; equal runs
// give equal bytes.
func TestWorkbook(t *testing.T) {
	tally := account.NewTally(calibration.Calibration{}, typedNames)
	half := number(0.5)
	var rows []Row
	for i, name := range typedNames {
		tally.Decide(account.Person, name)
		rows = append(rows, Row{Path: fmt.Sprintf("=%d.jpg", i), Label: dataset.JoinLabels(dataset.EscapePath(name)),
			By: Person, Probability: &half, Event: "2024-05-31", EventLabel: name, TopK: pairs{{name, 0.5}}})
	}
	rows = append(rows, Row{Label: dataset.JoinLabels("a;b", "-"), By: Person}, Row{Rejected: true}, Row{By: Person},
		Row{By: Later})
	var first []byte
	for range 2 {
		dir := t.TempDir()
		o := must.Get(createOutput(dir, "xlsx", 0, eventColumns()...))(t)
		for _, r := range rows {
			must.Do(t, o.write(r))
		}
		o.tell(tally.Account(account.Situation{}))
		must.Do(t, finish(o))
		text := must.Get(os.ReadFile(filepath.Join(dir, "labels.xlsx")))(t)
		if first == nil {
			first = text
		}
		if !bytes.Equal(first, text) {
			t.Error("another run, other bytes")
		}
	}
	f := must.Get(excelize.OpenReader(bytes.NewReader(first)))(t)
	defer func() { must.Do(t, f.Close()) }()
	if got := f.GetSheetList(); !reflect.DeepEqual(got, []string{"labels", "classes", "account"}) {
		t.Errorf("sheets %q", got)
	}
	got := must.Get(f.GetRows("labels", excelize.Options{RawCellValue: true}))(t)
	for i, name := range typedNames {
		want := []string{fmt.Sprintf("=%d.jpg", i), name, "", "0.5", "", "", "0", "0", name + " 50.0 %", "", "person",
			"2024-05-31", name}
		if !reflect.DeepEqual(got[i+1], want) {
			t.Errorf("%q, want %q", got[i+1], want)
		}
		cell := fmt.Sprintf("B%d", i+2)
		if formula := must.Get(f.GetCellFormula("labels", cell))(t); formula != "" {
			t.Errorf("%q is a formula", name)
		}
		if kind := must.Get(f.GetCellType("labels", cell))(t); kind != excelize.CellTypeInlineString {
			t.Errorf("%q is a cell of type %d, not text", name, kind)
		}
	}
	for i, want := range [][2]string{{"-; a;b", "of several things"}, {"", "unknown"}, {"", "not usable"},
		{"", "for later"}} {
		if row := got[len(typedNames)+1+i]; row[1] != want[0] || row[2] != want[1] {
			t.Errorf("%q, want %q", row, want)
		}
	}
	classes := must.Get(f.GetRows("classes"))(t)
	for i, name := range typedNames {
		if classes[i+1][0] != name || classes[i+1][1] != "1" {
			t.Errorf("%q of class %q", classes[i+1], name)
		}
	}
	counts := must.Get(f.GetRows("account"))(t)
	if len(counts) < 3 || counts[1][1] != fmt.Sprint(len(typedNames)) || counts[2][0] != "decided one by one" {
		t.Errorf("account %q", counts)
	}
}

// TestWorkbookParts: what does not fit a workbook is in the next, and the last has the account. One that is given
// up leaves nothing.
func TestWorkbookParts(t *testing.T) {
	dir := t.TempDir()
	o := must.Get(createOutput(dir, "xlsx", 2))(t)
	for range 3 {
		must.Do(t, o.write(oddRow(false)))
	}
	o.tell(account.Account{})
	must.Do(t, finish(o))
	for name, want := range map[string]int{"labels.xlsx": 1, "labels-2.xlsx": 3} {
		f := must.Get(excelize.OpenFile(filepath.Join(dir, name)))(t)
		if sheets := f.GetSheetList(); len(sheets) != want {
			t.Errorf("%s: %q", name, sheets)
		}
		must.Do(t, f.Close())
	}
	o = must.Get(createOutput(dir, "xlsx", 1<<30))(t)
	if o.most != mostSheetRows {
		t.Errorf("%d rows in a sheet", o.most)
	}
	must.Do(t, o.write(oddRow(false)))
	o.abort()
	if entries := must.Get(os.ReadDir(dir))(t); len(entries) != 2 {
		t.Errorf("left %v", entries)
	}
}
