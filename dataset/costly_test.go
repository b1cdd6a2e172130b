package dataset

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// manyRows is a Parquet list of n rows, whose paths and labels take a few bits each. It
// has enough other bytes to be allowed so many rows.
func manyRows(t *testing.T, n int, row func(i int) (path, label string)) []byte {
	t.Helper()
	type cells struct {
		Path  string `parquet:"path,zstd,delta"`
		Label string `parquet:"label,zstd,dict"`
		Other []byte `parquet:"other"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[cells](&b)
	for i := range n {
		c := cells{}
		c.Path, c.Label = row(i)
		if i%1000 == 0 {
			c.Other = make([]byte, 200)
			_, _ = rand.Read(c.Other) // never fails
		}
		must.Get(w.Write([]cells{c}))(t)
	}
	must.Do(t, w.Close())
	return b.Bytes()
}

// TestManyRowsInFewBytes: what a row costs is bounded by the bytes of the list, whether
// it names a file or not, and whether it repeats a row.
func TestManyRowsInFewBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("it does everything in one goroutine")
	}
	const n = 130_000
	root := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(root, "a.jpg"), nil, 0o600))
	for name, c := range map[string]struct {
		row      func(i int) (path, label string)
		repeated int
		problem  string
	}{
		"the same file": {func(int) (string, string) { return "a.jpg", "x" }, n - 1, ""},
		"one that is missing": {func(i int) (string, string) {
			if i == 0 {
				return "a.jpg", "x"
			}
			return "b.jpg", "x"
		}, n - 2, ""},
		"all missing": {func(i int) (string, string) { return fmt.Sprint(i), "x" }, 0,
			"more than 100000 of its rows cannot be used; the first: row 1 of list: 0: file does not exist"},
		"two labels": {func(i int) (string, string) { return "a.jpg", fmt.Sprint(min(i, 1)) }, 0,
			"more than 100000 of its rows cannot be used; the first: rows 1 and 2"},
	} {
		list := filepath.Join(t.TempDir(), "list")
		must.Do(t, os.WriteFile(list, manyRows(t, n, c.row), 0o600))
		l, err := ReadList(list, root, ListOptions{})
		if got := fmt.Sprint(err); c.problem == "" && err != nil || !strings.Contains(got, c.problem) {
			t.Errorf("%s: %v", name, err)
		}
		if l.Skipped["repeated"] != c.repeated {
			t.Errorf("%s: %d are repeated, want %d", name, l.Skipped["repeated"], c.repeated)
		}
	}
}

// TestRepeatedCellsAreLookedUpAlike: a cell that was found before means the same file,
// also one that is written in another way than its file is called.
func TestRepeatedCellsAreLookedUpAlike(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a.jpg", "'b.jpg", "b.jpg", "c%41.jpg", "cA.jpg"} {
		must.Do(t, os.WriteFile(filepath.Join(root, name), nil, 0o600))
	}
	rows := []string{"a.jpg", "b.jpg", "'b.jpg", "cA.jpg", "c%41.jpg", "c%2541.jpg", "./a.jpg"}
	list := "path,label\n"
	for range 2 {
		for _, row := range rows {
			list += row + ",x\n"
		}
	}
	l, err := ReadListFrom(strings.NewReader(list), "list", root, ListOptions{})
	if err != nil || len(l.Problems) > 0 {
		t.Fatalf("%v, %v", err, l.Problems)
	}
	var names []string
	for _, s := range l.Samples {
		names = append(names, s.Path)
	}
	if want := []string{"'b.jpg", "a.jpg", "b.jpg", "c%41.jpg", "cA.jpg"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if n := len(rows)*2 - len(names); l.Skipped["repeated"] != n {
		t.Errorf("%d are repeated, want %d", l.Skipped["repeated"], n)
	}
}

// TestManyColumns: a table of too many is refused before each is looked at in each row,
// and a message names only some.
func TestManyColumns(t *testing.T) {
	wide := strings.Repeat("a,", mostColumns)
	var keys, array strings.Builder
	for i := range mostColumns + 1 {
		fmt.Fprintf(&array, `{"k%d":1},`, i)
		fmt.Fprintf(&keys, `,"k%d":1`, i)
	}
	for name, text := range map[string]string{
		"CSV":        wide + "a\n" + wide + "a\n",
		"JSON array": "[" + array.String() + `{}]`,
		"JSON lines": `{"path":""` + keys.String() + "}\n" + strings.Repeat("{}\n", 1000),
	} {
		_, err := parseText([]byte(text), ListOptions{})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("and may have %d", mostColumns)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := parseText([]byte(strings.Repeat("a,", 1000)+"a\n"+strings.Repeat("b,", 1000)+"b\n"), ListOptions{})
	if err == nil || !strings.Contains(err.Error(), " and 961 more") || len(err.Error()) > 500 {
		t.Errorf("%v", err)
	}
}

// TestManyThingsInOnePhoto: what a list says of one photo costs no more than of many.
func TestManyThingsInOnePhoto(t *testing.T) {
	const n = 50_000
	root := tree(t, map[string]string{"1.jpg": ""})
	observations := []byte("observationID,mediaID,observationType,scientificName\n")
	for i := range n {
		observations = fmt.Appendf(observations, "%d,1.jpg,animal,%d\n", i, i)
	}
	repeated := func(item string) string { return item + strings.Repeat(","+item, n/10) }
	coco := `{"images": [` + repeated(`{"id": 1, "file_name": "1.jpg"}`) + `], "annotations": [` +
		repeated(`{"image_id": 1, "category_id": 7}`) + `], "categories": [{"id": 7, "name": "cat"}]}`
	for text, want := range map[string]int{string(observations): n, coco: 1} {
		l, err := ReadListFrom(strings.NewReader(text), "list", root, ListOptions{})
		if err != nil || len(l.Problems) > 0 || len(l.Samples) != 1 || len(l.Samples[0].labels()) != want {
			t.Errorf("%d photos, %d problems, %v", len(l.Samples), len(l.Problems), err)
		}
	}
}
