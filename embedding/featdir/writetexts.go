package featdir

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/phrase"
)

// Write writes a folder of texts, which replaces one that is there. Anything else there is
// refused. The folder appears at once.
func (t Texts) Write(path string) error {
	if err := t.write(path); err != nil {
		return fmt.Errorf("write texts %s: %w", path, err)
	}
	return nil
}

func (t Texts) write(path string) error {
	if err := onlyTexts(path); err != nil {
		return err
	}
	_, _ = atomicfile.RemoveStale(filepath.Dir(path)) // leftovers only take up space
	dir, err := atomicfile.CreateDir(path, isTexts)
	if err != nil {
		return err
	}
	defer dir.Abort()
	table, err := t.table()
	if err != nil {
		return err
	}
	about, err := json.MarshalIndent(meta{metaFormat, t.Provenance}, "", "  ")
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		textsName: t.npy(), classesName: table, metaName: append(about, '\n'),
	} {
		if err := atomicfile.WriteFile(filepath.Join(dir.Path(), name), data); err != nil {
			return err
		}
	}
	if err := onlyTexts(path); err != nil { // it may have changed in the meantime
		return err
	}
	return dir.Commit()
}

func (t Texts) npy() []byte {
	data := formatNpyHeader(len(t.Rows), t.Provenance.Dim)
	for _, row := range t.Rows {
		for _, v := range row {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
	}
	return data
}

func (t Texts) table() ([]byte, error) {
	var table bytes.Buffer
	w := csv.NewWriter(&table)
	_ = w.Write([]string{"class", "text"}) // the error is in w.Error
	for i, class := range t.Classes {
		_ = w.Write([]string{class, t.Texts[i]})
	}
	w.Flush()
	return table.Bytes(), w.Error()
}

// isTexts reports whether something in a folder of texts is a file that this program writes.
func isTexts(place, _ string, e fs.DirEntry) bool {
	return e.Type().IsRegular() && slices.Contains([]string{textsName, classesName, metaName}, place)
}

// onlyTexts refuses a folder that is not one of texts.
func onlyTexts(path string) error {
	strange, err := strangers(path, isTexts)
	if err == nil && len(strange) > 0 {
		err = phrase.New("the folder has a file that is not of texts (%s); give another {out}", strange[0])
	}
	return err
}
