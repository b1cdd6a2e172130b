package dataset

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/mutation"
)

// longBytes is the length of the long text in each of the files below, most of which repeat
// something short in the rest of their million bytes.
const longBytes, fileBytes = 300_000, 1_000_000

// filled is a file that repeats an item in what the rest leaves of its bytes.
func filled(before string, item func(i int) string, after string) string {
	var b strings.Builder
	b.WriteString(before)
	for i := 0; b.Len()+len(after) < fileBytes; i++ {
		b.WriteString(item(i))
	}
	return b.String() + after
}

func always(item string) func(int) string { return func(int) string { return item } }

// costlyLists are lists in which one long text belongs to many short rows, or one row has
// very many parts.
func costlyLists() map[string]string {
	long, deep := strings.Repeat("x", longBytes), "http://h/"+strings.Repeat("a/", longBytes/2)
	rectangle := func(i int) string {
		return fmt.Sprintf(`{"id":"%d","value":{"rectanglelabels":["y"]}},`, i)
	}
	task := func(photo string) string {
		return filled(`[{"data":{"image":"`+photo+`"},"annotations":[{"result":[`, rectangle, `{}]}]}]`)
	}
	annotation := func(int) string { return `{"image_id":1,"category_id":1},` }
	return map[string]string{
		"Label Studio: a long path of many boxes":                      task(long),
		"Label Studio: a deep path of many boxes":                      task(deep),
		"Label Studio: a path of 4 kB of many boxes":                   task(strings.Repeat("x", 4000)),
		"Label Studio: a path of 4 kB and 2 000 folders of many boxes": task("http://h/" + strings.Repeat("a/", 2000)),
		"Label Studio: a long path of many annotations": filled(`[{"data":{"image":"`+long+`"},"annotations":[`,
			func(i int) string { return fmt.Sprintf(`{"result":[{"value":{"choices":["%d"]}}]},`, i) }, `{}]}]`),
		"COCO: a long category of many annotations": filled(
			`{"categories":[{"id":1,"name":"`+long+`"}],"images":[{"id":1,"file_name":"a.jpg"}],"annotations":[`,
			annotation, `{}]}`),
		"COCO: a category of 1 kB of many annotations": filled(
			`{"categories":[{"id":1,"name":"`+long[:1000]+`"}],"images":[{"id":1,"file_name":"a.jpg"}],"annotations":[`,
			annotation, `{}]}`),
		"COCO: a category of semicolons": filled(`{"categories":[{"id":1,"name":"`+strings.Repeat(";", 1000)+
			`"}],"images":[{"id":1,"file_name":"a.jpg"}],"annotations":[`, annotation, `{}]}`),
		"COCO: a long path with many annotations": filled(
			`{"categories":[{"id":1,"name":"y"}],"images":[{"id":1,"file_name":"`+long+`"}],"annotations":[`,
			annotation, `{}]}`),
		"COCO: many categories of one photo": filled(
			`{"images":[{"id":1,"file_name":"a.jpg"}],"annotations":[{"image_id":1,"category_id":1}],"categories":[`,
			func(i int) string { return fmt.Sprintf(`{"id":1,"name":"%d"},`, i) }, `{}]}`),
		"CSV: a long label and short ones of one photo": filled("path,label\na.jpg,"+long+"\n",
			func(i int) string { return fmt.Sprintf("a.jpg,%d\n", i) }, ""),
		"CSV: several labels and one of one photo": filled("path,label,by\na.jpg,"+
			strings.Repeat("x;y;", 15_000)+"z,\n", func(i int) string { return fmt.Sprintf("a.jpg,%d,\n", i) }, ""),
		"CSV: many columns": filled(strings.Repeat("a,", mostColumns-1)+"path\n", always(
			strings.Repeat(",", mostColumns-1)+"a.jpg\n"), ""),
		"CSV: many addresses": filled(strings.Repeat("a,", 99)+"b\n",
			always(strings.Repeat("x:/"+strings.Repeat("a/", 38)+",", 99)+"b\n"), ""),
		"plain: a line of spaces": "." + strings.Repeat(" a", fileBytes/2) + "\n",
		"plain: spaces alone":     "a" + strings.Repeat(" ", fileBytes) + "b\n",
		"plain: a deep address":   "http://h/" + strings.Repeat("a/", fileBytes/2) + "\n",
		"plain: long names of no file": filled("", func(i int) string {
			return fmt.Sprintf("%s%d.jpg\n", long[:20_000], i)
		}, ""),
		"plain: deep names in other letters": filled("", func(i int) string {
			return fmt.Sprintf("%sé%d.jpg\n", strings.Repeat("a/", 2000), i)
		}, ""),
		"lines: many keys": filled(`{"path":"a.jpg"}`+"\n",
			func(i int) string { return fmt.Sprintf(`{"k%d":1}`+"\n", i) }, ""),
		"array: many keys": filled(`[{"path":"a.jpg"}`,
			func(i int) string { return fmt.Sprintf(`,{"k%d":1}`, i) }, `]`),
		"map: a long label": `{"a.jpg":"` + long + `","b.jpg":["` + long + `"]}`,
		"CVAT: many tags of one photo": filled(`<annotations><image name="a.jpg">`,
			func(i int) string { return fmt.Sprintf(`<tag label="%d"/>`, i) }, `</image></annotations>`),
		"Camtrap DP: a long name": filled(
			"observationID,mediaID,observationType,scientificName\n1,a.jpg,animal,"+long+"\n",
			func(i int) string { return fmt.Sprintf("%d,a.jpg,animal,%d\n", i, i) }, ""),
	}
}

// parquetProducts are Parquet lists in which long cells take a few bytes each.
func parquetProducts(t *testing.T) map[string]string {
	t.Helper()
	type cells struct {
		Path  string `parquet:"path,zstd,delta"`
		Label string `parquet:"label,zstd,dict"`
		Other []byte `parquet:"other"`
	}
	long := strings.Repeat("x", 1<<16-16)
	written := func(n int, row func(i int) cells) string {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[cells](&b)
		for i := range n {
			c := row(i)
			if i%100 == 0 {
				c.Other = bytes.Repeat([]byte{byte(i)}, 10_000)
			}
			must.Get(w.Write([]cells{c}))(t)
		}
		must.Do(t, w.Close())
		return b.String()
	}
	return map[string]string{
		"Parquet: long paths of no file": written(800, func(i int) cells {
			return cells{Path: fmt.Sprint(long, i), Label: "y"}
		}),
		"Parquet: paths of 4 kB of no file": written(4_000, func(i int) cells {
			return cells{Path: fmt.Sprint(long[:4000], i), Label: "y"}
		}),
		"Parquet: a long label": written(4_000, func(i int) cells {
			return cells{Path: "a.jpg", Label: long + fmt.Sprint(i%2)}
		}),
	}
}

// TestProductsOfTwoLengths: what a list of a million bytes costs is bounded, whatever it
// repeats: a long name times many rows would be gigabytes.
func TestProductsOfTwoLengths(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector pools drop what they keep, and everything costs more")
	}
	root := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(root, "a.jpg"), nil, 0o600))
	lists := costlyLists()
	for name, text := range parquetProducts(t) {
		lists[name] = text
	}
	for name, text := range lists {
		t.Run(name, func(t *testing.T) {
			mutation.Bounded(t, func() {
				_, err := ReadListFrom(strings.NewReader(text), "list", root, ListOptions{})
				if err != nil && len(err.Error()) > 2000 {
					t.Errorf("a message of %d bytes", len(err.Error()))
				}
			})
		})
	}
}

// TestProductsInBoxes: so is that of a file of boxes, and of one of texts.
func TestProductsInBoxes(t *testing.T) {
	long := strings.Repeat("e\u0301", longBytes/3) // in a form that is spelled otherwise
	box := `{"category":"1","conf":0.9,"bbox":[0,0,1,1]},`
	photos := func(i int) string {
		return fmt.Sprintf(`]},{"file":"%d.jpg","detections":[%s{}`, i, strings.Repeat(box, 100))
	}
	named := func(category string) string {
		return `{"detection_categories":{"1":"` + category + `"},"images":[{"file":"a.jpg","detections":[`
	}
	for name, text := range map[string]string{
		"a long category":    filled(named(long), photos, `]}]}`),
		"a category of 1 kB": filled(named(long[:999]), photos, `]}]}`),
		"a long path":        filled(`{"images":[{"file":"`+long+`","detections":[`, photos, `]}]}`),
		"COCO: a long identifier": filled(`{"images":[{"id":"`+long+`","file_name":"a.jpg"}],"annotations":[`,
			always(`{"image_id":1,"category_id":1,"bbox":[1]},`), `{}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "boxes.json")
			must.Do(t, os.WriteFile(file, []byte(text), 0o600))
			mutation.Bounded(t, func() {
				_, err := ReadBoxes(file, t.TempDir(), BoxOptions{})
				if err != nil && len(err.Error()) > 2000 {
					t.Errorf("a message of %d bytes", len(err.Error()))
				}
			})
		})
	}
}

// TestLongCellsAreNoNames: a row with a path or a name that is too long is left out, and said; the
// others stay.
func TestLongCellsAreNoNames(t *testing.T) {
	root := tree(t, map[string]string{"a.jpg": "", "b.jpg": ""})
	for _, bad := range []string{
		strings.Repeat("p", maxPathBytes+1) + ",x",
		"a.jpg," + strings.Repeat("l", maxNameBytes+1),
		`a.jpg,` + strings.Repeat("l;", maxCellBytes),
	} {
		l, err := ReadListFrom(strings.NewReader("path,label\n"+bad+"\nb.jpg,y\n"), "list", root, ListOptions{})
		if err != nil || len(l.Samples) != 1 || len(l.Problems) != 1 {
			t.Fatalf("%v, %v, %v", err, l.Samples, len(l.Problems))
		}
		if text := l.Problems[0].Err.Error(); !strings.Contains(text, "line 2 of list: its ") ||
			!strings.Contains(text, "more than ") || len(text) > 500 || len(l.Problems[0].Path) > 300 {
			t.Error(text)
		}
	}
}
