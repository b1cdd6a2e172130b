package dataset

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/mutation"
)

// TestMutatedLists: a damaged list of any format is refused or read, at a bounded cost.
func TestMutatedLists(t *testing.T) {
	kind := "cat"
	root, dir := t.TempDir(), t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(root, "a.jpg"), nil, 0o600))
	for format, file := range map[string]string{
		"csv":   strings.Repeat("path,label,split\na.jpg,cat,train\n\"b,\"\"c.jpg\",dog,test\n", 40),
		"plain": strings.Repeat("a.jpg\tcat\n# note\nb c.jpg\n", 40),
		"array": `[` + strings.Repeat(`{"path":"a.jpg","label":"cat"},{"image":"b.jpg","x":[1,{"y":null}]},`, 20) +
			`{}]`,
		"map":   `{"a.jpg":"cat","b.jpg":["x","y"],"c.jpg":7}`,
		"lines": strings.Repeat(`{"path":"a.jpg","label":{"choices":["a","b"]}}`+"\n", 40),
		"tasks": `[{"data":{"image":"/data/upload/1/0a1b2c-a.jpg"},` +
			`"annotations":[{"result":[{"value":{"choices":["x"]}}]}]}]`,
		"coco": `{"images":[{"id":1,"file_name":"a.jpg"}],"annotations":[{"image_id":1,"category_id":2}],` +
			`"categories":[{"id":2,"name":"cat"}]}`,
		"camtrap": "observationID,mediaID,observationType,scientificName,observationTags\n" +
			strings.Repeat("1,a.jpg,animal,cat,\n2,b.jpg,human,,a | class:lynx\n3,,blank,,\n", 20),
		"boxes": `{"images":[{"id":1,"file_name":"a.jpg","width":9,"height":9}],` +
			`"annotations":[{"image_id":1,"category_id":2,"bbox":[1,2,3,4]}],"categories":[{"id":2,"name":"cat"}]}`,
		"cvat": `<annotations>` + strings.Repeat(`<image name="a.jpg"><tag label="cat"/></image>`, 20) +
			`</annotations>`,
		"parquet": string(parquetFile(t, 2, parquetRow{File: "a.jpg", Kind: &kind}, parquetRow{File: "b.jpg"},
			parquetRow{File: "c.jpg", Kind: &kind, Tags: []string{"x"}})),
		"utf16": "\xff\xfep\x00a\x00t\x00h\x00\n\x00a\x00.\x00j\x00p\x00g\x00\n\x00",
	} {
		t.Run(format, func(t *testing.T) {
			list := filepath.Join(dir, format)
			mutation.Each(t, 300, func(_ int, rng *rand.Rand) error {
				damaged := mutation.Bytes(rng, []byte(file), [][]byte{[]byte(file)})
				_, _ = ReadListFrom(strings.NewReader(string(damaged)), list, root, ListOptions{})
				return nil // a panic fails the test, and so does the cost
			})
		})
	}
}
